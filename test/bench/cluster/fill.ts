import type { Client } from "pg";
import { fpOf } from "../api/data.ts";

// Generates studies in PostgreSQL by SQL, since an import of tens of millions of lines takes hours.

export interface ClusterSize {
  readonly clinics: number;
  readonly patients: number;
  readonly studies: number;
}

/** Study of the first clinic out of this many: one large clinic among small ones. */
export const FIRST_CLINIC_SHARE = 50;
/** Studies that one statement inserts. */
const BATCH = 1_000_000;
const FIRST_AT = Date.parse("2024-01-01T00:00:00.000Z");
const SPAN_MS = Date.parse("2026-11-01T00:00:00.000Z") - FIRST_AT;

const RESULTS = JSON.stringify([
  { analyte: "ALT", flag: "high", reference_range: "10-118", unit: "U/L", value: 143 },
  { analyte: "CREA", flag: "normal", reference_range: "0.3-1.4", unit: "mg/dL", value: 1.4 },
]);

/** The fp of a number as SQL; that of `fpOf`. */
function fpSql(prefix: string, number: string): string {
  const head = fpOf(prefix, 0).slice(0, -17);
  return `'${head}' || lpad((${number})::text, 17, '0')`;
}

/** Clinic of patient p: the first clinic has one patient in 50, the others share the rest. */
function clinicSql(patient: string, clinics: number): string {
  return `(case when ${patient} % ${FIRST_CLINIC_SHARE} = 0 then 1 else 2 + ${patient} % ${clinics - 1} end)`;
}

/** Fills an empty migrated database. Indexes are made once the rows are there. `tell` hears of each step. */
export async function fillCluster(client: Client, size: ClusterSize, tell: (step: string) => void): Promise<void> {
  const { clinics, patients, studies } = size;
  // A generated row needs no trigger and no check of its keys.
  await client.query(
    "set session_replication_role = replica; set synchronous_commit = off; set maintenance_work_mem = '512MB'",
  );
  const { rows } = await client.query(
    `select indexname, indexdef from pg_indexes where tablename in ('study', 'clinic_study', 'clinic_patient')
     and indexname not in (select conname from pg_constraint)`,
  );
  const indexes = rows as { indexname: string; indexdef: string }[];
  for (const { indexname } of indexes) await client.query(`drop index ${indexname}`);
  await client.query(`
    insert into clinic (id, fp, name) select n, ${fpSql("clinic", "n")}, 'Bench clinic' from generate_series(1, ${clinics}) n;
    insert into customer (id, fp) values (1, ${fpSql("customer", "1")});
    insert into patient (id, fp, name, species, breed, sex, date_of_birth, weight_kg, owner_customer_id, created_at, updated_at)
      select n, ${fpSql("patient", "n")}, 'Karabas', case when n % 100 < 57 then 'dog' else 'cat' end, 'Kangal', 'male',
        '2019-04-12', 12.5, 1, ${FIRST_AT}, ${FIRST_AT} + n from generate_series(1, ${patients}) n;
    insert into clinic_patient (clinic_id, patient_id, active, listed, patient_fp, patient_species, patient_updated_at)
      select ${clinicSql("id", clinics)}, id, 1, 1, fp, species, updated_at from patient;
  `);
  tell(`${patients} patients`);
  for (let from = 1; from <= studies; from += BATCH) {
    const to = Math.min(from + BATCH - 1, studies);
    const at = `${FIRST_AT} + (n * ${Math.floor(SPAN_MS / studies)}::bigint)`;
    await client.query(`
      insert into study (id, fp, clinic_id, patient_id, modality, device_name, status, acquired_at, results, revision,
          dedupe_key, content_hash, source, received_at)
        select n, ${fpSql("cds", "n")}, ${clinicSql(`(n % ${patients} + 1)`, clinics)}, n % ${patients} + 1, 'BIOCHEMISTRY',
          'Abaxis VetScan VS2', 'COMPLETED', ${at}, '${RESULTS}', 1, 'chem-1:' || n, md5(n::text),
          '{"device_id":"chem-1","message_id":"1"}', ${at} from generate_series(${from}::bigint, ${to}) n;
      insert into clinic_study (clinic_id, study_id, changed_at)
        select ${clinicSql(`(n % ${patients} + 1)`, clinics)}, n, ${at} from generate_series(${from}::bigint, ${to}) n;
    `);
    tell(`${to} studies`);
  }
  // The triggers that note changes of the counts did not run.
  await client.query(
    "insert into clinic_study_count (clinic_id, studies) select clinic_id, count(*) from clinic_study group by clinic_id",
  );
  for (const { indexname, indexdef } of indexes) {
    await client.query(indexdef);
    tell(`index ${indexname}`);
  }
  for (const table of ["clinic", "customer", "patient", "study"]) {
    await client.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`);
  }
  await client.query("reset session_replication_role");
  await client.query("vacuum analyze");
  tell("analyzed");
}
