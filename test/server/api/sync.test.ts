import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importFile } from "../../../server/import/importer.ts";
import { newFp } from "../../../shared/api/fp.ts";
import {
  clinic,
  connection,
  importText,
  keyPermissions,
  noon,
  patient,
  startServer,
  temporaryFolder,
  type TestServer,
} from "../harness.ts";

// A client with updated_since receives all changes of an import, whatever times the file has.

const ours = newFp("clinic");
const theirs = newFp("clinic");
const old = "2026-09-01T00:00:00.000Z";
const later = "2026-11-21T13:00:00.000Z";

/** A client of a clinic that synchronised at noon. The next import follows an hour later. */
async function synchronised(...entities: Parameters<typeof startServer>) {
  const server = await startServer(clinic(ours), clinic(theirs), ...entities);
  const key = await server.makeKey(ours, keyPermissions);
  await server.get(key, "/api/v1/patients");
  return { server, ...client(server, key) };
}

function client(server: TestServer, key: string) {
  const since = async (path: string) => (await server.get(key, `${path}?updated_since=${later}`)).body.data.items;
  return {
    key,
    changed: async () => new Map((await since("/api/v1/patients")).map(({ fp, updated_at }) => [fp, updated_at])),
    identified: async () => new Set(((await since("/agent/v1/identifiers")) as object[] as Left[]).map(fpOf)),
    removed: async () =>
      new Map(((await since("/agent/v1/removed")) as object[] as Left[]).map((left) => [fpOf(left), left])),
  };
}

interface Left {
  patient_fp: string;
}

function fpOf({ patient_fp }: Left): string {
  return patient_fp;
}

async function importLater(server: TestServer, ...entities: object[]) {
  return importText(server.store, entities.map((each) => JSON.stringify(each)).join("\n"), noon + 3_600_000);
}

