import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { exportEntities } from "../../../../server/import/export.ts";
import { listRows } from "../../../../server/store/audit.ts";
import { listEvents } from "../../../../server/store/calendar.ts";
import { SCHEMA_VERSION } from "../../../../server/store/database/migrations.ts";
import { noInvalidation, query } from "../../../../server/store/database/query.ts";
import type { Store } from "../../../../server/store/database/store.ts";
import { findClinic, listKeys } from "../../../../server/store/keys.ts";
import { PAGE_INDEXES_MAX, type PageIndex } from "../../../../server/store/patients/page-index.ts";
import { findPatient, listIdentifiers, listPatients, listRemoved } from "../../../../server/store/patients/patients.ts";
import { VersionedCache } from "../../../../server/store/patients/versioned-cache.ts";
import { currentRanges, rangesOfVersion, replaceRanges } from "../../../../server/store/ranges.ts";
import { findSoap } from "../../../../server/store/soap.ts";
import { listItems } from "../../../../server/store/stock.ts";
import { candidatesFor } from "../../../../server/store/studies/candidates.ts";
import { listConflicts } from "../../../../server/store/studies/conflicts.ts";
import { historyOf, viewStudy } from "../../../../server/store/studies/history.ts";
import { assignStudy } from "../../../../server/store/studies/placement.ts";
import { findStudy } from "../../../../server/store/studies/studies.ts";
import { listUnmatched } from "../../../../server/store/studies/unmatched.ts";
import { openStore } from "../../../../server/store/database/open.ts";
import { connectTo, importText, onPostgres, temporaryDatabase } from "../../harness.ts";
import { intervalsByAge } from "../../records.ts";

const heartbeats = query((db) => db.selectFrom("heartbeat").selectAll().orderBy("api_key_id"));
const clinicFps = query((db) => db.selectFrom("clinic").select("fp").orderBy("id"));
const studyFps = query((db) => db.selectFrom("study").select("fp").orderBy("id"));
const placements = query((db) => db.selectFrom("study").select(["claimed_patient_fp", "placed_by_user"]).orderBy("id"));
const migrations = query(
  (db) => ({
    compile: () => sql<{ version: number; applied_at: number }>`select * from migration order by version`.compile(db),
  }),
  noInvalidation,
);

function fixture(name: string): string {
  return readFileSync(join(import.meta.dirname, name), "utf8");
}

/** Loads a database that commit 85220f4 wrote. Its schema version is 7. */
async function databaseOfVersion7(): Promise<string> {
  const database = await temporaryDatabase();
  const connection = await connectTo(database);
  await connection.run(fixture(onPostgres() ? "schema-7.postgres.sql" : "schema-7.sqlite.sql"));
  await connection.close();
  return database;
}

// `schema-7.ndjson` holds the lines of `readEverything` that commit 85220f4 itself read from both databases.
test("a database that commit 85220f4 wrote is migrated and reads back as before", async () => {
  const store = await openStore(await databaseOfVersion7());
  expect((await store.all(migrations, {})).map(({ version }) => version)).toEqual(
    Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1),
  );
  expect(await readEverything(store)).toEqual(fixture("schema-7.ndjson").trimEnd().split("\n"));
  expect(await store.all(placements, {})).toEqual(
    [
      [patientFp(1), 0],
      [patientFp(1), 0],
      [null, 1],
      [patientFp(99), 0],
      [null, 1],
      [null, 1],
      [null, 1],
      [patientFp(3), 0],
      [patientFp(2), 1],
    ].map(([claimed_patient_fp, placed_by_user]) => ({ claimed_patient_fp, placed_by_user })),
  );
  await store.close();
});

