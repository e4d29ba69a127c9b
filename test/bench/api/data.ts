import path from "node:path";
import type { Database } from "better-sqlite3";
import type * as open from "../../../server/database/open.ts";
import type * as sqlite from "../../../server/database/sqlite.ts";
import { fromBuild } from "../build.ts";

// Generates a database with many patients. It writes the tables directly, since an import of millions of lines takes too long.

/** Percentage of dogs: 57 000 of 100 000 patients. */
const DOGS_PERCENT = 57;

const FIRST_UPDATE = Date.parse("2024-01-01T00:00:00.000Z");
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export function fpOf(prefix: string, number: number): string {
  return `${prefix}_01K9BENCH${String(number).padStart(17, "0")}`;
}

/** Events of the clinic, the last one of which has this version, id and time. */
export const EVENTS = 1_000_000;

/** Studies of the clinic: number n was measured and filed n minutes after FIRST_UPDATE. */
export const STUDIES = 1_000_000;
/** Appointments of the clinic, of which DAILY begin each day, and its items. */
export const APPOINTMENTS = 200_000;
export const DAILY = 200;
export const ITEMS = 100_000;

/** The time of the study with that number, in ms since 1970. */
export function studyTime(number: number): number {
  return FIRST_UPDATE + number * MINUTE_MS;
}

/** The start of a day, the first of which is 0. */
export function dayOf(day: number): string {
  return new Date(FIRST_UPDATE + day * DAY_MS).toISOString();
}

export function itemName(number: number): string {
  return `Item ${String(number).padStart(6, "0")}`;
}

const RESULTS = JSON.stringify([{ analyte: "ALT", value: 42, unit: "U/L", reference_range: "10-118", flag: "normal" }]);

/** The statements that count from 1 to a number, as the table `numbers` with the column `n`. */
const counted = (last: number) =>
  `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${last})`;

const fpColumn = (prefix: string) => `'${prefix}_01K9BENCH' || printf('%017d', n)`;

function insertLists(db: Database): void {
  db.exec(
    `insert into study (id, fp, clinic_id, patient_id, modality, device_name, status, acquired_at, results, revision, content_hash, received_at)
     ${counted(STUDIES)} select n, ${fpColumn("cds")}, 1, 1 + n % 1000, 'BIOCHEMISTRY', 'chem-1', 'COMPLETED',
       ${FIRST_UPDATE} + n * ${MINUTE_MS}, '${RESULTS}', 1, '', ${FIRST_UPDATE} + n * ${MINUTE_MS} from numbers;
     insert into clinic_study (clinic_id, study_id, changed_at)
     ${counted(STUDIES)} select 1, n, ${FIRST_UPDATE} + n * ${MINUTE_MS} from numbers;
     insert into calendar_event (id, fp, clinic_id, title, type, status, start_at, end_at, patient_id)
     ${counted(APPOINTMENTS)} select n, ${fpColumn("calevt")}, 1, 'Check-up', 'CHECKUP', 'SCHEDULED',
       ${FIRST_UPDATE} + n / ${DAILY} * ${DAY_MS} + n % ${DAILY} * ${MINUTE_MS},
       ${FIRST_UPDATE} + n / ${DAILY} * ${DAY_MS} + (n % ${DAILY} + 15) * ${MINUTE_MS}, 1 + n % 1000 from numbers;
     insert into inventory_item (id, fp, clinic_id, name, category, unit, quantity_on_hand, low_stock_threshold, unit_price_cents, currency, is_virtual)
     ${counted(ITEMS)} select n, ${fpColumn("invitem")}, 1, printf('Item %06d', n), 'Drugs', 'box', 10, 2, 500, 'EUR', 0 from numbers;`,
  );
}

/** Creates the database of a data folder, with the patients, the events and the lists of one clinic. */
export async function fill(folder: string, patients: number): Promise<void> {
  const { openStore } = await fromBuild<typeof open>("server/database/open.ts");
  const { connect } = await fromBuild<typeof sqlite>("server/database/sqlite.ts");
  await (await openStore(folder)).close();
  const db = connect(path.join(folder, "vetwire.db"), 1000);
  db.pragma("synchronous = OFF");
  db.transaction(() => insertClinic(db, patients))();
  db.exec(
    `insert into clinic_event (id, clinic_id, version, kind, fp, change, at)
     with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${EVENTS})
     select n, 1, n, case when n % 2 = 0 then 'study' else 'patient' end,
       case when n % 2 = 0 then '${fpOf("cds", 1)}' else '${fpOf("patient", 1)}' end, 'changed', n from numbers;
     update clinic set version = ${EVENTS};`,
  );
  insertLists(db);
  db.pragma("wal_checkpoint(truncate)");
  db.close();
}

function insertClinic(db: Database, patients: number): void {
  db.prepare("insert into clinic (id, fp, name) values (1, ?, 'Bench clinic')").run(fpOf("clinic", 1));
  db.prepare("insert into customer (id, fp) values (1, ?)").run(fpOf("customer", 1));
  const patient = db.prepare(
    `insert into patient (id, fp, name, species, breed, sex, date_of_birth, weight_kg, owner_customer_id, created_at, updated_at)
     values (@id, @fp, 'Karabaş', @species, 'Kangal', 'male', '2019-04-12', 12.5, 1, @updatedAt, @updatedAt)`,
  );
  const connection = db.prepare(
    `insert into clinic_patient (clinic_id, patient_id, active, listed, patient_fp, patient_species, patient_updated_at)
     values (1, @id, 1, 1, @fp, @species, @updatedAt)`,
  );
  for (let id = 1; id <= patients; id += 1) {
    const species = id % 100 < DOGS_PERCENT ? "dog" : "cat";
    const row = { id, fp: fpOf("patient", id), species, updatedAt: FIRST_UPDATE + id * MINUTE_MS };
    patient.run(row);
    connection.run(row);
  }
}