describe("an import after a sync", () => {
  test("new, changed and connected patients appear in updated_since, also with old times in the file", async () => {
    const [changed, renumbered, connected, undeleted, same] = [
      patient({ updated_at: old }),
      patient({ updated_at: old }),
      patient({ updated_at: old }),
      patient({ updated_at: old, deleted_at: old }),
      patient({ updated_at: old }),
    ];
    const fresh = patient({ updated_at: old });
    const known = [changed, renumbered, undeleted, same];
    const connections = known.map(({ fp }) => connection(fp, ours));
    const { server, ...sync } = await synchronised(known, connected, connections, connection(connected.fp, theirs));
    const result = await importLater(
      server,
      { ...changed, species: "cat" },
      { ...renumbered, external_ids: ["10021"] },
      connection(connected.fp, ours),
      { ...undeleted, deleted_at: null },
      same,
      fresh,
      connection(fresh.fp, ours),
      connection(same.fp, ours),
    );
    expect(result).toEqual({ new: 3, changed: 3, unchanged: 2 });
    const fps = [changed, renumbered, connected, undeleted, fresh].map(({ fp }) => fp);
    expect(await sync.changed()).toEqual(new Map(fps.map((fp) => [fp, later])));
    expect(await sync.identified()).toEqual(new Set(fps));
    expect(await sync.removed()).toEqual(new Map());

    const export_ = { ...changed, species: "cat", updated_at: later };
    expect(await importLater(server, export_, { ...changed, species: "cat" })).toEqual({
      new: 0,
      changed: 0,
      unchanged: 2,
    });
  });

  test("deleted and disconnected patients are listed as removed, without their later changes", async () => {
    const [deleted, closed, reopened, foreign, stays] = Array.from({ length: 5 }, () => patient({ updated_at: old }));
    if (!deleted || !closed || !reopened || !foreign || !stays) throw new Error("five patients are made");
    const known = [deleted, closed, reopened, stays];
    const { server, ...sync } = await synchronised(
      [...known, foreign],
      known.map(({ fp }) => connection(fp, ours)),
      [connection(foreign.fp, theirs), connection(closed.fp, theirs), connection(foreign.fp, ours, false)],
    );
    await importLater(
      server,
      { ...deleted, deleted_at: old },
      connection(closed.fp, ours, false),
      connection(reopened.fp, ours, false),
      connection(reopened.fp, ours),
      { ...foreign, species: "cat" },
    );
    const gone = new Map([deleted, closed].map(({ fp }) => [fp, { patient_fp: fp, updated_at: later }]));
    expect(await sync.removed()).toEqual(gone);
    expect(await sync.changed()).toEqual(new Map([[reopened.fp, later]]));

    const elsewhere = { ...closed, species: "cat", updated_at: "2026-11-22T12:00:00.000Z" };
    await importText(server.store, JSON.stringify(elsewhere), noon + 2 * 86_400_000);
    expect(await sync.removed()).toEqual(gone);
  });

  test("changes have the time at which the import ended", async () => {
    const one = patient({ updated_at: old });
    const { server, key } = await synchronised(one, connection(one.fp, ours));
    const file = join(temporaryFolder(), "import.ndjson");
    writeFileSync(file, JSON.stringify({ ...one, species: "cat" }));
    const times = [noon, noon + 60_000];
    await importFile(
      server.store,
      file,
      () => undefined,
      () => times.shift() ?? 0,
    );
    const { body } = await server.get(key, `/api/v1/patients/${one.fp}`);
    expect([body.data.species, body.data.updated_at, times]).toEqual(["cat", "2026-11-21T12:01:00.000Z", []]);
  });

  test("an import keeps the times of the file for a clinic that has used no key", async () => {
    const [fresh, known, shared] = [patient({ created_at: old, updated_at: old }), patient(), patient()];
    const { server, ...sync } = await synchronised(
      [known, shared],
      [connection(known.fp, theirs), connection(shared.fp, theirs), connection(shared.fp, ours)],
    );
    const newer = "2026-10-09T08:00:00.000Z";
    await importLater(
      server,
      fresh,
      connection(fresh.fp, theirs),
      ...[known, shared].map((each) => ({ ...each, species: "cat", updated_at: newer })),
    );
    expect(await sync.changed()).toEqual(new Map([[shared.fp, later]]));
    const other = await server.makeKey(theirs, keyPermissions);
    const { items } = (await server.get(other, "/api/v1/patients")).body.data;
    expect(items.map(({ fp, updated_at }) => [fp, updated_at])).toEqual([
      [shared.fp, later],
      [known.fp, newer],
      [fresh.fp, old],
    ]);
  });
});

describe("GET /agent/v1/removed", () => {
  test("removed patients have the paging of the patients, per clinic", async () => {
    const gone = Array.from({ length: 5 }, (_, index) =>
      patient({ created_at: old, updated_at: `2026-10-0${index + 1}T00:00:00.000Z` }),
    );
    const { server, key } = await synchronised(
      gone,
      patient(),
      gone.map(({ fp }) => connection(fp, ours, false)),
      connection(gone[0]?.fp ?? "", theirs, false),
    );
    const page = async (query: string) => (await server.get(key, `/agent/v1/removed${query}`)).body;
    const shown = gone.map(({ fp, updated_at }) => ({ patient_fp: fp, updated_at })).toReversed();
    expect(await page("")).toEqual({
      success: true,
      data: { items: shown, total: 5, page: 1, page_size: 20, has_more: false },
    });
    expect((await server.get(key, "/agent/v1/identifiers")).body.data.total).toBe(0);
    expect((await page("?page_size=2&page=2")).data).toEqual({
      items: shown.slice(2, 4),
      total: 5,
      page: 2,
      page_size: 2,
      has_more: true,
    });
    expect((await page("?updated_since=2026-10-04")).data.items).toEqual(shown.slice(0, 2));
    expect((await page("?page=0")).error.code).toBe("REQUEST.INVALID_PARAMETER");
  });
});