test("a migrated database accepts the writes of each renamed table and column", async () => {
  const store = await openStore(await databaseOfVersion7());
  const lines: string[] = [];
  for await (const line of exportEntities(store)) lines.push(JSON.stringify(line));
  expect(await importText(store, lines.join("\n"))).toMatchObject({ new: 0, changed: 0, unchanged: lines.length });

  const clinicFp = "clinic_01K9M1GRATK000000000000002";
  const clinicId = (await findClinic(store, clinicFp))?.id ?? 0;
  const connected = { type: "connection", patient_fp: patientFp(2), clinic_fp: clinicFp, active: true };
  expect(await importText(store, JSON.stringify(connected))).toMatchObject({ new: 1 });
  expect((await findPatient(store, clinicId, patientFp(2)))?.connected).toBe(true);

  const now = Date.parse("2026-11-22T00:00:00.000Z");
  const ranges = await store.transaction((session) => replaceRanges(session, clinicId, intervalsByAge, now));
  expect(await currentRanges(store, clinicId)).toEqual(ranges);

  const assigned = { fp: "cds_01K9M1GRATK000000000000004", patientFp: patientFp(1), by: "ada", now };
  expect(await store.transaction((session) => assignStudy(session, assigned))).toBeNull();
  expect((await viewStudy(store, assigned.fp))?.study.patient_fp).toBe(patientFp(1));
  await store.close();
});

test("a second opening migrates nothing", async () => {
  const database = await databaseOfVersion7();
  const applied: unknown[] = [];
  for (let opening = 1; opening <= 2; opening += 1) {
    const store = await openStore(database);
    applied.push(await store.all(migrations, {}));
    await store.close();
  }
  expect(applied[1]).toEqual(applied[0]);
});

function patientFp(number: number): string {
  return `patient_01K9M1GRATK0000000000000${String(number).padStart(2, "0")}`;
}

/** Reads every entity with the store's functions, as lines of JSON without the random ids of keys and requests. */
async function readEverything(store: Store): Promise<string[]> {
  const lines: object[] = [];
  for await (const exported of exportEntities(store)) lines.push({ exported });
  for (const { fp } of await store.all(clinicFps, {})) {
    lines.push({ clinics: { fp, ...(await readClinic(store, fp)) } });
  }
  for (const { fp } of await store.all(studyFps, {})) {
    const stored = await viewStudy(store, fp);
    const history = await historyOf(store, fp);
    const conflicts = await listConflicts(store, { fp });
    // Candidates of that commit have no signs and numbers.
    const candidates = (await candidatesFor(store, fp))?.map(({ signs: _signs, number: _number, ...known }) => known);
    lines.push({ studies: { stored, history, conflicts, candidates } });
  }
  for (const rejected of [false, true]) {
    for await (const unmatched of listUnmatched(store, { clinicId: null, rejected })) lines.push({ unmatched });
  }
  const always = { since: 0, until: Number.MAX_SAFE_INTEGER };
  for await (const { request_id: _id, key: _key, user: _user, ...audit } of listRows(store, always))
    lines.push({ audit });
  for (const heartbeat of await store.all(heartbeats, {})) lines.push({ heartbeats: heartbeat });
  return lines.map((line) => JSON.stringify(line));
}

async function readClinic(store: Store, clinicFp: string): Promise<object> {
  const clinicId = (await findClinic(store, clinicFp))?.id ?? 0;
  const versions = await store.versions(clinicId);
  const index = new VersionedCache<PageIndex>(PAGE_INDEXES_MAX);
  const list = { clinicId, updatedSince: null, page: 1, pageSize: 100, version: versions.lists };
  const listed = { ...list, listed: true, species: null };
  const [patients, dogs] = [
    await listPatients(store, index, listed),
    await listPatients(store, index, { ...listed, species: "dog" }),
  ];
  const found: unknown[] = [];
  for await (const line of exportEntities(store)) {
    if (line.type === "patient") found.push((await findPatient(store, clinicId, line.fp))?.connected);
    if (line.type === "study") found.push((await findStudy(store, clinicId, line.fp))?.connected);
    if (line.type === "soap") found.push((await findSoap(store, clinicId, line.fp))?.connected);
  }
  const events = { clinicId, type: null, status: null, start: 0, end: Number.MAX_SAFE_INTEGER };
  const ranges = await currentRanges(store, clinicId);
  return {
    versions,
    patients,
    dogs,
    identifiers: await listIdentifiers(store, index, listed),
    removed: await listRemoved(store, index, { ...listed, listed: false }),
    connected: found,
    events: await listEvents(store, events),
    items: await listItems(store, { clinicId, category: null, lowStockOnly: false, page: 1, pageSize: 100 }),
    keys: (await listKeys(store, clinicId)).map(({ id: _id, key: _key, ...key }) => key),
    ranges: ranges ?? null,
    rangesOfVersion: ranges ? ((await rangesOfVersion(store, clinicId, ranges.version)) ?? null) : null,
  };
}
