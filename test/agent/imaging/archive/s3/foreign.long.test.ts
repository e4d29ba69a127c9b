import { execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { type ObjectSource, ObjectStore, PART_BYTES } from "../../../../../agent/imaging/archive/s3/object-store.ts";
import { errorMessage } from "../../../../../shared/runtime/error-message.ts";
import { freePort, temporaryFolder, until } from "../../../../support/machine/processes.ts";

// Method: the client of the archive stores objects at s3rver, a foreign store. It reads the header of a signature
// and its key, and does not compute version 4. The package and its tree (14 MB) stay outside of the lock file.

const PACKAGE = "s3rver@3.7.1";
/** The only account of s3rver. */
const KEY = "S3RVER";

const folder = temporaryFolder();
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** @returns why the store cannot be installed; null once it is */
function install(): string | null {
  try {
    const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder];
    execFileSync("npm", ["install", ...options, PACKAGE], { cwd: folder, stdio: "ignore", timeout: 120_000 });
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

const problem = install();
if (problem !== null) process.stderr.write(`the test against ${PACKAGE} does not run: ${problem}\n`);

async function startStore() {
  const port = await freePort();
  const data = path.join(folder, String(port));
  const command = path.join(folder, "node_modules/s3rver/bin/s3rver.js");
  const options = [
    "--directory",
    data,
    "--port",
    String(port),
    "--address",
    "127.0.0.1",
    "--configure-bucket",
    "images",
  ];
  const child = spawn(process.execPath, [command, ...options], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const endpoint = `http://127.0.0.1:${port}`;
  await until("the store responds", async () => {
    if (child.exitCode !== null) throw new Error(`the store ended with ${child.exitCode}`);
    return fetch(endpoint).then(
      () => true,
      () => false,
    );
  });
  const target = {
    ...{ endpoint, bucket: "images", region: "us-east-1", prefix: "clinic/a b", accessKeyId: KEY },
    ...{ secretFile: "", encryption: null, pathStyle: true, ca: null },
  };
  return {
    store: (accessKeyId = KEY) => new ObjectStore({ ...target, accessKeyId }, { secret: () => KEY }),
    /** The bytes of an object in the folder of the store. */
    bytesOf: (name: string) => fs.readFileSync(path.join(data, "images", "clinic/a b", `${name}._S3rver_object`)),
  };
}

function sourceOf(bytes: Buffer): ObjectSource {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { size: bytes.length, sha256, read: async (start, end) => bytes.subarray(start, end) };
}

describe.skipIf(problem !== null)("s3rver", () => {
  test("keeps the bytes of small and large objects, which a second call finds and does not send again", async () => {
    const { store, bytesOf } = await startStore();
    const objects = { "1/a.dcm": Buffer.from("a picture"), "2/Bild ü.dcm": randomBytes(2 * PART_BYTES + 1000) };
    for (const [name, bytes] of Object.entries(objects)) {
      await store().store(name, "application/dicom", sourceOf(bytes));
      expect(bytesOf(name).equals(bytes)).toBe(true);
      await store().store(name, "application/dicom", {
        ...sourceOf(bytes),
        read: () => Promise.reject(new Error("the object is sent again")),
      });
    }
  });

  test("refuses an unknown key, which the archive reports", async () => {
    const { store } = await startStore();
    const stored = store("another").store("a", "application/dicom", sourceOf(Buffer.from("a")));
    await expect(stored).rejects.toThrow(/403 InvalidAccessKeyId/);
  });
});
