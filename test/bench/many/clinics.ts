import { Client } from "pg";
import type * as keys from "../../../server/http/auth/api-keys.ts";
import type * as pepper from "../../../server/http/auth/pepper.ts";
import type * as open from "../../../server/database/open.ts";
import type * as newKeys from "../../../shared/runtime/api-key.ts";
import { fpOf } from "../api/data.ts";
import { fromBuild } from "../build.ts";

// Clinics of one size on PostgreSQL. The number in an id names its clinic, so that a record in an answer of another one is found.
// The tables are written directly, since an import of so many lines takes too long.

export const SIZE = { patient: 20, cds: 50, calevt: 10, invitem: 10 } as const;
export type Kind = keyof typeof SIZE;

/** Ids of a clinic. */
const NUMBERS = 1000;
/** An id, wherever it is in a text. */
const ID = /([a-z]+)_01K9BENCH(\d{17})/g;

const FIRST_DAY = Date.parse("2026-01-01T00:00:00.000Z");
const HOUR_MS = 3_600_000;
/** Days that hold the appointments of a clinic. */
export const DAYS = "start_date=2026-01-01&end_date=2026-01-31";
export const DEVICE = "chem-1";
const PERMISSIONS = ["patient.view", "calendar.view", "inventory.view", "lab.view", "lab.ingest", "sync.write"];
const RESULTS = JSON.stringify([{ analyte: "ALT", value: 42, unit: "U/L", reference_range: "10-118", flag: "normal" }]);

/** @param index number of the record in its clinic, from 0 */
export function idOf(kind: Kind, clinic: number, index: number): string {
  return fpOf(kind, clinic * NUMBERS + index);
}

/** The records that a text names, and the clinics that it names. */
export function namedIn(text: string): { readonly ids: ReadonlySet<string>; readonly clinics: ReadonlySet<number> } {
  const found = [...text.matchAll(ID)];
  return {
    ids: new Set(found.map(([id]) => id)),
    clinics: new Set(found.map(([, , number]) => Math.floor(Number(number) / NUMBERS))),
  };
}

/** Fills an empty database. @returns the key of each clinic, the first of which is clinic 1 */
export async function fillClinics(url: string, folder: string, clinics: number): Promise<readonly string[]> {
  const { openStore } = await fromBuild<typeof open>("server/database/open.ts");
  const { loadPepper } = await fromBuild<typeof pepper>("server/http/auth/pepper.ts");
  const { digest } = await fromBuild<typeof keys>("server/http/auth/api-keys.ts");
  const { newKey } = await fromBuild<typeof newKeys>("shared/runtime/api-key.ts");
  await (await openStore(url)).close();
  const secret = loadPepper(folder, false);
  const made = Array.from({ length: clinics }, () => newKey());
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(recordsOf(clinics));
    await client.query(
      // The keys are in use: only the very first use of a key is stored before its response.
      `insert into api_key (public_id, clinic_id, name, type, permissions, digest, prefix, last_four, created_at, last_used_at)
       select 'key' || n, n, 'bench', 'device', $1, digest, '', '', 0, 0 from unnest($2::text[]) with ordinality as made (digest, n)`,
      [JSON.stringify(PERMISSIONS.map((name) => `clinic.${name}`)), made.map((key) => digest(secret, key))],
    );
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
  return made;
}

/** The statements that insert all records. The ids of the tables count from 1, in the order of the clinics. */
function recordsOf(clinics: number): string {
  const fp = (prefix: string, index = "k") =>
    `'${prefix}_01K9BENCH' || lpad((c * ${NUMBERS} + ${index})::text, 17, '0')`;
  const each = (count: number) =>
    `from generate_series(1, ${clinics}) c, generate_series(0, ${count - 1}) k order by c, k`;
  const animal = `(c - 1) * ${SIZE.patient} + k % ${SIZE.patient} + 1`;
  const at = `${FIRST_DAY} + (k + 1) * ${HOUR_MS}`;
  return `
    insert into clinic (fp, name) select ${fp("clinic", "0")}, ${fp("clinic", "0")} from generate_series(1, ${clinics}) c order by c;
    insert into customer (fp, name) select ${fp("customer", "0")}, ${fp("customer", "0")}
      from generate_series(1, ${clinics}) c order by c;
    insert into patient (fp, name, species, breed, sex, date_of_birth, weight_kg, owner_customer_id, created_at, updated_at)
      select ${fp("patient")}, 'Karabaş ' || ${fp("patient")}, 'dog', 'Kangal', 'male', '2019-04-12', 12.5, c, ${at}, ${at}
      ${each(SIZE.patient)};
    insert into clinic_patient (clinic_id, patient_id, active, listed, patient_fp, patient_species, patient_updated_at)
      select c, ${animal}, 1, 1, ${fp("patient")}, 'dog', ${at} ${each(SIZE.patient)};
    insert into study (fp, clinic_id, patient_id, claimed_patient_fp, modality, device_name, status, acquired_at, results, revision,
        pushed_revision, content_hash, source, received_at)
      select ${fp("cds")}, c, ${animal}, ${fp("patient", `k % ${SIZE.patient}`)}, 'BIOCHEMISTRY', 'Analyzer ' || ${fp("clinic", "0")},
        'COMPLETED', ${at}, '${RESULTS}', 1, 1, '', '{"device_id":"${DEVICE}"}', ${at} ${each(SIZE.cds)};
    insert into clinic_study (clinic_id, study_id, changed_at)
      select c, (c - 1) * ${SIZE.cds} + k + 1, ${at} ${each(SIZE.cds)};
    insert into calendar_event (fp, clinic_id, title, type, status, start_at, end_at, patient_id)
      select ${fp("calevt")}, c, 'Check-up of ' || ${fp("patient")}, 'CHECKUP', 'SCHEDULED', ${at}, ${at} + ${HOUR_MS}, ${animal}
      ${each(SIZE.calevt)};
    insert into inventory_item (fp, clinic_id, name, category, unit, quantity_on_hand, low_stock_threshold, unit_price_cents,
        currency, is_virtual)
      select ${fp("invitem")}, c, 'Item ' || ${fp("invitem")}, 'MEDICATION', 'box', 10, 2, 500, 'EUR', 0 ${each(SIZE.invitem)};`;
}
