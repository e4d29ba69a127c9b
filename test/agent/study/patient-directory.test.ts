import path from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { testPatients, until } from "../../support/machine/processes.ts";
import { scriptedServer } from "../../support/peers/scripted-server.ts";
import { useSpool } from "../../support/spool.ts";
import { TestClock } from "../../support/protocols/wire.ts";

// Method: a real spool, and a real HTTP server with a list that the test changes.

const used = useSpool();
let server: Awaited<ReturnType<typeof scriptedServer>>;
let patients: { fp: string; updated_at: string; identifiers: string[]; species?: string }[];
/** Patients that the server lists as removed; undefined for a server without the route. */
let removed: { patient_fp: string; updated_at: string }[] | undefined;
let withIdentifiers = true;
/** undefined for a server without the route. */
let ranges: ClinicRanges | null | undefined;
/** Patients that the server counts but lists on no page. */
let unmet = 0;
/** Whether the route of identifiers fails. */
let isBroken = false;

beforeEach(async () => {
  removed = [];
  withIdentifiers = true;
  ranges = undefined;
  unmet = 0;
  isBroken = false;
  patients = testPatients(250).map(({ fp, externalId }, index) => ({
    fp,
    updated_at: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
    identifiers: [externalId],
  }));
  server = await scriptedServer(({ url }) => {
    const { pathname, searchParams } = new URL(url, "http://server");
    if (pathname === "/agent/v1/ranges") {
      return ranges === undefined ? { status: 404 } : { status: 200, body: { success: true, data: ranges } };
    }
    if (["/agent/v1/codes", "/agent/v1/orders"].includes(pathname)) return { status: 404 };
    const since = searchParams.get("updated_since") ?? "";
    const [page, size] = [Number(searchParams.get("page")), Number(searchParams.get("page_size"))];
    if (pathname === "/agent/v1/removed") {
      if (removed === undefined) return { status: 404 };
      const matching = removed.filter(({ updated_at }) => updated_at >= since);
      const items = matching.slice((page - 1) * size, page * size);
      const paging = { total: matching.length, page, page_size: size, has_more: page * size < matching.length };
      return { status: 200, body: { success: true, data: { items, ...paging } } };
    }
    const matching = patients.filter(({ updated_at }) => updated_at >= since).toReversed();
    const items = matching.slice((page - 1) * size, page * size);
    const paging = { total: matching.length + unmet, page, page_size: size, has_more: page * size < matching.length };
    if (pathname === "/api/v1/patients") {
      return { status: 200, body: { success: true, message: "OK", data: { items: items.map(asPatient), ...paging } } };
    }
    if (isBroken) return { status: 500 };
    if (!withIdentifiers) return { status: 404 };
    const rows = items.map(({ fp, identifiers }) => ({ patient_fp: fp, identifiers }));
    return { status: 200, body: { success: true, data: { items: rows, ...paging } } };
  });
});

afterEach(async () => {
  await server.close();
});

function asPatient({ fp, updated_at, species = "dog" }: (typeof patients)[number]) {
  const owner_customer_fp = "customer_01K9TEST000000000000000D01";
  const animal = { name: "Test", species, breed: null, sex: null, date_of_birth: null, weight_kg: null };
  return { fp, ...animal, owner_customer_fp, created_at: updated_at, updated_at };
}

const directory = () =>
  new Directory(
    used.spool,
    createServerClient(server.url, () => "sk_live_test"),
  );
const find = async (of: Directory, identifier: string | null, ...otherIdentifiers: string[]) =>
  (await of.find({ identifier, otherIdentifiers })).patients.map(({ fp }) => fp);

