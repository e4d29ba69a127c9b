import path from "node:path";
import type { Database } from "better-sqlite3";
import type * as open from "../../../server/store/database/open.ts";
import type * as sqlite from "../../../server/store/database/sqlite.ts";
import { fromBuild } from "../build.ts";

// Generates a database with many patients. It writes the tables directly, since an import of millions of lines takes too long.

export interface Size {
  readonly clinics: number;
  readonly patients: number;
  readonly studies: number;
}

/** Percentage of dogs: 57 000 of 100 000 patients. */
const DOGS_PERCENT = 57;

const FIRST_UPDATE = Date.parse("2024-01-01T00:00:00.000Z");
const MINUTE_MS = 60_000;

/** Result of a chemistry analyzer in the server's storage format. */
const RESULTS = JSON.stringify([
  { analyte: "ALT", flag: "high", reference_range: "10-118", unit: "U/L", value: 143 },
  { analyte: "CREA", flag: "normal", reference_range: "0.3-1.4", unit: "mg/dL", value: 1.4 },
]);

export function fpOf(prefix: string, number: number): string {
  return `${prefix}_01K9BENCH${String(number).padStart(17, "0")}`;
}

/** Creates the database of a data folder, with patients spread evenly over clinics and studies evenly over patients. */
export async function fill(folder: string, size: Size): Promise<void> {
  const { openStore } = await fromBuild<typeof open>("server/store/database/open.ts");
  const { connect } = await fromBuild<typeof sqlite>("server/store/database/sqlite.ts");
  await (await openStore(folder)).close();
  const db = connect(path.join(folder, "vetwire.db"), 1000);
  db.pragma("synchronous = OFF");
  db.transaction(() => {
    insertClinics(db, size);
    insertPatients(db, size);
    insertStudies(db, size);
  })();
  db.pragma("wal_checkpoint(truncate)");
  db.close();
}

function insertClinics(db: Database, { clinics }: Size): void {
  const clinic = db.prepare("insert into clinic (id, fp, name) values (?, ?, 'Bench clinic')");
  for (let id = 1; id <= clinics; id += 1) clinic.run(id, fpOf("clinic", id));
  db.prepare("insert into customer (id, fp) values (1, ?)").run(fpOf("customer", 1));
}

function insertPatients(db: Database, { clinics, patients }: Size): void {
  const patient = db.prepare(
    `insert into patient (id, fp, name, species, breed, sex, date_of_birth, weight_kg, owner_customer_id, created_at, updated_at)
     values (@id, @fp, 'Karabaş', @species, 'Kangal', 'male', '2019-04-12', 12.5, 1, @updatedAt, @updatedAt)`,
  );
  const connection = db.prepare(
    `insert into clinic_patient (clinic_id, patient_id, active, listed, patient_fp, patient_species, patient_updated_at)
     values (@clinicId, @id, 1, 1, @fp, @species, @updatedAt)`,
  );
  for (let id = 1; id <= patients; id += 1) {
    const species = id % 100 < DOGS_PERCENT ? "dog" : "cat";
    const row = { id, fp: fpOf("patient", id), species, updatedAt: FIRST_UPDATE + id * MINUTE_MS };
    patient.run(row);
    connection.run({ ...row, clinicId: (id % clinics) + 1 });
  }
}

function insertStudies(db: Database, { patients, studies }: Size): void {
  const study = db.prepare(
    `insert into study (fp, patient_id, modality, device_name, status, acquired_at, results, revision, content_hash, received_at)
     values (?, ?, 'BIOCHEMISTRY', 'Abaxis VetScan VS2', 'COMPLETED', ?, ?, 1, '', ?)`,
  );
  for (let number = 1; number <= studies; number += 1) {
    const at = FIRST_UPDATE + number * MINUTE_MS;
    study.run(fpOf("cds", number), (number % patients) + 1, at, RESULTS, at);
  }
}
