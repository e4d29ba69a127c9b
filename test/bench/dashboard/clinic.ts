import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../../server/database/open.ts";
import { query } from "../../../server/database/query.ts";
import type { Store } from "../../../server/database/store.ts";
import { importFile } from "../../../server/import/importer.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { contentHash, describeStudy } from "../../../server/records/studies/study-content.ts";
import { insertStudy } from "../../../server/records/studies/studies.ts";
import { insertSession } from "../../../server/records/users/sessions.ts";
import { insertUser, setRole } from "../../../server/records/users/users.ts";
import { type Measurement, resultsOf } from "../../../shared/clinical/results.ts";
import { flaggedPatient, signalmentAt } from "../../../shared/clinical/signalment.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { fpOf } from "../api/data.ts";

// A clinic with many animals and studies over three years, on either database.

export const CLINIC = fpOf("clinic", 1);

export interface Size {
  readonly animals: number;
  readonly studies: number;
}

const DAY_MS = 86_400_000;
const YEARS_MS = 3 * 365 * DAY_MS;
const NAMES = ["Karabaş", "Boncuk", "Pamuk", "Duman", "Max", "Luna", "Şeker", "İnci", "Zeytin", "Paşa"];
const FAMILIES = ["Yılmaz", "Kaya", "Demir", "Öztürk", "Smith", "Çelik", "Şahin", "Arslan", "Doğan", "Jones"];
/** Analytes of a profile, with a value inside every dog's and cat's interval, and the unit. */
const PROFILE = [
  ["ALT", 45, "U/L"],
  ["ALB", 3.4, "g/dL"],
  ["CREA", 1.2, "mg/dL"],
  ["GLU", 95, "mg/dL"],
  ["TP", 6.6, "g/dL"],
  ["K", 4.6, "mmol/L"],
  ["NA", 148, "mmol/L"],
  ["BUN", 20, "mg/dL"],
] as const;
/** Studies of one transaction, and transactions at a time. */
const [AT_ONCE, AT_A_TIME] = [500, 4];

/** Fills the database. @returns the Cookie header of a session of its only user */
export async function fillClinic(place: string, { animals, studies }: Size): Promise<string> {
  const store = await openStore(place);
  try {
    await importAnimals(store, animals);
    const clinic = await store.transaction((session) => findClinic(session, CLINIC));
    if (clinic === undefined) throw new Error("the import made no clinic");
    const ids = new Map((await store.all(patientIds, {})).map(({ fp, id }) => [fp, id]));
    for (let first = 0; first < studies; first += AT_ONCE * AT_A_TIME) {
      const starts = Array.from({ length: AT_A_TIME }, (_, index) => first + index * AT_ONCE);
      await Promise.all(
        starts.map((each) => addStudies(store, { clinicId: clinic.id, ids, animals, studies, first: each })),
      );
    }
    return await signIn(store, clinic.id);
  } finally {
    await store.close();
  }
}

const animalAt = (index: number) => ({
  fp: fpOf("patient", index + 1),
  name: NAMES[index % NAMES.length] ?? "",
  species: index % 100 < 57 ? "dog" : "cat",
  breed: null,
  sex: "male",
  date_of_birth: "2019-04-12",
  weight_kg: 12.5,
  owner_customer_fp: fpOf("customer", Math.floor(index / 2) + 1),
  created_at: "2026-10-01T08:00:00.000Z",
  updated_at: "2026-10-01T08:00:00.000Z",
});

async function importAnimals(store: Store, animals: number): Promise<void> {
  const lines: object[] = [{ type: "clinic", fp: CLINIC, name: "Bench clinic" }];
  for (let index = 0; index < animals; index += 1) {
    const { fp, owner_customer_fp } = animalAt(index);
    if (index % 2 === 0) lines.push({ type: "customer", fp: owner_customer_fp, name: ownerAt(index), phone: null });
    lines.push({ type: "patient", ...animalAt(index), external_ids: [String(100_000 + index)] });
    lines.push({ type: "connection", patient_fp: fp, clinic_fp: CLINIC, active: true });
  }
  const file = join(temporaryFolder(), "clinic.ndjson");
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  await importFile(store, file, () => undefined);
}

