import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type ObjectOptions, objectStoreOf } from "../../../server/cli/object-options.ts";
import { temporaryFolder } from "../harness.ts";

function options(changes: ObjectOptions = {}): ObjectOptions {
  const file = path.join(temporaryFolder(), "secret");
  fs.writeFileSync(file, "not-a-real-secret\n", { mode: 0o600 });
  return {
    objects: "s3://copies/vetwire",
    objectsEndpoint: "https://s3.example",
    objectsKey: "AK",
    objectsSecretFile: file,
    ...changes,
  };
}

test("Options with a bucket, a store, a key and a secret make a store, and none make none", () => {
  expect(objectStoreOf(options())).not.toBeNull();
  expect(objectStoreOf(options({ objects: "s3://copies" }))).not.toBeNull();
  expect(objectStoreOf({})).toBeNull();
});

test.each<[ObjectOptions, string]>([
  [{ objects: "copies" }, "--objects is copies, expected such as s3://bucket/prefix"],
  [{ objects: "s3://copies/../x" }, "--objects is s3://copies/../x, expected such as s3://bucket/prefix"],
  [
    { objectsEndpoint: "https://s3.example/x" },
    "--objects-endpoint goes on behind the host, expected https://s3.example",
  ],
])("Options %j are refused", (changes, message) => {
  expect(() => objectStoreOf(options(changes))).toThrow(message);
});

test("Options without the bucket, or without its key, are refused", () => {
  const { objects, objectsKey, ...rest } = options();
  expect(() => objectStoreOf({ ...rest })).toThrow("--objects-... need --objects with the bucket");
  expect(() => objectStoreOf({ ...rest, objects: objects! })).toThrow(
    "--objects needs --objects-endpoint, --objects-key",
  );
  expect(objectsKey).toBe("AK");
});

test.skipIf(process.platform === "win32")("A secret that other users can read is refused", () => {
  const made = options();
  fs.chmodSync(made.objectsSecretFile!, 0o644);
  expect(() => objectStoreOf(made)).toThrow("other users can read");
});
