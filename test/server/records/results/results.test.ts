import { AS_SENT } from "../../../../shared/clinical/units/unit-choice.ts";
import Sqlite from "better-sqlite3";
import { join } from "node:path";
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { expect, test } from "vitest";
import {
  listDeviceNames,
  type ListFilter,
  listResults,
  pageOfAllResults,
  pageOfResults,
} from "../../../../server/records/results/results.ts";
import { type Query, sqlBuilder } from "../../../../server/database/query.ts";
import { attemptsOf, readsOfStudy } from "../../../../server/records/trail/receivers.ts";
import type { StudyColumns } from "../../../../server/database/schema.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { findPatient } from "../../../../server/records/patients/patients.ts";
import { insertStudy } from "../../../../server/records/studies/studies.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import { clinic, connection, keyPermissions, noon, onPostgres, patient, startServer, study } from "../../harness.ts";

const everything = {
  patientId: null,
  device: null,
  modality: null,
  severity: 0 as const,
  from: null,
  to: null,
  search: null,
  after: null,
  units: AS_SENT,
};

const glu = (value: number, flag: "low" | "normal" | "high" | "critical") => ({
  analyte: "GLU",
  value,
  unit: "mmol/L",
  reference_range: "3.3-6.1",
  flag,
});

/** A clinic with two patients, another clinic, and a study pushed by each. */
async function twoClinics() {
  const [own, other] = [newFp("clinic"), newFp("clinic")];
  const karabas = patient({ name: "KARABAŞ", external_ids: ["Chip-900", "ŞIK-41"] });
  const minnos = patient({ name: "Bay Minnoş", species: "cat", external_ids: ["100%"] });
  const strange = patient({ name: "Karaca" });
  const server = await startServer(
    [own, other].map(clinic),
    [karabas, minnos, strange],
    [karabas, minnos].map(({ fp }) => connection(fp, own)),
    connection(strange.fp, other),
  );
  const clinicId = (await findClinic(server.store, own))?.id ?? 0;
  const push = async (fp: string, ...studies: PushedStudy[]) =>
    server.push(await server.makeKey(fp, keyPermissions), ...studies);
  const list = (changes: Partial<ListFilter> = {}, rows?: number) =>
    listResults(server.store, { clinicId, ...everything, ...changes }, rows);
  const listed = async (changes: Partial<ListFilter>) => (await list(changes)).items.map(({ fp }) => fp);
  return { ...server, own, other, karabas, minnos, strange, clinicId, push, list, listed };
}

test("a list holds the studies of connected patients and the clinic's own unmatched ones, the newest first", async () => {
  const { push, own, other, karabas, strange, listed, list, store } = await twoClinics();
  const [older, newer, unmatched] = [
    study({ patient_fp: karabas.fp, acquired_at: "2026-11-19T10:00:00.000Z" }),
    study({ patient_fp: karabas.fp, acquired_at: "2026-11-20T10:00:00.000Z" }),
    study({ acquired_at: "2026-11-19T12:00:00.000Z" }),
  ];
  await push(own, older, newer, unmatched);
  await push(other, study({ patient_fp: strange.fp }), study());
  expect(await listed({})).toEqual([newer.fp, unmatched.fp, older.fp]);
  expect((await list()).items.map(({ patient: shown }) => shown)).toEqual([
    { fp: karabas.fp, name: "KARABAŞ", species: "dog" },
    null,
    { fp: karabas.fp, name: "KARABAŞ", species: "dog" },
  ]);
  expect(await listDeviceNames(store, (await findClinic(store, other))?.id ?? 0)).toEqual(["Abaxis VetScan VS2"]);
});

test("pages follow each other without a gap or a repeat, also within one instant", async () => {
  const { push, own, karabas, list } = await twoClinics();
  const studies = Array.from({ length: 7 }, () => study({ patient_fp: karabas.fp }));
  await push(own, ...studies);
  const found: string[] = [];
  let after: ListFilter["after"] = null;
  do {
    const { items, next } = await list({ after }, 2);
    found.push(...items.map(({ fp }) => fp));
    after = next;
  } while (after !== null);
  expect(found).toEqual(studies.map(({ fp }) => fp).toReversed());
});

