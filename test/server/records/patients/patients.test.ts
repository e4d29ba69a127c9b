import { AS_SENT } from "../../../../shared/clinical/units/unit-choice.ts";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Store } from "../../../../server/database/store.ts";
import { patientsOfClinic } from "../../../../server/records/patients/clinic-patients.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { PatientLists } from "../../../../server/records/patients/patient-list.ts";
import { patientOverview, patientResults } from "../../../../server/records/patients/patient-page.ts";
import type { PatientSort } from "../../../../server/dashboard/types/patients.ts";
import { setClinicSettings } from "../../../../server/records/clinics/clinics.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { listPatients } from "../../../../server/records/patients/patients.ts";
import type { PageIndex } from "../../../../server/records/patients/page-index.ts";
import { VersionedCache } from "../../../../server/records/patients/versioned-cache.ts";
import { clinic, connection, connectTo, importEntities, noon, patient, startServer, study } from "../../harness.ts";
import { event, soap } from "../../records.ts";
import { counted } from "../../quiet-clinics.ts";

// The queries of the patients' screens, on both engines.

async function startList(...patients: ReturnType<typeof patient>[]) {
  const [own, other] = [newFp("clinic"), newFp("clinic")];
  const foreign = patient({ name: "Karabaş of others" });
  const server = await startServer(
    [clinic(own), clinic(other), foreign, ...patients],
    patients.map(({ fp }) => connection(fp, own)),
    connection(foreign.fp, other),
  );
  const lists = new PatientLists(server.store);
  const clinicId = (await findClinic(server.store, own))?.id ?? 0;
  const find = async (search: string | null, more: { species?: string; page?: number } = {}) => {
    const found = await lists.find({ clinicId, search, species: null, page: 1, ...more });
    return found.patients.map(({ name }) => name);
  };
  return { ...server, own, clinicId, lists, find };
}

test("a search finds words of the name and of identifiers without case and accents, or a complete fp", async () => {
  const karabas = patient({ name: "KARABAŞ Işık", external_ids: ["792090000124031", "B-0311"] });
  const pamuk = patient({ name: "Pamuk", species: "cat", external_ids: ["10022"] });
  const { find } = await startList(pamuk, karabas);
  for (const search of [null, "", "  "]) expect(await find(search)).toEqual(["KARABAŞ Işık", "Pamuk"]);
  for (const search of ["karabas", "karabaş", "ışık", "ISIK", "isik KARA", "b-0311", "124031", "kara 0311"]) {
    expect([search, await find(search)]).toEqual([search, ["KARABAŞ Işık"]]);
  }
  expect(await find(karabas.fp)).toEqual(["KARABAŞ Işık"]);
  expect(await find(` ${karabas.fp.toLowerCase()} `)).toEqual(["KARABAŞ Işık"]);
  for (const search of ["patient", karabas.fp.slice(0, -1), "%", "_", "'", "karabas pamuk", "\u0000"]) {
    expect([search, await find(search)]).toEqual([search, []]);
  }
  expect(await find(null, { species: "cat" })).toEqual(["Pamuk"]);
  expect(await find("karabas", { species: "cat" })).toEqual([]);
});

test("a search lists the patient with this name or number first, then names that begin so, then by name", async () => {
  const numbers: Record<string, string[]> = { Max: ["9"], Zoe: ["Max-7", "10"] };
  const names = ["10 Numara", "Angel Max", "Max 10", "Max", "Maxi", "Zoe"];
  const patients = names.map((name) => patient({ name, external_ids: numbers[name] ?? [] }));
  const { find } = await startList(...patients);
  expect(await find("MAX")).toEqual(["Max", "Max 10", "Maxi", "Angel Max", "Zoe"]);
  expect(await find("10")).toEqual(["Zoe", "10 Numara", "Max 10"]);
  expect(await find("max-7")).toEqual(["Zoe"]);
  expect(await find(null)).toEqual(["10 Numara", "Angel Max", "Max", "Max 10", "Maxi", "Zoe"]);
});

