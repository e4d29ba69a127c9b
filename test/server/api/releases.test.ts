import { expect, test } from "vitest";
import { addRelease } from "../../../server/operations/release-folder.ts";
import { archiveName } from "../../../shared/api/upgrade.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { ReleaseKey } from "../../support/releases/signed-release.ts";
import { clinic, startServer, temporaryFolder } from "../harness.ts";

const release = { version: "0.2.0", platform: "linux-x64" };
const name = archiveName(release);
const bytes = Buffer.alloc(300_000, "0123456789");

async function start() {
  const ours = newFp("clinic");
  const server = await startServer(clinic(ours));
  const signer = new ReleaseKey();
  await addRelease(server.releaseFolder, signer.write(temporaryFolder(), release, bytes), signer.publicKey);
  const key = await server.makeFreshKey(ours, ["clinic.lab.ingest"], { name: "Lab PC", type: "device" });
  const get = (file: string, by: string | null = key, range?: string) =>
    server.app.inject({
      url: `/agent/v1/releases/${file}`,
      headers: { ...(by !== null && { "x-api-key": by }), ...(range !== undefined && { range }) },
    });
  return { ...server, ours, get };
}

test("an agent fetches an archive and its signature, also from the byte at which a download broke off", async () => {
  const { get } = await start();
  const whole = await get(name);
  expect([whole.statusCode, whole.headers["content-length"], whole.rawPayload.equals(bytes)]).toEqual([
    ...[200, String(bytes.length), true],
  ]);
  expect((await get(`${name}.minisig`)).body).toContain(`file:${name}`);
  const rest = await get(name, undefined, "bytes=100001-");
  expect([rest.statusCode, rest.headers["content-range"], rest.rawPayload.equals(bytes.subarray(100_001))]).toEqual([
    ...[206, "bytes 100001-299999/300000", true],
  ]);
  for (const range of ["bytes=300000-", "bytes=0-", "bytes=1-2", "bytes=-5", "lines=1-"]) {
    const answer = await get(name, undefined, range);
    expect([range, answer.statusCode, answer.rawPayload.length]).toEqual([range, 200, bytes.length]);
  }
});

test("nobody else fetches it, and no other file is there", async () => {
  const { get, makeFreshKey, ours } = await start();
  expect((await get(name, null)).statusCode).toBe(401);
  expect((await get(name, "vw_wrong")).statusCode).toBe(401);
  expect((await get(name, await makeFreshKey(ours, ["clinic.lab.view"]))).statusCode).toBe(403);
  for (const file of ["pepper", "..%2Fpepper", "%2e%2e%2fpepper", archiveName({ ...release, version: "0.3.0" })])
    expect([file, (await get(file)).statusCode]).toEqual([file, 404]);
});