test("each filter lists the studies that it names", async () => {
  const { push, own, karabas, minnos, listed, store, clinicId } = await twoClinics();
  const critical = study({ patient_fp: karabas.fp, results: [glu(1, "critical"), glu(5, "normal")] });
  const high = study({ patient_fp: minnos.fp, results: [glu(9, "high")], device_name: "Other" });
  const normal = study({ patient_fp: minnos.fp, modality: "HEMATOLOGY", acquired_at: "2026-10-01T00:00:00.000Z" });
  await push(own, normal, high, critical);
  const { id: patientId = 0 } = (await findPatient(store, clinicId, minnos.fp)) ?? {};
  expect(await listed({ severity: 2 })).toEqual([critical.fp]);
  expect(await listed({ severity: 1 })).toEqual([critical.fp, high.fp]);
  expect(await listed({ patientId })).toEqual([high.fp, normal.fp]);
  expect(await listed({ device: "Other" })).toEqual([high.fp]);
  expect(await listed({ modality: "HEMATOLOGY" })).toEqual([normal.fp]);
  expect(await listed({ to: Date.parse("2026-11-01") })).toEqual([normal.fp]);
  expect(await listed({ from: Date.parse("2026-11-01"), patientId })).toEqual([high.fp]);
});

test("a correction changes the flag by which a study is found", async () => {
  const { push, own, karabas, listed } = await twoClinics();
  const first = study({ patient_fp: karabas.fp, results: [glu(1, "critical")] });
  await push(own, first, { ...first, revision: 2, results: [glu(5, "normal")] });
  expect(await listed({ severity: 1 })).toEqual([]);
});

test("a search finds a name, an identifier or a sample's number by its prefix, whatever the letter case", async () => {
  const { push, own, karabas, minnos, listed } = await twoClinics();
  const [first, second, third] = [
    study({ patient_fp: karabas.fp, source: { device_id: "d", message_id: "1", sample_ids: ["A-77", 'q"x'] } }),
    study({ patient_fp: minnos.fp }),
    study({ patient_hint: { ...study().patient_hint, name: "Pamuk", identifier: "4711" } }),
  ];
  await push(own, first, second, third);
  const found = async (...searches: string[]) => {
    const sets = await Promise.all(searches.map(async (search) => listed({ search })));
    return [...new Set(sets.map((fps) => fps.join(" ")))];
  };
  const ofFirst = ["karabas", "Karabaş", "KARA", "chip-9", "a-7", 'Q"X', " A-77 ", "ŞIK", "şık-4", "Şik-4", "sik"];
  expect(await found(...ofFirst)).toEqual([first.fp]);
  expect(await found("minnos", "BAY", "100%")).toEqual([second.fp]);
  expect(await found("pamuk", "4711")).toEqual([third.fp]);
  expect(await found("innos", "77", "%", "_", "sample_ids", "device", "Karaca")).toEqual([""]);
});

// More patients than a search by name takes, and more studies than a page has under each filter.
const STUDIES = 2000;
const STUDIES_AT_ONCE = 200;
const PATIENTS = 300;

/** A clinic with 2000 studies of 300 patients. */
async function largeClinic() {
  const own = newFp("clinic");
  const patients = Array.from({ length: PATIENTS }, (_, index) => patient({ name: `Karabaş ${index}` }));
  const server = await startServer(
    clinic(own),
    patients,
    patients.map(({ fp }) => connection(fp, own)),
  );
  const clinicId = (await findClinic(server.store, own))?.id ?? 0;
  const ids: number[] = [];
  for (const { fp } of patients) ids.push((await findPatient(server.store, clinicId, fp))?.id ?? 0);
  // A transaction of seconds would make PostgreSQL keep all finished ones of the files beside this one.
  for (let from = 0; from < STUDIES; from += STUDIES_AT_ONCE) {
    await server.store.transaction(async (session) => {
      for (let index = from; index < from + STUDIES_AT_ONCE; index += 1) {
        await insertStudy(session, row(clinicId, ids[index % PATIENTS] ?? 0, index));
      }
    });
  }
  return { ...server, clinicId };
}