test("a server without the route of patients fails the sync and removes no patient", async () => {
  const own = directory();
  await own.sync();
  const { fp } = patients[0]!;
  const wrong = await scriptedServer(() => ({ status: 404 }));
  const misled = new Directory(
    used.spool,
    createServerClient(wrong.url, () => "sk_live_test"),
  );
  await used.spool.call("setMeta", "directory", "{}"); // the next sync is a full one
  await expect(misled.sync()).rejects.toThrow("the server has no GET /api/v1/patients: is server.url right?");
  expect(await find(own, fp)).toEqual([fp]);
  await wrong.close();
});

test("a full sync fetches all pages, and a patient is found by fp, ULID and external id", async () => {
  const own = directory();
  await own.sync();
  const { fp } = patients[0]!;
  expect(await find(own, fp)).toEqual([fp]);
  expect(await find(own, fp.slice("patient_".length))).toEqual([fp]);
  expect(await find(own, fp.slice("patient_".length).toLowerCase())).toEqual([fp]);
  expect(await find(own, "5000")).toEqual([fp]);
  expect(await find(own, "5249")).toEqual([patients[249]!.fp]);
  expect(await find(own, "5250")).toEqual([]);
  expect(await find(own, null)).toEqual([]);
});

test("a specimen number matches fps and ULIDs, never card numbers", async () => {
  const own = directory();
  await own.sync();
  expect(await find(own, null, "5000")).toEqual([]);
  expect(await find(own, null, patients[3]!.fp)).toEqual([patients[3]!.fp]);
  expect(await find(own, "5000", patients[3]!.fp)).toEqual([patients[3]!.fp, patients[0]!.fp]);
});

/** @returns the requests for changes after the first `before`, each with its start time */
const changesAsked = (before: number) =>
  server.requests
    .slice(before)
    .map(({ url }) => new URL(url, "http://server"))
    .filter(({ pathname }) => !["/agent/v1/ranges", "/agent/v1/codes", "/agent/v1/orders"].includes(pathname))
    .map(({ pathname, searchParams }) => [pathname, searchParams.get("updated_since")]);

test("an incremental sync fetches the changes since the newest one, removals first", async () => {
  const own = directory();
  await own.sync();
  const before = server.requests.length;
  patients.push({ fp: testPatients(251)[250]!.fp, updated_at: "2026-03-01T00:00:00.000Z", identifiers: ["new"] });
  expect(await own.sync()).toEqual({ whole: false, changed: 1 });
  const since = "2026-01-01T00:03:09.000Z"; // a minute of overlap
  expect(changesAsked(before)).toEqual([
    ["/agent/v1/removed", since],
    ["/api/v1/patients", since],
    ["/agent/v1/identifiers", since],
  ]);
  expect(await find(own, "new")).toEqual([patients[250]!.fp]);
});

test("a sync without changes requests no identifiers and writes nothing", async () => {
  const own = directory();
  await own.sync();
  const db = new Database(path.join(used.folder, "spool.db"));
  const version = () => db.pragma("data_version", { simple: true }); // SQLite raises it with each write of another connection
  const written = version();
  const before = server.requests.length;
  expect(await own.sync()).toEqual({ whole: false, changed: 0 });
  expect(changesAsked(before).map(([route]) => route)).toEqual(["/agent/v1/removed", "/api/v1/patients"]);
  expect(version()).toBe(written);
  db.close();
});

test("a large import is not fetched again once a later sync has read the overlap", async () => {
  const own = directory();
  await own.sync();
  const progress = async () => JSON.parse((await used.spool.call("getMeta", "directory"))!) as { syncedAt: number };
  const { syncedAt } = await progress();
  await used.spool.call("setMeta", "directory", JSON.stringify({ ...(await progress()), syncedAt: syncedAt + 60_000 }));
  const before = server.requests.length;
  await own.sync();
  const since = "2026-01-01T00:04:09.001Z";
  expect(changesAsked(before)).toEqual([
    ["/agent/v1/removed", since],
    ["/api/v1/patients", since],
  ]);
});

