import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buckets } from "../../../../agent/doctor/machine/buckets.ts";
import { readFacts } from "../../../../agent/doctor/check/check.ts";
import { freePort, temporaryFolder } from "../../../support/machine/processes.ts";
import { S3_KEY, type S3Options, S3Server } from "../../../support/peers/s3-server.ts";

let folder: string;
let server: S3Server;
let port: number;

beforeEach(() => {
  folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  fs.writeFileSync(path.join(folder, "s3.secret"), `${S3_KEY.secret}\n`, { mode: 0o600 });
});

afterEach(async () => {
  await server.stop();
  fs.rmSync(folder, { recursive: true });
});

async function serve(options: S3Options = {}): Promise<void> {
  server = new S3Server(options);
  port = await server.start();
}

/** Runs the check with a destination. @returns its findings in short */
async function check(changes: object = {}, isOffline = false): Promise<string[]> {
  const s3 = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: "images",
    accessKeyId: S3_KEY.accessKeyId,
    secretFile: "s3.secret",
    ...changes,
  };
  const config = {
    server: { url: "http://127.0.0.1:1", keyFile: "agent.key" },
    data: "data",
    timeZone: "UTC",
    devices: [],
    destinations: [{ id: "vault", s3 }],
  };
  const configFile = path.join(folder, "agent.yaml");
  fs.writeFileSync(configFile, JSON.stringify(config));
  const found = await buckets.run(readFacts({ configFile, isOffline }));
  expect(JSON.stringify(found)).not.toContain(S3_KEY.secret);
  return found.map(({ id, status, sentence }) => `${status} ${id}: ${sentence}`);
}

test("a bucket that takes uploads is right, and keeps nothing of the check", async () => {
  await serve();
  expect(await check()).toEqual(["ok bucket.writable: vault: the bucket images takes images"]);
  expect([server.objects.size, server.uploads.size]).toEqual([0, 0]);
  expect(await check({}, true)).toEqual(["skipped bucket.offline: not asked, because of --offline"]);
});

test.each([
  ["a missing bucket", { bucket: "other" }, "problem bucket.missing: vault: the store responded with 404 NoSuchBucket"],
  [
    "an unknown key",
    { accessKeyId: "AKOTHER" },
    "problem bucket.key: vault: the store responded with 403 InvalidAccessKeyId",
  ],
  [
    "another region",
    { region: "eu-1" },
    "problem bucket.region: vault: the store responded with 400 AuthorizationHeaderMalformed",
  ],
])("%s is a problem with its own remedy", async (_, changes, start) => {
  await serve();
  expect(await check(changes)).toEqual([expect.stringMatching(`^${start}`)]);
});

test("a wrong clock, a missing right and a store that is away are distinguished", async () => {
  await serve({ now: () => Date.now() + 3_600_000 });
  expect(await check()).toEqual([expect.stringMatching(/^problem bucket.clock: .*RequestTimeTooSkewed/)]);
  await server.stop();
  await serve();
  server.fault = () => ({ do: "refuse", status: 403, code: "AccessDenied" });
  expect(await check()).toEqual([expect.stringMatching(/^problem bucket.denied: .*AccessDenied/)]);
  server.fault = () => ({ do: "refuse", status: 500, code: "InternalError" });
  expect(await check()).toEqual([expect.stringMatching(/^warning bucket.fails: .*InternalError/)]);
  expect(await check({ endpoint: `http://127.0.0.1:${await freePort()}` })).toEqual([
    expect.stringMatching(/^warning bucket.unreachable: .*ECONNREFUSED/),
  ]);
});
