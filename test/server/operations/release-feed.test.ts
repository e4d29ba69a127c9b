import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { FeedRefusal } from "../../../server/operations/release-download.ts";
import { type Feed, fetchReleases } from "../../../server/operations/release-feed.ts";
import { listReleases } from "../../../server/operations/release-folder.ts";
import { ReleaseWatch } from "../../../server/operations/release-watch.ts";
import { archiveName, LATEST, type LatestRelease, type Release } from "../../../shared/api/upgrade.ts";
import { listLatest } from "../../../shared/platform/release/latest.ts";
import { canMount, mountDisk, unmountDisk } from "../../support/machine/small-disk.ts";
import { ReleaseKey } from "../../support/releases/signed-release.ts";
import { StaticHost } from "../../support/peers/static-host.ts";
import { temporaryFolder } from "../harness.ts";

// Method: a static host on this machine has a signed release, as `npm run release` makes it. The test changes what the host has.

const signer = new ReleaseKey();
const linux = { version: "0.2.0", platform: "linux-x64" };
const windows = { version: "0.2.0", platform: "win-x64" };
const BYTES = crypto.randomBytes(400_000);

let host: StaticHost;
let [served, folder] = ["", ""];

beforeEach(async () => {
  [served, folder] = [temporaryFolder(), path.join(temporaryFolder(), "releases")];
  host = await StaticHost.start(served);
  publish([linux, windows]);
});

afterEach(() => host.end());

function fileOf(release: Release, change: Partial<LatestRelease["files"][number]> = {}) {
  const name = archiveName(release);
  const sha256 = crypto.createHash("sha256").update(BYTES).digest("hex");
  const kind = { kind: "archive", program: "agent", platform: release.platform };
  return { name, ...kind, size: BYTES.length, sha256, url: `https://elsewhere.example/${name}`, ...change };
}

/** Writes a release as its owner signs it. */
function publish(releases: readonly Release[], files: object[] = releases.map((release) => fileOf(release))): void {
  for (const release of releases) signer.write(served, release, BYTES);
  sign({ version: releases[0]?.version, released_on: "2026-12-01", files });
}

function sign(latest: object, key = signer): void {
  const text = JSON.stringify(latest);
  fs.writeFileSync(path.join(served, LATEST), text);
  fs.writeFileSync(path.join(served, `${LATEST}.minisig`), key.sign(Buffer.from(text), LATEST));
}

const feed = (change: Partial<Feed> = {}): Feed => ({
  ...{ from: new URL(`${host.url}/${LATEST}`), folder, publicKey: signer.publicKey, version: "0.1.0" },
  ...{ platforms: null, ...change },
});
const fetched = (change: Partial<Feed> = {}) => fetchReleases(feed(change), new AbortController().signal);
const refusal = (change: Partial<Feed> = {}) =>
  fetched(change).then(
    () => "fetched",
    (error: unknown) => (error instanceof FeedRefusal ? `${error.code} ${error.file}` : error),
  );
// The lock is a file that stays.
const stored = () =>
  fs
    .readdirSync(folder)
    .filter((name) => name !== "lock.db")
    .toSorted();
const at = (name: string) => path.join(served, name);