test("a patient with a time in the future does not hide later changes", async () => {
  patients[0]!.updated_at = "2099-01-01T00:00:00.000Z";
  const own = directory();
  await own.sync();
  patients.push({ fp: testPatients(251)[250]!.fp, updated_at: new Date().toISOString(), identifiers: ["new"] });
  await own.sync();
  expect(await find(own, "new")).toEqual([patients[250]!.fp]);
});

test("a full sync is due a day after the last one, also if the clock was set back since", async () => {
  const own = directory();
  await own.sync();
  expect((await own.sync()).whole).toBe(false);
  const progress = JSON.parse((await used.spool.call("getMeta", "directory")) ?? "") as { fullSyncAt: number };
  const ahead = { ...progress, fullSyncAt: progress.fullSyncAt + 3 * 365 * 86_400_000 };
  await used.spool.call("setMeta", "directory", JSON.stringify(ahead));
  expect((await directory().sync()).whole).toBe(true);
});

test("identifiers that a failed sync missed are fetched by the next one", async () => {
  const own = directory();
  await own.sync();
  patients.push({ fp: testPatients(251)[250]!.fp, updated_at: "2026-03-01T00:00:00.000Z", identifiers: ["new"] });
  isBroken = true;
  await expect(own.sync()).rejects.toThrow("the server answered 500");
  isBroken = false;
  await own.sync();
  expect(await find(own, "new")).toEqual([patients[250]!.fp]);
});

describe("a removed patient", () => {
  const gone = testPatients(1)[0]!;
  const at = "2026-02-01T00:00:00.000Z";
  const leave = () => {
    patients = patients.filter(({ fp }) => fp !== gone.fp);
    removed = [{ patient_fp: gone.fp, updated_at: at }];
  };

  test("the next sync removes a deleted patient with its identifiers", async () => {
    const own = directory();
    await own.sync();
    leave();
    expect(await own.sync()).toEqual({ whole: false, changed: 1 });
    expect([await find(own, gone.fp), await find(own, gone.externalId)]).toEqual([[], []]);
    const before = server.requests.length;
    expect(await own.sync()).toEqual({ whole: false, changed: 0 });
    expect(changesAsked(before)).toEqual([
      ["/agent/v1/removed", "2026-01-31T23:59:00.000Z"],
      ["/api/v1/patients", "2026-01-01T00:03:09.000Z"],
    ]);
  });

  test("a patient that is added again is found, also while the server lists its removal", async () => {
    const own = directory();
    await own.sync();
    leave();
    await own.sync();
    patients.push({ fp: gone.fp, updated_at: "2026-02-01T00:00:30.000Z", identifiers: [gone.externalId] });
    for (const changed of [1, 0]) {
      expect(await own.sync()).toEqual({ whole: false, changed });
      expect(await find(own, gone.externalId)).toEqual([gone.fp]);
    }
  });

  test("a deleted patient of an older server stays until the next full sync", async () => {
    const own = directory();
    await own.sync();
    leave();
    removed = undefined;
    expect(await own.sync()).toEqual({ whole: false, changed: 0 });
    expect(await find(own, gone.externalId)).toEqual([gone.fp]);
    await used.spool.call("setMeta", "directory", "{}");
    expect(await directory().sync()).toMatchObject({ whole: true });
    expect(await find(own, gone.externalId)).toEqual([]);
  });

  test("all pages of removed patients are read", async () => {
    const own = directory();
    await own.sync();
    removed = patients.splice(0, 150).map(({ fp }) => ({ patient_fp: fp, updated_at: at }));
    expect(await own.sync()).toEqual({ whole: false, changed: 150 });
    expect(await find(own, removed[149]!.patient_fp)).toEqual([]);
    expect(await find(own, patients[0]!.fp)).toEqual([patients[0]!.fp]);
  });
});

