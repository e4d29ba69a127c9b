import { expect, test } from "vitest";
import { ACK } from "../../../../agent/protocols/bytes.ts";
import { FileLink } from "../../../../agent/protocols/file/file-link.ts";
import { fileHeader, fileKey, readFileMessage } from "../../../../agent/protocols/file/file-message.ts";

// A file of a watched folder as bytes of a wire.

const NAME = 'hasta\n"listesi" ş.csv';

const wire = (content: string, name = NAME) =>
  Buffer.concat([fileHeader({ name, bytes: Buffer.byteLength(content) }), Buffer.from(content)]);

const kinds = (link: FileLink, ...chunks: Uint8Array[]) =>
  chunks.flatMap((chunk) => link.receive(chunk).map((action) => action.do));

test.each([1, 2, 7, 1000])("a file in parts of %s bytes is acknowledged and delivered once, whole", (size) => {
  const bytes = wire("Id;Ad\n1;Şans\n");
  const link = new FileLink(100);
  const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  const actions = parts.flatMap((part) => link.receive(part));
  expect(actions).toEqual([
    { do: "reply", bytes: Uint8Array.of(ACK) },
    { do: "deliver", message: bytes, incomplete: null },
  ]);
  expect(readFileMessage(bytes)).toEqual({ name: NAME, bytes: Buffer.from("Id;Ad\n1;Şans\n") });
  expect([link.isIdle, link.heldBytes]).toEqual([true, 0]);
});

test("a file that is cut short, or lacks bytes that could not be stored, is neither acknowledged nor delivered", () => {
  const bytes = wire("Id;Ad\n1;Şans\n");
  const cut = new FileLink(100);
  expect([...kinds(cut, bytes.subarray(0, -1)), ...cut.close().map((action) => action.do)]).toEqual([]);
  expect(cut.isIdle).toBe(true);
  const lacking = new FileLink(100);
  lacking.receive(bytes.subarray(0, 50));
  expect(lacking.refuse().map((action) => action.do)).toEqual(["warn", "close"]);
  expect(kinds(lacking, bytes)).toEqual(["reply", "deliver"]);
});

test.each([
  ["more bytes than its line has", Buffer.concat([wire("ab"), Buffer.from("c")])],
  ["more bytes than are allowed", wire("x".repeat(101))],
  ["another line", Buffer.from("Id;Name\n1;Pamuk\n")],
  ["a line without an end", Buffer.alloc(5000, "F")],
])("bytes with %s are not a file", (_name, bytes) => {
  const link = new FileLink(100);
  expect(kinds(link, bytes)).toEqual(["warn", "close"]);
  expect(link.isIdle).toBe(true);
});

test("a file is the same by its name and its content", () => {
  expect(fileKey(wire("a"))).toBe(fileKey(wire("a")));
  expect(fileKey(wire("a"))).not.toBe(fileKey(wire("b")));
  expect(fileKey(wire("a"))).not.toBe(fileKey(wire("a", "other.csv")));
});