describe("the feed of releases", () => {
  test("brings each archive with its signature once", async () => {
    expect(await fetched()).toEqual({ version: "0.2.0", added: [linux, windows] });
    expect(stored()).toEqual([linux, windows].flatMap((one) => [archiveName(one), `${archiveName(one)}.minisig`]));
    expect(fs.readFileSync(path.join(folder, archiveName(linux))).equals(BYTES)).toBe(true);
    host.requests.length = 0;
    expect(await fetched()).toEqual({ version: "0.2.0", added: [] });
    expect(host.requests).toEqual(["/latest.json", "/latest.json.minisig"]);
  });

  test("reads the list that npm run release makes, from a mirror with another address than the list's", async () => {
    fs.writeFileSync(at("vetwire-server_0.2.0_amd64.deb"), "not of an agent");
    const { version, files, released_on } = listLatest(served, "0.2.0", "2026-12-01", "https://elsewhere.example");
    sign({ version, released_on, files });
    expect(await fetched()).toEqual({ version: "0.2.0", added: [linux, windows] });
    expect(host.requests.filter((name) => name.includes("server"))).toEqual([]);
  });

  test("brings the wanted platforms alone, and names one that the release lacks", async () => {
    expect(await fetched({ platforms: ["win-x64"] })).toEqual({ version: "0.2.0", added: [windows] });
    expect(await refusal({ platforms: ["win-x64", "linux-arm64"] })).toBe("PLATFORM latest.json");
    publish([linux], [fileOf(linux, { platform: "win-x64" })]);
    expect(await refusal()).toBe(`PLATFORM ${archiveName(linux)}`);
    expect(listReleases(folder)).toEqual([windows]);
  });

  test("refuses a list or an archive that the owner did not sign", async () => {
    fs.appendFileSync(at(LATEST), " ");
    expect(await refusal()).toBe("SIGNATURE latest.json");
    sign({ version: "9.0.0", released_on: "2026-12-01", files: [] }, new ReleaseKey());
    expect(await refusal()).toBe("SIGNATURE latest.json");
    // The signature of another file of the owner does not do.
    fs.copyFileSync(at(`${archiveName(linux)}.minisig`), at(`${LATEST}.minisig`));
    expect(await refusal()).toBe("SIGNATURE latest.json");
    publish([linux]);
    expect(await refusal({ publicKey: new ReleaseKey().publicKey })).toBe("SIGNATURE latest.json");
    const other = new ReleaseKey().sign(BYTES, archiveName(linux));
    fs.writeFileSync(at(`${archiveName(linux)}.minisig`), other);
    expect(await refusal()).toBe(`SIGNATURE ${archiveName(linux)}`);
    expect(stored()).toEqual([]);
  });

  test("refuses an archive of other bytes, and one that is cut off or too long", async () => {
    const archive = at(archiveName(linux));
    fs.writeFileSync(archive, crypto.randomBytes(BYTES.length));
    expect(await refusal()).toBe(`TAMPERED ${archiveName(linux)}`);
    fs.writeFileSync(archive, BYTES.subarray(0, 1_000));
    expect(await refusal()).toBe(`TRUNCATED ${archiveName(linux)}`);
    host.ranges = false;
    expect(await refusal()).toBe(`TRUNCATED ${archiveName(linux)}`);
    fs.writeFileSync(archive, Buffer.concat([BYTES, Buffer.from("x")]));
    expect(await refusal()).toBe(`TOO_LARGE ${archiveName(linux)}`);
    publish([linux], [fileOf(linux, { size: 500 * 1024 ** 2 + 1 })]);
    expect(await refusal()).toBe(`TOO_LARGE ${archiveName(linux)}`);
    fs.writeFileSync(at(LATEST), Buffer.alloc(300_000));
    expect(await refusal()).toBe("TOO_LARGE latest.json");
    expect(stored()).toEqual([]);
  });

  test("refuses a signed release that is older than this program or than one that is here", async () => {
    expect(await refusal({ version: "0.3.0" })).toBe("OLDER latest.json");
    publish([{ version: "0.3.0", platform: "linux-x64" }]);
    expect(await refusal()).toBe("fetched");
    publish([linux]);
    expect(await refusal()).toBe("OLDER latest.json");
    expect(listReleases(folder)).toEqual([{ version: "0.3.0", platform: "linux-x64" }]);
  });

  test("refuses a list of another form, and a name that leads out of the folder", async () => {
    sign({ version: "0.2.0-rc.1", released_on: "2026-12-01", files: [] });
    expect(await refusal()).toBe("UNREADABLE latest.json");
    sign({ version: "0.2.0", released_on: "2026-12-01", files: [fileOf(linux, { name: "../vetwire.db" })] });
    expect(await refusal()).toBe("UNREADABLE latest.json");
    // Fields that a later version adds are ignored.
    sign({ version: "0.2.0", released_on: "2026-12-01", files: [{ ...fileOf(linux), later: 1 }], later: true });
    expect(await refusal()).toBe("fetched");
  });

  test("continues a connection that breaks off, with a host that knows ranges and one that does not", async () => {
    publish([linux]);
    host.cutAfter = 150_000;
    expect(await fetched()).toEqual({ version: "0.2.0", added: [linux] });
    const archive = host.requests.filter((name) => name.startsWith(`/${archiveName(linux)}`) && !name.endsWith("g"));
    expect(archive.length).toBeGreaterThan(1);
    expect(archive.slice(1).every((name) => name.includes(" from "))).toBe(true);
    expect(fs.readFileSync(path.join(folder, archiveName(linux))).equals(BYTES)).toBe(true);
    fs.rmSync(folder, { recursive: true });
    host.ranges = false;
    expect(await refusal()).toBe(`TRUNCATED ${archiveName(linux)}`);
    host.cutAfter = null;
    expect(await fetched()).toEqual({ version: "0.2.0", added: [linux] });
  });

  test("starts again after a process that was killed, and follows no link in the place of its drafts", async () => {
    fs.mkdirSync(path.join(folder, "fetch"), { recursive: true });
    fs.writeFileSync(path.join(folder, "fetch", archiveName(linux)), "half");
    expect((await fetched()).added).toEqual([linux, windows]);
    const other = temporaryFolder();
    fs.writeFileSync(path.join(other, "kept"), "");
    fs.symlinkSync(other, path.join(folder, "fetch"));
    expect((await fetched()).added).toEqual([]);
    expect(fs.readdirSync(other)).toEqual(["kept"]);
  });

  test("refuses a second process meanwhile, and the first one is not disturbed", async () => {
    const [first, second] = await Promise.allSettled([fetched(), fetched()]);
    expect(first).toMatchObject({ value: { added: [linux, windows] } });
    expect(second).toMatchObject({
      reason: { code: "NOT_STORED", detail: expect.stringContaining("wait for its end") },
    });
    expect(await fetched()).toMatchObject({ added: [] });
  });

  test("names a full disk, and keeps nothing of the release there", async (context) => {
    if (!canMount()) context.skip("this machine cannot mount a tmpfs");
    const disk = temporaryFolder();
    mountDisk(disk, 1);
    onTestFinished(() => unmountDisk(disk));
    folder = disk;
    fs.writeFileSync(path.join(disk, "filler"), Buffer.alloc(700_000));
    expect(await refusal()).toBe(`NOT_STORED ${archiveName(linux)}`);
    expect(stored()).toEqual(["filler"]);
    expect(
      host.requests.filter((name) => name.startsWith(`/${archiveName(linux)}`) && !name.endsWith("g")).length,
    ).toBe(1);
  });

  test("names a file that the host lacks, and a host that is not there", async () => {
    fs.rmSync(at(`${archiveName(linux)}.minisig`));
    expect(await refusal()).toBe(`MISSING ${archiveName(linux)}.minisig`);
    const gone = await StaticHost.start(served);
    const from = new URL(`${gone.url}/${LATEST}`);
    await gone.end();
    expect(await refusal({ from })).toBe("UNREACHABLE latest.json");
    expect(stored()).toEqual([]);
  });
});

test("the daily look logs a release that it fetched, or the code of a refusal, and never rejects", async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  const watch = new ReleaseWatch(feed(), logger);
  await watch.check();
  await watch.check();
  fs.appendFileSync(at(LATEST), " ");
  await watch.check();
  await watch.stop();
  await watch.check();
  expect(lines).toMatchObject([
    { version: "0.2.0", platforms: ["linux-x64", "win-x64"], msg: "a release of the agent was fetched" },
    { code: "SIGNATURE", file: "latest.json" },
  ]);
  expect(lines.length).toBe(2);
});