test("a page holds 50 patients by name, and every patient is on one page", async () => {
  const patients = Array.from({ length: 101 }, (_, index) => patient({ name: `Rex ${1000 + index}` }));
  const { find, lists, clinicId } = await startList(...patients.toReversed());
  const pages = [await find("rex"), await find("rex", { page: 2 }), await find("rex", { page: 3 })];
  expect(pages.map(({ length }) => length)).toEqual([50, 50, 1]);
  expect(pages.flat()).toEqual(patients.map(({ name }) => name));
  expect(await lists.find({ clinicId, search: null, species: null, page: 4 })).toEqual({
    patients: [],
    total: 101,
    page_size: 50,
    letters: [{ letter: "R", page: 1, fp: patients[0]?.fp }],
  });
});

test("names follow the Turkish alphabet, and a long list names the page of each first letter", async () => {
  const alphabet = ["9 Kedi", "10 Kedi", "Ceylan", "Çakır", "Duman", "Irmak", "İnci", "Zeki"];
  const others = Array.from({ length: 60 }, (_, index) => `Maviş ${index}`);
  const patients = [...alphabet, ...others].map((name) => patient({ name }));
  const { store, clinicId, lists, find } = await startList(...patients.toReversed());
  const shown = [...(await find(null)), ...(await find(null, { page: 2 }))];
  expect(shown).toEqual([...alphabet.slice(0, -1), ...others, "Zeki"]);
  const { letters } = await lists.find({ clinicId, search: null, species: null, page: 1 });
  expect(letters.map(({ letter, page }) => `${letter}${page}`)).toEqual([
    "#1",
    "C1",
    "Ç1",
    "D1",
    "I1",
    "İ1",
    "M1",
    "Z2",
  ]);
  expect(letters.at(-1)?.fp).toBe(patients[7]?.fp);
  const turned = await lists.find({ clinicId, search: null, species: null, sort: "-name", page: 2 });
  expect(turned.letters.map(({ letter, page }) => `${letter}${page}`).slice(0, 3)).toEqual(["Z1", "M1", "İ2"]);
  expect((await lists.find({ clinicId, search: "maviş", species: null, page: 1 })).letters).toEqual([]);
  // A clinic that chose English has accents alone, from the next request on.
  await store.transaction((session) => setClinicSettings(session, clinicId, { language: "en", time_zone: null }));
  const english = await lists.find({ clinicId, search: null, species: null, page: 1 });
  expect(english.letters.map(({ letter }) => letter)).toEqual(["#", "C", "D", "I", "M", "Z"]);
  expect(english.patients.slice(2, 4).map(({ name }) => name)).toEqual(["Çakır", "Ceylan"]);
});

test("blanks before a name change neither its place nor the letter that leads to it", async () => {
  const others = Array.from({ length: 60 }, (_, index) => patient({ name: `Maviş ${index}` }));
  const [zeki, ada] = [patient({ name: "  Zeki" }), patient({ name: " Ada" })];
  const { clinicId, lists } = await startList(zeki, ...others, ada);
  const { letters } = await lists.find({ clinicId, search: null, species: null, page: 1 });
  expect(letters.map(({ letter, page, fp }) => [letter, page, fp])).toEqual([
    ["A", 1, ada.fp],
    ["M", 1, others[0]?.fp],
    ["Z", 2, zeki.fp],
  ]);
});