function ownerAt(index: number): string {
  return `${NAMES[(index * 7) % NAMES.length]} ${FAMILIES[Math.floor(index / 3) % FAMILIES.length]}`;
}

/** Every 20th study has a value outside, every 100th a critical one, and every 200th no animal. The newest come last. */
async function addStudies(
  store: Store,
  {
    clinicId,
    ids,
    animals,
    studies,
    first,
  }: Size & { clinicId: number; ids: ReadonlyMap<string, number>; first: number },
): Promise<void> {
  const start = Date.now() - YEARS_MS;
  await store.transaction(async (session) => {
    for (let index = first; index < Math.min(first + AT_ONCE, studies); index += 1) {
      const animal = animalAt((index * 7919) % animals);
      const isUnplaced = index % 200 === 0;
      const acquired_at = new Date(start + ((index + 1) / studies) * YEARS_MS).toISOString();
      const instrument = `Analyzer ${index % 3}`;
      const signalment = isUnplaced ? null : signalmentAt(animal, acquired_at);
      const measurements = measurementsOf(index);
      const { results, snapshot } = resultsOf(measurements, { signalment, instrument, acquired_at, ranges: null });
      const fp = fpOf("cds", index + 1);
      const study = {
        fp,
        modality: "BIOCHEMISTRY",
        device_name: instrument,
        status: "COMPLETED",
        acquired_at,
        results,
      } as const;
      const claimed = isUnplaced ? null : animal.fp;
      const source = { device_id: `a${index % 3}`, message_id: String(index), sample_ids: [`S${index}`] };
      const hint = { ...NO_HINT, name: animal.name, identifier: String(index) };
      await insertStudy(session, {
        ...describeStudy(study),
        ...{ fp, clinic_id: clinicId, patient_id: isUnplaced ? null : (ids.get(animal.fp) ?? null) },
        ...{ claimed_patient_fp: claimed, unmatched_reason: isUnplaced ? UNPLACED : null, revision: 1, dedupe_key: fp },
        content_hash: contentHash({ ...study, patient_fp: claimed }, fp, source.device_id),
        ...{ source: JSON.stringify(source), patient_hint: JSON.stringify(hint) },
        snapshot: JSON.stringify({ ...snapshot, animal: isUnplaced ? null : flaggedPatient(animal) }),
        ...{ received_at: Date.parse(acquired_at), pushed_revision: 1, cause: "pushed", placed_by_user: 0 },
        rejected_reason: null,
      });
    }
  });
}

const UNPLACED = JSON.stringify({ code: "NO.IDENTIFIER", values: [] });
const NO_HINT = {
  ...{ identifier: null, name: null, species: null, breed: null, sex: null, owner: null },
  ...{ date_of_birth: null, weight_kg: null },
};

function measurementsOf(index: number): Measurement[] {
  return PROFILE.map(([code, usual, unit], row) => {
    const isOutside = index % 20 === row;
    const factor = code === "K" && index % 100 === 5 ? 0.4 : isOutside ? 3 : 1 + ((index % 9) - 4) / 100;
    const value = Number((usual * factor).toFixed(1));
    return { code, value, text: String(value), unit, ...PLAIN };
  });
}

const PLAIN = { comparator: null, ordinal: false, device_range: null, device_flag: null } as const;

const patientIds = query((db, _p: object) => db.selectFrom("patient").select(["id", "fp"]));

async function signIn(store: Store, clinicId: number): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const digest = createHash("sha256").update(token).digest("hex");
  await store.transaction(async (session) => {
    const user = await insertUser(session, { name: "vet", password: "none", now: Date.now() });
    if (user === undefined) throw new Error("the name vet is taken");
    await setRole(session, user.id, clinicId, "admin");
    const ends = { now: Date.now(), expiresAt: Date.now() + DAY_MS };
    await insertSession(session, { digest, userId: user.id, ...ends, address: "127.0.0.1", browser: "a bench" });
  });
  return `vetwire=${token}`;
}