test("a horse has its namesakes among the patients that the API serves as exotic", async () => {
  patients = patients.slice(0, 2);
  patients[0]!.species = "exotic";
  const own = directory();
  await own.sync();
  const namesakes = async (species: string) =>
    (await own.namesakes("TEST", species, "2026-01-01T12:00:00.000Z", "UTC")).all.map(({ fp }) => fp);
  expect(await namesakes("horse")).toEqual([patients[0]!.fp]);
  expect(await namesakes("dog")).toEqual([patients[1]!.fp]);
  expect(await namesakes("cat")).toEqual([]);
});

test("the directory survives a restart without a server", async () => {
  await directory().sync();
  await server.close();
  const own = directory();
  await expect(own.sync()).rejects.toThrow(/cannot be reached/);
  expect(await find(own, "5000")).toEqual([patients[0]!.fp]);
});

test("only a full sync that meets all patients removes the missing ones", async () => {
  const own = directory();
  await own.sync();
  const [gone] = patients.splice(0, 1);
  unmet = 1; // a row moved across a page boundary during the sync
  await used.spool.call("setMeta", "directory", "{}"); // the next sync is a full one
  await own.sync();
  expect(await find(own, gone!.fp)).toEqual([gone!.fp]);
  unmet = 0;
  await own.sync(); // too early for another full sync
  expect(await find(own, gone!.fp)).toEqual([gone!.fp]);
  await directory().sync();
  expect(await find(own, gone!.fp)).toEqual([]);
  expect(await find(own, "5001")).toEqual([patients[0]!.fp]);
});

test("a full sync that meets one patient twice and misses another removes none", async () => {
  const own = directory();
  await own.sync();
  await used.spool.call("setMeta", "directory", "{}");
  const [missed] = patients.splice(0, 1, patients[1]!);
  expect(await own.sync()).toMatchObject({ whole: false });
  expect(await find(own, missed!.fp)).toEqual([missed!.fp]);
});

test("changed identifiers replace the old ones", async () => {
  const own = directory();
  await own.sync();
  patients[0]!.identifiers = ["6000"];
  patients[0]!.updated_at = "2026-03-01T00:00:00.000Z";
  await own.sync();
  expect(await find(own, "5000")).toEqual([]);
  expect(await find(own, "6000")).toEqual([patients[0]!.fp]);
});

test("a server without the route of identifiers still provides its patients", async () => {
  withIdentifiers = false;
  const own = directory();
  await own.sync();
  expect(await find(own, patients[0]!.fp)).toEqual([patients[0]!.fp]);
  expect(await find(own, "5000")).toEqual([]);
});

test("an invalid page of patients is refused and changes nothing", async () => {
  const own = directory();
  await own.sync();
  patients[1]!.updated_at = "not a time";
  const page = { status: 200, body: { data: { items: [{ fp: 7 }], total: 1, has_more: false } } };
  const broken = await scriptedServer(({ url }) => (url.startsWith("/agent/") ? { status: 404 } : page));
  const other = new Directory(
    used.spool,
    createServerClient(broken.url, () => "sk_live_test"),
  );
  await expect(other.sync()).rejects.toThrow(/expected a page of patients/);
  expect(await find(own, "5000")).toEqual([patients[0]!.fp]);
  await broken.close();
});

test("a sync that the rate limit refuses waits for Retry-After and continues at the same page", async () => {
  const asked: (string | null)[] = [];
  const limited = await scriptedServer(({ url }) => {
    if (["/agent/v1/ranges", "/agent/v1/codes"].includes(url)) return { status: 404 };
    asked.push(new URL(url, "http://server").searchParams.get("page"));
    if (asked.length === 2) return { status: 429, headers: { "retry-after": "40" } };
    const items = [asPatient(patients[asked.length]!)];
    return {
      status: 200,
      body: { success: true, message: "OK", data: { items, total: 3, has_more: asked.length < 4 } },
    };
  });
  const clock = new TestClock();
  const own = new Directory(
    used.spool,
    createServerClient(limited.url, () => "sk_live_test"),
    clock.setTimer,
  );
  const sync = own.sync().catch(() => undefined); // the script has no identifiers
  await until("the wait", () => clock.pending.length);
  expect(clock.pending).toEqual([40_000]);
  clock.advance(40_000);
  await sync;
  expect(asked.slice(0, 4)).toEqual(["1", "2", "2", "3"]);
  await limited.close();
});

