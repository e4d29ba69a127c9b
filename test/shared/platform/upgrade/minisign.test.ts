import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifyFile } from "../../../../shared/platform/upgrade/minisign.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { ReleaseKey } from "../../../support/releases/signed-release.ts";

// Signatures of minisign itself, and signatures that were changed.

const NAME = "vetwire-agent-0.2.0-linux-x64.tar.gz";
const KEY = new ReleaseKey();
const BYTES = Buffer.from("the archive");

let folder: string;
let file: string;
beforeAll(() => {
  folder = temporaryFolder();
  file = path.join(folder, NAME);
  fs.writeFileSync(file, BYTES);
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

function hasMinisign(): boolean {
  try {
    execFileSync("minisign", ["-v"], { stdio: "ignore" });
    return true;
  } catch {
    process.stderr.write("signatures of minisign itself are not verified: apt-get install minisign\n");
    return false;
  }
}

test.skipIf(!hasMinisign())(
  "a signature of minisign is accepted, and one under another name or in the old form is not",
  async () => {
    const [pub, sec] = [path.join(folder, "k.pub"), path.join(folder, "k.sec")];
    execFileSync("minisign", ["-G", "-f", "-W", "-p", pub, "-s", sec]);
    const publicKey = fs.readFileSync(pub, "utf8");
    const signed = (...options: readonly string[]) => {
      execFileSync("minisign", ["-S", "-s", sec, "-m", file, ...options], { stdio: "ignore" });
      return fs.readFileSync(`${file}.minisig`, "utf8");
    };
    await expect(verifyFile(file, NAME, signed(), publicKey)).resolves.toBeUndefined();
    await expect(
      verifyFile(file, NAME, signed("-t", `file:${NAME} of the release`), publicKey),
    ).resolves.toBeUndefined();
    await expect(verifyFile(file, NAME, signed("-t", "file:another.tar.gz"), publicKey)).rejects.toThrow(
      `the signature of ${NAME} is for another file: its trusted comment lacks file:${NAME}`,
    );
    await expect(verifyFile(file, NAME, signed("-l"), publicKey)).rejects.toThrow("with the algorithm ED");
  },
);

test("a signature of another key is refused with both names", async () => {
  const signature = new ReleaseKey().sign(BYTES, NAME);
  await expect(verifyFile(file, NAME, signature, KEY.publicKey)).rejects.toThrow(
    /is signed with the key [0-9A-F]{16}, expected [0-9A-F]{16}/,
  );
});

test("an older release under a new name is refused, though its owner signed it", async () => {
  const signature = KEY.sign(BYTES, "vetwire-agent-0.1.0-linux-x64.tar.gz");
  await expect(verifyFile(file, NAME, signature, KEY.publicKey)).rejects.toThrow("is for another file");
});

test("a changed file, a changed comment and a damaged key are refused with what to do", async () => {
  const signature = KEY.sign(BYTES, NAME);
  await expect(verifyFile(file, NAME, signature, KEY.publicKey)).resolves.toBeUndefined();
  const other = path.join(folder, "other");
  fs.writeFileSync(other, "the archive.");
  await expect(verifyFile(other, NAME, signature, KEY.publicKey)).rejects.toThrow("does not match its signature");
  const forged = signature.replace("timestamp:1", "timestamp:2");
  await expect(verifyFile(file, NAME, forged, KEY.publicKey)).rejects.toThrow("the trusted comment");
  await expect(verifyFile(file, NAME, signature, "nonsense")).rejects.toThrow(
    "the release key of this program is damaged",
  );
});

test("no signature with one changed bit is accepted", async () => {
  const signature = KEY.sign(BYTES, NAME);
  const [untrusted = "", first = "", comment = "", last = ""] = signature.split("\n");
  const ends = { first: Buffer.from(first, "base64"), last: Buffer.from(last, "base64") };
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("first", "last"), fc.nat(), async (which, bit) => {
      const changed = { first: Buffer.from(ends.first), last: Buffer.from(ends.last) };
      const bytes = changed[which];
      const at = bit % (bytes.length * 8);
      bytes[at >> 3]! ^= 1 << (at & 7);
      const text = [untrusted, changed.first.toString("base64"), comment, changed.last.toString("base64")].join("\n");
      await expect(verifyFile(file, NAME, text, KEY.publicKey)).rejects.toThrow(Error);
    }),
    { numRuns: 300 },
  );
});

test("any text in place of a signature or a key is refused with a sentence", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 400, unit: "binary" }), fc.boolean(), async (text, isKey) => {
      const [signature, key] = isKey ? [KEY.sign(BYTES, NAME), text] : [text, KEY.publicKey];
      await expect(verifyFile(file, NAME, signature, key)).rejects.toThrow(/signature|key/);
    }),
    { numRuns: 300 },
  );
});
