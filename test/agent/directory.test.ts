import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Directory } from "../../agent/directory.ts";
import { httpServer } from "../../agent/server.ts";
import type { ClinicRanges } from "../../shared/clinic-ranges.ts";
import { testPatients, until } from "../support/processes.ts";
import { scriptedServer } from "../support/scripted-server.ts";
import { useSpool } from "../support/spool.ts";
import { TestClock } from "../support/wire.ts";

// Method: a real HTTP server that pages through a list the test changes, a real spool.

const used = useSpool();
let server: Awaited<ReturnType<typeof scriptedServer>>;
let patients: { fp: string; updated_at: string; identifiers: string[] }[];
let withIdentifiers = true;
/** Undefined: a server without the route. */
let ranges: ClinicRanges | null | undefined;
/** What the server claims to have beyond what its pages show. */
let unmet = 0;

beforeEach(async () => {
  withIdentifiers = true;
  ranges = undefined;
  unmet = 0;
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
    const since = searchParams.get("updated_since") ?? "";
    const matching = patients.filter(({ updated_at }) => updated_at >= since).toReversed();
    const [page, size] = [Number(searchParams.get("page")), Number(searchParams.get("page_size"))];
    const items = matching.slice((page - 1) * size, page * size);
    const paging = { total: matching.length + unmet, page, page_size: size, has_more: page * size < matching.length };
    if (pathname === "/api/v1/patients") {
      return { status: 200, body: { success: true, message: "OK", data: { items: items.map(asPatient), ...paging } } };
    }
    if (!withIdentifiers) return { status: 404 };
    const rows = items.map(({ fp, identifiers }) => ({ patient_fp: fp, identifiers }));
    return { status: 200, body: { success: true, data: { items: rows, ...paging } } };
  });
});

afterEach(async () => {
  await server.close();
});

function asPatient({ fp, updated_at }: { fp: string; updated_at: string }) {
  const owner_customer_fp = "customer_01K9TEST000000000000000D01";
  const animal = { name: "Test", species: "dog", breed: null, sex: null, date_of_birth: null, weight_kg: null };
  return { fp, ...animal, owner_customer_fp, created_at: updated_at, updated_at };
}

const directory = () =>
  new Directory(
    used.spool,
    httpServer(server.url, () => "sk_live_test"),
  );
const find = async (of: Directory, identifier: string | null, ...otherIdentifiers: string[]) =>
  (await of.find({ identifier, otherIdentifiers })).patients.map(({ fp }) => fp);

test("a server that does not know the patients' route is a wrong one, and empties no directory", async () => {
  const own = directory();
  await own.sync();
  const { fp } = patients[0]!;
  const wrong = await scriptedServer(() => ({ status: 404 }));
  const misled = new Directory(
    used.spool,
    httpServer(wrong.url, () => "sk_live_test"),
  );
  await used.spool.call("setMeta", "directory", "{}"); // as at the first sync: the whole list is walked
  await expect(misled.sync()).rejects.toThrow("there is no GET /api/v1/patients at the server: is server.url right?");
  expect(await find(own, fp)).toEqual([fp]);
  await wrong.close();
});

