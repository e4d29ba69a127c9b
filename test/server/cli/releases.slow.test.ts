import { execFile, spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { archiveName, LATEST } from "../../../shared/api/upgrade.ts";
import { createKey } from "../../../server/http/auth/api-keys.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import { openStore } from "../../../server/database/open.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { freePort, SERVER, start, until } from "../../support/machine/processes.ts";
import { StaticHost } from "../../support/peers/static-host.ts";
import { ReleaseKey } from "../../support/releases/signed-release.ts";
import { clinic, importEntities, temporaryFolder } from "../harness.ts";

// Method: the commands run as real processes, from the build, while a server runs from which an agent fetches.

const signer = new ReleaseKey();
const release = { version: "0.2.0", platform: "linux-x64" };
const name = archiveName(release);

function releases(...command: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SERVER, "releases", ...command], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("releases are added, listed, fetched from the running server and removed", async () => {
  const [data, from] = [temporaryFolder(), temporaryFolder()];
  const store = await openStore(data);
  const fp = newFp("clinic");
  await importEntities(store, clinic(fp));
  const clinicId = (await findClinic(store, fp))?.id ?? 0;
  const key = await createKey(store, loadPepper(data, false), {
    ...{ clinicId, name: "Lab PC", type: "device", permissions: ["clinic.lab.ingest"] },
    ...{ now: Date.now(), expiresAt: null },
  });
  await store.close();
  const publicKey = path.join(from, "release.pub");
  fs.writeFileSync(publicKey, signer.publicKey);
  const bytes = Buffer.alloc(1_000_000, "abc");
  const file = signer.write(from, release, bytes);

  const keyless = releases("add", file, "--data", data);
  expect([keyless.status, keyless.stderr]).toEqual([1, expect.stringContaining("name the file with the key")]);
  const port = await freePort();
  const server = start(SERVER, ["run", "--port", String(port), "--data", data]);
  try {
    const get = () => fetch(`http://127.0.0.1:${port}/agent/v1/releases/${name}`, { headers: { "x-api-key": key } });
    const status = () => get().then((answer) => answer.status);
    await until("the server runs", () => status().catch(() => null));
    expect(await status()).toBe(404);
    expect(releases("add", file, "--public-key", publicKey, "--data", data).status).toBe(0);
    expect(releases("list", "--data", data).stdout).toBe(`0.2.0  linux-x64  ${name}\n`);
    expect(JSON.parse(releases("list", "--json", "--data", data).stdout)).toEqual([release]);
    const fetched = await get();
    expect(Buffer.from(await fetched.arrayBuffer()).equals(bytes)).toBe(true);
    fs.appendFileSync(file, "x");
    const bent = releases("add", file, "--public-key", publicKey, "--data", data);
    expect([bent.status, bent.stderr]).toEqual([1, expect.stringContaining("does not match its signature")]);
    expect(releases("remove", "0.2.0", "--data", data).stdout).toBe(`${name} is removed\n`);
    expect(await status()).toBe(404);
    expect(releases("remove", "0.2.0", "--data", data)).toMatchObject({ status: 1 });
  } finally {
    await server.end();
  }
});

/** A static host with the release, and the words that fetch it into a data folder. */
async function world() {
  const [data, from] = [temporaryFolder(), temporaryFolder()];
  await (await openStore(data)).close();
  const host = await StaticHost.start(from);
  onTestFinished(() => host.end());
  const publicKey = path.join(from, "release.pub");
  fs.writeFileSync(publicKey, signer.publicKey);
  const bytes = fs.readFileSync(signer.write(from, release));
  const sha256 = crypto.createHash("sha256").update(bytes).digest("hex");
  const file = { name, kind: "archive", program: "agent", platform: "linux-x64", size: bytes.length, sha256, url: "" };
  const publish = (version: string) => {
    const latest = Buffer.from(JSON.stringify({ version, released_on: "2026-12-01", files: [file] }));
    fs.writeFileSync(path.join(from, LATEST), latest);
    fs.writeFileSync(path.join(from, `${LATEST}.minisig`), signer.sign(latest, LATEST));
  };
  publish("0.2.0");
  // The host is in this process, so the command may not block it.
  const run = async (...words: string[]) => {
    const command = [SERVER, "releases", "fetch", ...words, "--public-key", publicKey, "--data", data];
    return promisify(execFile)(process.execPath, command).catch((error: unknown) => error as { stderr: string });
  };
  return { data, from, host, publicKey, publish, run, url: `${host.url}/${LATEST}` };
}

test.skipIf(process.geteuid?.() !== 0)(
  "root fetches for the user of the service, who can fetch after it, and gives up its rights meanwhile",
  async () => {
    const { data, from, publicKey, run, url } = await world();
    const service = 64_999;
    for (const place of ["", ...fs.readdirSync(data)]) fs.lchownSync(path.join(data, place), service, service);
    // As systemd keeps it (DynamicUser): no other user reaches the folder by its complete path.
    const kept = path.join(temporaryFolder(), "data");
    fs.renameSync(data, kept);
    fs.symlinkSync(kept, data);
    const folder = path.join(data, "releases");
    // An earlier version of the command left the folder to root.
    fs.mkdirSync(folder);
    const shadow = path.join(from, "shadow");
    fs.writeFileSync(shadow, "kept", { mode: 0o600 });
    fs.symlinkSync(shadow, path.join(folder, "lock.db"));
    expect(await run("--from", url)).toMatchObject({ code: 1, stderr: expect.stringContaining("lock.db") });
    expect(fs.readFileSync(shadow, "utf8")).toBe("kept");
    fs.rmSync(path.join(folder, "lock.db"));
    expect(await run("--from", url)).toMatchObject({ stdout: expect.stringContaining(`${name} can be installed`) });
    const owners = () => ["", ...fs.readdirSync(folder)].map((each) => fs.statSync(path.join(folder, each)).uid);
    expect([...new Set(owners())]).toEqual([service]);
    fs.rmSync(folder, { recursive: true });
    // The server only reads what root adds.
    expect(releases("add", path.join(from, name), "--public-key", publicKey, "--data", data).status).toBe(0);
    expect([folder, path.join(folder, "lock.db")].map((each) => fs.statSync(each).uid)).toEqual([service, service]);
  },
);

test("a release is fetched from a static host, and a refusal has its code and what to do", async () => {
  const { publish, run, url } = await world();
  expect(await run("--from", url)).toMatchObject({ stdout: expect.stringContaining(`${name} can be installed`) });
  expect(await run("--from", url)).toMatchObject({ stdout: "0.2.0 is the newest release, and it is here\n" });
  publish("0.1.9");
  expect(await run("--from", url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("OLDER; 0.1.9, and 0.2.0 is here): copy the newest release to the host"),
  });
  expect(await run("--from", "ftp://downloads.example")).toMatchObject({
    stderr: expect.stringContaining("expected an address such as https://"),
  });
});
