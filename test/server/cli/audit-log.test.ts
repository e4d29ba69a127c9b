import { expect, test } from "vitest";
import { auditLines } from "../../../server/cli/audit-log.ts";
import type { AuditDescription } from "../../../server/records/audit/audit.ts";

const row: AuditDescription = {
  at: "2026-11-21T12:00:00.000Z",
  clinic_fp: null,
  key: null,
  method: "GET",
  route: "/a",
  fp: null,
  count: 20,
  status: 200,
  address: "192.0.2.7",
  request_id: "01A",
  times: 1,
  user: null,
};

/** Returns the address cell of the CSV. */
async function addressCell(address: string): Promise<string> {
  async function* rows(): AsyncGenerator<AuditDescription> {
    yield { ...row, address };
  }
  const [, line = ""] = await collect(auditLines(rows(), "csv"));
  const [before, after] = ["2026-11-21T12:00:00.000Z,,,GET,/a,,20,200,", ",01A,1,\r\n"];
  expect(line).toMatch(new RegExp(`^${before}[^]*${after}$`));
  return line.slice(before.length, -after.length);
}

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\u{ff1d}1"])(
  "%j gets an apostrophe, so that it is not a formula",
  async (text) => {
    expect(await addressCell(text)).toBe(`'${text}`);
  },
);

test.each([
  ["::1", "::1"],
  ["a=1", "a=1"],
  ["a,b", '"a,b"'],
  ['a"b', '"a""b"'],
  ["a\nb", "a\\u000ab"],
])("the address %j becomes the cell %s", async (text, cell) => {
  expect(await addressCell(text)).toBe(cell);
});

/** Names as a user, a device or a caller may write them: a command of a terminal, a second line, and a reversed end. */
const HOSTILE = "x\u001b[2J\u009b31m\u007f\r\nGET /b\u202egpj.exe\u2028";
const ESCAPED = "x\\u001b[2J\\u009b31m\\u007f\\u000d\\u000aGET /b\\u202egpj.exe\\u2028";

test.each([
  ["text", ESCAPED, 1],
  ["csv", ESCAPED, 2],
  // JSON has shorter escapes of its own for CR and LF.
  ["json", ESCAPED.replace("\\u000d\\u000a", "\\r\\n"), 1],
] as const)("an entry with control characters is one line of escapes in %s", async (format, shown, lineCount) => {
  async function* rows(): AsyncGenerator<AuditDescription> {
    yield { ...row, route: HOSTILE, fp: HOSTILE, user: HOSTILE, address: HOSTILE, request_id: HOSTILE };
  }
  const lines = await collect(auditLines(rows(), format));
  const entry = lines.at(-1) ?? "";
  expect(lines.length).toBe(lineCount);
  expect(entry.split(/\r?\n/)).toEqual([expect.stringContaining(shown), ""]);
  expect(entry.trimEnd()).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028]/u);
});

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}