const catsAlt = {
  id: "alt-cat",
  species: "cat" as const,
  analyte: "ALT",
  unit: "U/L",
  low: "20",
  high: "90",
  effective_from: "2026-01-01",
};

test("the clinic's own intervals are stored and follow the server's", async () => {
  expect(await directory().ranges()).toBeNull();
  const own = directory();
  ranges = { version: "v1", low_quality: false, rows: [catsAlt] };
  await own.sync();
  expect(await own.ranges()).toEqual(ranges);
  expect(await directory().ranges()).toEqual(ranges);
  ranges = { version: "v2", low_quality: true, rows: [] };
  await own.sync();
  expect(await own.ranges()).toEqual(ranges);
  ranges = undefined; // an older server without the route removes nothing
  await own.sync();
  expect((await directory().ranges())?.version).toBe("v2");
  ranges = null;
  await own.sync();
  expect(await directory().ranges()).toBeNull();
});

test("accepted critical limits come with the intervals, and one with an unknown condition is left out", async () => {
  const limit = { id: "plt", species: "cat", analyte: "PLT", unit: "10*9/L", low: "25", source: "VCOG" } as const;
  const accepted = { ...limit, accepted_by: "Dr. Ada", accepted_at: "2026-11-29T05:00:00.000Z" };
  const own = directory();
  // An agent that knew no limits kept the same version without them.
  ranges = { version: "v1", low_quality: false, rows: [catsAlt] };
  await own.sync();
  ranges = { ...ranges, limits: [accepted] };
  await own.sync();
  expect(await directory().ranges()).toEqual(ranges);
  const restricted = { ...accepted, id: "k", only_if: "fasting" } as unknown as typeof accepted;
  ranges = { ...ranges, version: "v2", limits: [accepted, restricted] };
  await own.sync();
  expect(await own.ranges()).toEqual({ ...ranges, version: "v2 in part", limits: [accepted] });
});

test("an invalid list of intervals is refused and changes nothing", async () => {
  ranges = { version: "v1", low_quality: false, rows: [catsAlt] };
  const own = directory();
  await own.sync();
  ranges = { version: "v2", low_quality: false, rows: [{ ...catsAlt, low: 20 } as unknown as typeof catsAlt] };
  await expect(own.sync()).rejects.toThrow("invalid response of GET /agent/v1/ranges: expected a list of intervals");
  expect((await own.ranges())?.version).toBe("v1");
});

describe("refresh()", () => {
  test("a refresh waits for the sync under way", async () => {
    const own = directory();
    const underWay = own.sync();
    expect(await own.refresh(10_000, 3_000)).toBe(true);
    expect(await find(own, "5000")).toEqual([patients[0]!.fp]);
    await underWay;
  });

  test("a refresh within the max age of the last sync makes no request", async () => {
    const own = directory();
    expect(await own.refresh(10_000, 3_000)).toBe(true);
    const asked = server.requests.length;
    expect(await own.refresh(10_000, 3_000)).toBe(false);
    expect(server.requests).toHaveLength(asked);
  });

  test("a server that hangs delays one refresh, by at most the given time", async () => {
    const hanging = await scriptedServer(() => "hang");
    const own = new Directory(
      used.spool,
      createServerClient(hanging.url, () => "sk_live_test"),
    );
    expect(await own.refresh(10_000, 500)).toBe(false);
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => timers.mockRestore());
    expect(await own.refresh(10_000, 500)).toBe(false);
    expect(timers, "a wait").not.toHaveBeenCalled();
    await hanging.close();
  });
});
