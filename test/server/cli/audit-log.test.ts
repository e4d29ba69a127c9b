import { expect, test } from "vitest";
import { auditLines } from "../../../server/cli/audit-log.ts";
import type { AuditDescription } from "../../../server/store/audit.ts";

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

test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\u{ff1d}1"])(
  "%j gets an apostrophe, so that it is no formula",
  async (text) => {
    expect(await addressCell(text)).toBe(`'${text}`);
  },
);

test("a cell with a leading carriage return gets an apostrophe and quotes", async () => {
  expect(await addressCell("\r=1")).toBe(`"'\r=1"`);
});

test.each([
  ["::1", "::1"],
  ["a=1", "a=1"],
  ["a,b", '"a,b"'],
  ['a"b', '"a""b"'],
  ["a\nb", '"a\nb"'],
])("the address %j becomes the cell %s", async (text, cell) => {
  expect(await addressCell(text)).toBe(cell);
});

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}