test("the server sorts the whole list by owner or age, and a patient without the value is last both ways", async () => {
  const [old, young, none] = [
    patient({ name: "B", date_of_birth: "2011-02-03" }),
    patient({ name: "C", date_of_birth: "2025-10-09" }),
    patient({ name: "A", date_of_birth: null }),
  ];
  const owner = (of: typeof old, name: string) => {
    return { type: "customer" as const, fp: of.owner_customer_fp, locale: { time_zone: "UTC" }, name };
  };
  const { store, clinicId, lists } = await startList(old, young, none);
  await importEntities(store, owner(old, "Zehra"), owner(young, "Çelik"));
  const names = async (sort: PatientSort) => {
    const { patients } = await lists.find({ clinicId, search: null, species: null, sort, page: 1 });
    return patients.map(({ name }) => name).join("");
  };
  expect([await names("age"), await names("-age")]).toEqual(["CBA", "BCA"]);
  expect([await names("owner"), await names("-owner")]).toEqual(["CBA", "BCA"]);
  expect([await names("name"), await names("-name")]).toEqual(["ABC", "CBA"]);
});

test("requests during an import read one list at a time, and each has the changes before it", async () => {
  const { store, own, clinicId } = await startList();
  let [reading, most, reads] = [0, 0, 0];
  const all: Store["all"] = async (asked, parameters) => {
    if (asked !== (patientsOfClinic as unknown)) return store.all(asked, parameters);
    reading += 1;
    reads += 1;
    most = Math.max(most, reading);
    // Reads of PostgreSQL overlap.
    await setTimeout(50);
    return store.all(asked, parameters).finally(() => (reading -= 1));
  };
  const lists = new PatientLists({
    ...store,
    all,
    versions: (id) => store.versions(id),
    refreshVersions: () => store.refreshVersions(),
  });
  const found: Promise<void>[] = [];
  const IMPORTED = 12;
  for (let count = 1; count <= IMPORTED; count += 1) {
    const each = patient({ name: `Rex ${count}` });
    await importEntities(store, each, connection(each.fp, own));
    for (let request = 0; request < 3; request += 1) {
      found.push(lists.known(clinicId).then((known) => expect(known.length).toBeGreaterThanOrEqual(count)));
    }
  }
  await Promise.all(found);
  expect(most).toBe(1);
  expect(reads).toBeLessThanOrEqual(IMPORTED + 1);
  expect(await lists.known(clinicId)).toHaveLength(IMPORTED);
});

test("the list follows each change of names, identifiers and connections", async () => {
  const rex = patient({ name: "Rex", external_ids: ["1"] });
  const { store, find, own } = await startList(rex);
  expect(await find("rex")).toEqual(["Rex"]);
  await importEntities(store, { ...rex, name: "Max", external_ids: ["2"] });
  expect([await find("rex"), await find("1"), await find("max 2")]).toEqual([[], [], ["Max"]]);
  await importEntities(store, connection(rex.fp, own, false));
  expect(await find(null)).toEqual([]);
});

test("the list shows identifiers in their order and the newest study", async () => {
  const rex = patient({ name: "Rex", external_ids: ["9", "1"], breed: "Kangal" });
  const { store, lists, clinicId } = await startList(rex, patient({ name: "Zoe" }));
  await importEntities(store, ...studies(rex.fp, 3));
  const { patients } = await lists.find({ clinicId, search: null, species: null, page: 1 });
  expect(patients).toMatchObject([
    { fp: rex.fp, breed: "Kangal", identifiers: ["9", "1"], last_study_at: "2026-01-03T00:00:00.000Z" },
    { name: "Zoe", identifiers: [], last_study_at: null },
  ]);
});

function studies(patient_fp: string, count: number): object[] {
  const { dedupe_key: _key, patient_hint: _hint, revision: _revision, source: _source, ...content } = study();
  return Array.from({ length: count }, (_, index) => {
    const acquired_at = new Date(Date.UTC(2026, 0, 1 + index)).toISOString();
    return { type: "study", ...content, fp: newFp("cds"), patient_fp, acquired_at };
  });
}

