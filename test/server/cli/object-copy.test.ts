import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { backupCommand } from "../../../server/cli/backup.ts";
import { exportCommand } from "../../../server/cli/export.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { S3_KEY, S3Server } from "../../support/s3-server.ts";
import { clinic, connection, patient, startServer, temporaryFolder } from "../harness.ts";

// Goal: the copy of an export or a backup in a bucket has the bytes of the file, or the command fails and the file stays.

async function startWithBucket() {
  const [ours, dog] = [newFp("clinic"), patient()];
  const { database: data } = await startServer(clinic(ours), dog, connection(dog.fp, ours));
  const store = new S3Server({ bucket: "copies" });
  const port = await store.start();
  onTestFinished(() => store.stop());
  const folder = temporaryFolder();
  const secretFile = path.join(folder, "secret");
  fs.writeFileSync(secretFile, S3_KEY.secret, { mode: 0o600 });
  const bucket = ["--objects", "s3://copies/nightly", "--objects-endpoint", `http://127.0.0.1:${port}`];
  const login = ["--objects-key", S3_KEY.accessKeyId, "--objects-secret-file", secretFile];
  const said = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => said.mockRestore());
  return { store, folder, options: ["--data", data, ...bucket, ...login] };
}

test("an export and a backup are copied to the bucket, byte for byte", async () => {
  const { store, folder, options } = await startWithBucket();
  for (const [command, name] of [
    [exportCommand, "all.ndjson"],
    [backupCommand, "server.backup"],
  ] as const) {
    const file = path.join(folder, name);
    await command.parseAsync([file, ...options], { from: "user" });
    expect(store.objects.get(`nightly/${name}`)?.bytes.equals(fs.readFileSync(file))).toBe(true);
  }
});

test("a copy that the store changed fails the command, and the file stays", async () => {
  const { store, folder, options } = await startWithBucket();
  store.fault = ({ operation }) => (operation === "PutObject" ? { do: "flip" } : null);
  const file = path.join(folder, "all.ndjson");
  await expect(exportCommand.parseAsync([file, ...options], { from: "user" })).rejects.toThrow("read back: expected");
  expect(fs.readFileSync(file, "utf8")).toContain('"type":"patient"');
});

test("an export to stdout has no copy, and says so before it writes", async () => {
  const { options } = await startWithBucket();
  await expect(exportCommand.parseAsync(options, { from: "user" })).rejects.toThrow("--objects needs the file");
});