function row(clinicId: number, patientId: number, index: number): StudyColumns {
  // As long as a chemistry profile with its snapshot.
  const results = Array.from({ length: 18 }, (_, analyte) => glu(analyte, index % 100 === 0 ? "critical" : "normal"));
  const snapshot = JSON.stringify(results.map((result) => ({ ...result, code: "GLU", reason: null, text: "5.2" })));
  return {
    fp: newFp("cds"),
    clinic_id: clinicId,
    patient_id: patientId,
    unmatched_reason: null,
    claimed_patient_fp: null,
    modality: index % 2 === 0 ? "BIOCHEMISTRY" : "HEMATOLOGY",
    device_name: `Device ${index % 7}`,
    status: "COMPLETED",
    acquired_at: noon - index * 60_000,
    results: JSON.stringify(results),
    comments: null,
    revision: 1,
    dedupe_key: `key ${index}`,
    content_hash: "",
    source: JSON.stringify({ device_id: "d", message_id: "1", sample_ids: [`S${index}`] }),
    patient_hint: null,
    snapshot,
    received_at: noon,
    pushed_revision: 1,
    cause: "pushed",
    placed_by_user: 0,
    rejected_reason: null,
  };
}

test("a list of 2000 studies reads an index alone to choose a page, and prints its times", async () => {
  const { store, clinicId, database } = await largeClinic();
  const filters: [string, Partial<ListFilter>][] = [
    ["first page", {}],
    ["page in the middle", { after: { at: noon - (STUDIES / 2) * 60_000, id: 1 } }],
    ["critical", { severity: 2 }],
    ["device and modality", { device: "Device 3", modality: "HEMATOLOGY" }],
    ["sample", { search: `S${STUDIES - 1}` }],
    ["name of one patient", { search: `Karabaş ${PATIENTS - 1}` }],
    ["name of all patients", { search: "kara" }],
  ];
  const lines: string[] = [];
  for (const [name, changes] of filters) {
    const filter = { clinicId, ...everything, ...changes };
    await listResults(store, filter);
    const begun = performance.now();
    const { items } = await listResults(store, filter);
    lines.push(`${name} ${(performance.now() - begun).toFixed(1)} ms`);
    expect(items).not.toEqual([]);
  }
  const begun = performance.now();
  expect(await listDeviceNames(store, clinicId)).toHaveLength(7);
  lines.push(`devices ${(performance.now() - begun).toFixed(1)} ms`);
  process.stdout.write(`${STUDIES} studies on ${onPostgres() ? "PostgreSQL" : "SQLite"}: ${lines.join(", ")}\n`);
  if (onPostgres()) return;
  for (const page of [pageOfResults, pageOfAllResults]) {
    const [ofPage = "", ...others] = planOf(database, page).filter((step) => step.includes("study"));
    expect(ofPage).toMatch(
      /^SEARCH study USING COVERING INDEX study_(?:list|patient) \(patient_id=\? AND acquired_at>\? AND acquired_at<\?\)$/,
    );
    expect(others.filter((step) => !step.startsWith("SEARCH "))).toEqual([]);
  }
});

test.skipIf(onPostgres())(
  "the time line of a study reads an index of the audit, which every request lengthens",
  async () => {
    const { database } = await startServer();
    expect(planOf(database, readsOfStudy)[0]).toBe("SEARCH audit USING INDEX audit_of_study (fp=?)");
    expect(planOf(database, attemptsOf)[0]).toBe("SEARCH delivery USING INDEX webhook_delivery_of_study (fp=?)");
  },
);

/** Returns the steps with which SQLite would run a query. */
function planOf<P, R>(database: string, { compile }: Query<P, R>): string[] {
  const { sql, values } = compile(
    sqlBuilder({
      createAdapter: () => new SqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    }),
  );
  const file = new Sqlite(join(database, "vetwire.db"), { readonly: true });
  const plan = file.prepare(`explain query plan ${sql}`).all(...values.map(() => 0)) as { detail: string }[];
  file.close();
  return plan.map(({ detail }) => detail);
}