test("the page shows records of all clinics, but appointments of its own alone", async () => {
  const rex = patient({ name: "Rex" });
  const { store, own, clinicId } = await startList(rex);
  const other = newFp("clinic");
  await importEntities(
    store,
    clinic(other),
    soap(rex.fp, own, { subjective: "Coughs.", assessment: null, created_at: "2026-11-01T09:00:00.000Z" }),
    soap(rex.fp, other, { assessment: "x".repeat(500), created_at: "2026-11-02T09:00:00.000Z" }),
    event(own, { patient_fp: rex.fp, title: "First", start_at: "2026-11-21T09:00:00.000Z" }),
    event(own, { patient_fp: rex.fp, title: "Second", start_at: "2026-11-22T09:00:00.000Z" }),
    event(own, { title: "Of nobody" }),
    event(other, { patient_fp: rex.fp, title: "Elsewhere" }),
  );
  const page = await patientOverview(store, { clinicId, fp: rex.fp, now: noon });
  expect(page?.records.map(({ is_own, summary }) => [is_own, summary])).toEqual([
    [false, "x".repeat(160)],
    [true, "Coughs."],
  ]);
  expect(page?.appointments.map(({ title, start_at }) => [title, start_at])).toEqual([
    ["Second", "2026-11-22T09:00:00.000Z"],
    ["First", "2026-11-21T09:00:00.000Z"],
  ]);
  expect(page?.connection_changes).toEqual([]);
});

test("the newest 24 studies are shown first, and all of them on demand or for one analyte", async () => {
  const rex = patient({ name: "Rex" });
  const { store, clinicId } = await startList(rex);
  await importEntities(store, ...studies(rex.fp, 30));
  const read = async (wanted: { all?: boolean; analyte?: string }) => {
    const results = await patientResults(store, clinicId, rex.fp, {
      all: false,
      analyte: null,
      units: AS_SENT,
      ...wanted,
    });
    return [results?.studies.length, results?.total, results?.studies[0]?.acquired_at];
  };
  expect(await read({})).toEqual([24, 30, "2026-01-30T00:00:00.000Z"]);
  expect(await read({ all: true })).toEqual([30, 30, "2026-01-30T00:00:00.000Z"]);
  expect(await read({ analyte: "GLU" })).toEqual([30, 30, "2026-01-30T00:00:00.000Z"]);
  expect(await read({ analyte: "ALT" })).toEqual([0, 30, undefined]);
});

test("the first pages of a long list cost a count and a read, and a deep page starts at a row near it", async () => {
  const dog = patient();
  const { store, database, clinicId } = await startList(dog);
  const other = await connectTo(database);
  const total = 2050;
  await other.run(`
    insert into patient (fp, name, species, sex, owner_customer_id, created_at, updated_at)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${total - 1})
      select 'patient_' || n, 'A dog', 'dog', 'male', (select min(id) from customer), ${noon}, ${noon} + n from numbers;
    insert into clinic_patient (clinic_id, patient_id, active, listed, patient_fp, patient_species, patient_updated_at)
      select ${clinicId}, id, 1, 1, fp, species, updated_at from patient where name = 'A dog'`);
  await other.close();
  const { count, store: watched } = counted(store);
  const indexes = new VersionedCache<PageIndex>(10);
  const read = async (page: number) => {
    const filter = { clinicId, species: null, updatedSince: null, page, pageSize: 100, version: 1 };
    const before = count.queries;
    const found = await listPatients(watched, indexes, filter);
    expect(found.total).toBe(total);
    return { fps: found.items.map(({ fp }) => fp), queries: count.queries - before };
  };
  const pages = [await read(1), await read(10), await read(11), await read(20), await read(21), await read(22)];
  expect(pages.map(({ fps, queries }) => [fps.length, fps[0], queries])).toEqual([
    [100, "patient_2049", 2],
    [100, "patient_1149", 1],
    [100, "patient_1049", 4],
    [100, "patient_149", 1],
    [50, "patient_49", 1],
    [0, undefined, 1],
  ]);
});
