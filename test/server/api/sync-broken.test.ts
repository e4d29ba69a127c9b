import { gzipSync } from "node:zlib";
import iconv from "iconv-lite";
import { expect, test } from "vitest";
import { pamuk, practiceServer } from "../practice-software.ts";

// Broken bodies of practice software. Method: most of them begin with an animal that could be stored, and the
// export is the same after each.

const animals = [pamuk, { ...pamuk, external_id: "00418", name: "Şimşek" }];
/** Several lines, so that a fault has a place. */
const good = JSON.stringify({ source: "pims", mode: "partial", items: animals }, null, 2);
const name = '"Şimşek"';

const type = (value: string) => ({ "content-type": value });
const packed = (value: string) => ({ "content-encoding": value });

type Broken = readonly [what: string, body: string | Buffer, message: RegExp, headers?: Record<string, string>];

const broken: readonly Broken[] = [
  ["nothing", "", /not JSON: Unexpected end/],
  ["a blank", " ", /not JSON: Unexpected end/],
  ["half of it", good.slice(0, -40), /not JSON: .*line 3\d column \d+/],
  ["a word without quotes", good.replace(name, "Simsek"), /not JSON: Unexpected token 'S'/],
  [
    "a comma too many",
    good.replace(name, `${name},`),
    /not JSON: .*double-quoted property name.* \(line 2\d column \d+\)/,
  ],
  ["a comma too few", good.replace(`${name},`, name), /not JSON: Expected ',' or '}' .* \(line 2\d column \d+\)/],
  ["other quotes", good.replaceAll('"', "'"), /not JSON: Expected property name .* \(line 2 column 3\)/],
  ["a second body", `${good}\n${good}`, /not JSON: Unexpected non-whitespace character .* \(line \d+ column 1\)/],
  [
    "a name of two lines",
    good.replace(name, '"Şim\nşek"'),
    /not JSON: Bad control character .* \(line 2\d column \d+\)/,
  ],
  [
    "a path of Windows",
    good.replace(name, String.raw`"C:\pims"`),
    /not JSON: Bad escaped character .* \(line 2\d column/,
  ],
  ["no number", good.replace(name, "NaN"), /not JSON: Unexpected token 'N'/],
  ["a form", "source=pims&mode=partial", /not JSON: Unexpected token 's'/],
  ["XML", "<patients/>", /content type is not application\/json/, type("text/xml")],
  ["no content type", good, /content type is not application\/json/, type("")],
  ["a byte order mark", `\uFEFF${good}`, /begins with a byte order mark, expected JSON without one/],
  ["UTF-16", Buffer.from(`\uFEFF${good}`, "utf16le"), /not UTF-8/],
  ["Windows-1254", iconv.encode(good, "cp1254"), /not UTF-8/],
  [
    "Windows-1254 by its charset",
    iconv.encode(good, "cp1254"),
    /charset is windows-1254, expected utf-8/,
    type("application/json; charset=windows-1254"),
  ],
  ["half a gzip", gzipSync(good).subarray(0, 60), /not gzip, as its content-encoding says/, packed("gzip")],
  ["another packing", gzipSync(good), /content-encoding is br, expected gzip or none/, packed("br")],
  ["a name twice", good.replace('"mode"', '"source": "other",\n"mode"'), /has a name twice in one object: "source"/],
  ["a deep list", good.replace(name, "[".repeat(40) + "]".repeat(40)), /nests values more than 32 deep/],
  ["too many bytes", good.replace(name, `"${"x".repeat(6_000_000)}"`), /too large/i],
  ["a list", JSON.stringify(animals), /body is a list of 2, expected an object/],
  ["null", "null", /body is null, expected an object/],
  [
    "items by their ids",
    JSON.stringify({ source: "pims", mode: "partial", items: { "00417": pamuk } }),
    /items is an object, expected an array/,
  ],
];

test(`${broken.length} broken bodies each get a sentence with the place or the remedy, and nothing is stored`, async () => {
  const { server, key, exported } = await practiceServer();
  const before = await exported();
  for (const [what, payload, message, more = {}] of broken) {
    const headers = { "x-api-key": key, "content-type": "application/json", ...more };
    const response = await server.app.inject({ method: "POST", url: "/sync/v1/patients", headers, payload });
    const { error } = response.json<{ error: { code: string; message: string } }>();
    expect([what, error.message]).toEqual([what, expect.stringMatching(message)]);
    const status = what === "too many bytes" ? 413 : 400;
    expect([what, response.statusCode]).toEqual([what, status]);
    expect(error.code).toMatch(/^((REQUEST|SYNC)\.INVALID_BODY|REQUEST\.TOO_LARGE)$/);
    expect(error.message).not.toMatch(/Ada Örnek|555|Simsek|Şimşek/);
    expect([what, await exported()]).toEqual([what, before]);
  }
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const sent = await server.app.inject({ method: "POST", url: "/sync/v1/patients", headers, payload: good });
  expect(sent.json<{ counts: object }>().counts).toMatchObject({ created: 2 });
});