test("all pages are fetched, and a patient is found by fp, bare ULID and external id", async () => {
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

test("a specimen number is compared with fps and ULIDs, never with card numbers", async () => {
  const own = directory();
  await own.sync();
  expect(await find(own, null, "5000")).toEqual([]);
  expect(await find(own, null, patients[3]!.fp)).toEqual([patients[3]!.fp]);
  expect(await find(own, "5000", patients[3]!.fp)).toEqual([patients[3]!.fp, patients[0]!.fp]);
});

test("the next time only what changed since the newest change is asked for", async () => {
  const own = directory();
  await own.sync();
  const before = server.requests.length;
  patients.push({ fp: testPatients(251)[250]!.fp, updated_at: "2026-03-01T00:00:00.000Z", identifiers: ["new"] });
  await own.sync();
  const asked = server.requests
    .slice(before)
    .filter(({ url }) => url !== "/agent/v1/ranges")
    .map(({ url }) => new URL(url, "http://server").searchParams.get("updated_since"));
  expect(asked).toEqual(["2026-01-01T00:03:09.000Z", "2026-01-01T00:03:09.000Z"]); // a minute of overlap
  expect(await find(own, "new")).toEqual([patients[250]!.fp]);
});

test("it survives a restart and a server that is away", async () => {
  await directory().sync();
  await server.close();
  const own = directory();
  await expect(own.sync()).rejects.toThrow(/cannot be reached/);
  expect(await find(own, "5000")).toEqual([patients[0]!.fp]);
});

test("a full walk forgets patients who are gone; a walk that did not meet all of them forgets none", async () => {
  const own = directory();
  await own.sync();
  const [gone] = patients.splice(0, 1);
  unmet = 1; // a row slipped over the edge of two pages during the walk
  await used.spool.call("setMeta", "directory", "{}"); // the next sync is a full walk
  await own.sync();
  expect(await find(own, gone!.fp)).toEqual([gone!.fp]);
  unmet = 0;
  await own.sync();
  expect(await find(own, gone!.fp)).toEqual([]);
  expect(await find(own, "5001")).toEqual([patients[0]!.fp]);
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

test("a server without the agent's identifier route still gives its patients", async () => {
  withIdentifiers = false;
  const own = directory();
  await own.sync();
  expect(await find(own, patients[0]!.fp)).toEqual([patients[0]!.fp]);
  expect(await find(own, "5000")).toEqual([]);
});

test("an answer that is no page of patients is refused and changes nothing", async () => {
  const own = directory();
  await own.sync();
  patients[1]!.updated_at = "not a time";
  const page = { status: 200, body: { data: { items: [{ fp: 7 }], total: 1, has_more: false } } };
  const broken = await scriptedServer(({ url }) => (url === "/agent/v1/ranges" ? { status: 404 } : page));
  const other = new Directory(
    used.spool,
    httpServer(broken.url, () => "sk_live_test"),
  );
  await expect(other.sync()).rejects.toThrow(/no page of patients/);
  expect(await find(own, "5000")).toEqual([patients[0]!.fp]);
  await broken.close();
});

test("a walk that meets the key's limit waits as told and goes on at the same page", async () => {
  const asked: (string | null)[] = [];
  const limited = await scriptedServer(({ url }) => {
    if (url === "/agent/v1/ranges") return { status: 404 };
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
    httpServer(limited.url, () => "sk_live_test"),
    clock.setTimer,
  );
  const walk = own.sync().catch(() => undefined); // the second walk, over identifiers, is not scripted
  await until("the wait", () => clock.pending.length);
  expect(clock.pending).toEqual([40_000]);
  clock.advance(40_000);
  await walk;
  expect(asked.slice(0, 4)).toEqual(["1", "2", "2", "3"]);
  await limited.close();
});

const catsAlt = {
  ...{ id: "alt-cat", species: "cat" as const, analyte: "ALT", unit: "U/L", low: "20", high: "90" },
  effective_from: "2026-01-01",
};

test("the clinic's own intervals are kept on disk, and changed when the server's are", async () => {
  expect(await directory().ranges()).toBeNull();
  const own = directory();
  ranges = { version: "v1", low_quality: false, rows: [catsAlt] };
  await own.sync();
  expect(await own.ranges()).toEqual(ranges);
  expect(await directory().ranges()).toEqual(ranges);
  ranges = { version: "v2", low_quality: true, rows: [] };
  await own.sync();
  expect(await own.ranges()).toEqual(ranges);
  ranges = undefined; // an older server in its place knows nothing of them, and takes nothing away
  await own.sync();
  expect((await directory().ranges())?.version).toBe("v2");
  ranges = null;
  await own.sync();
  expect(await directory().ranges()).toBeNull();
});

test("what is no list of intervals is refused and changes nothing", async () => {
  ranges = { version: "v1", low_quality: false, rows: [catsAlt] };
  const own = directory();
  await own.sync();
  ranges = { version: "v2", low_quality: false, rows: [{ ...catsAlt, low: 20 } as unknown as typeof catsAlt] };
  await expect(own.sync()).rejects.toThrow("GET /agent/v1/ranges answered with something that is no list of intervals");
  expect((await own.ranges())?.version).toBe("v1");
});

describe("a result whose patient is not known", () => {
  test("waits for the sync that is under way: the first minute after a start", async () => {
    const own = directory();
    const underWay = own.sync();
    expect(await own.refresh(10_000, 3_000)).toBe(true);
    expect(await find(own, "5000")).toEqual([patients[0]!.fp]);
    await underWay;
  });

  test("does not ask again within the time given", async () => {
    const own = directory();
    expect(await own.refresh(10_000, 3_000)).toBe(true);
    const asked = server.requests.length;
    expect(await own.refresh(10_000, 3_000)).toBe(false);
    expect(server.requests).toHaveLength(asked);
  });

  test("waits for a server that hangs once, and not longer than told", async () => {
    const hanging = await scriptedServer(() => "hang");
    const own = new Directory(
      used.spool,
      httpServer(hanging.url, () => "sk_live_test"),
    );
    expect(await own.refresh(10_000, 50)).toBe(false);
    const from = performance.now();
    expect(await own.refresh(10_000, 50)).toBe(false);
    expect(performance.now() - from).toBeLessThan(40);
    await hanging.close();
  });
});
