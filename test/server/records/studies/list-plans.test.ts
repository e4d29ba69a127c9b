import { expect, test } from "vitest";
import { BEGINNING, ofEveryPatient } from "../../../../server/records/results/study-list.ts";
import { planOf } from "../../query-plan.ts";

// Goal: a page of studies costs the same in a clinic of any size.

const CLINICS = 20;
const PATIENTS = 2000;

const FILL = `
  insert into customer (id, fp) values (1, 'customer_1');
  insert into clinic (id, fp, name)
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${CLINICS})
  select n, 'clinic_' || n, '' from numbers;
  insert into patient (id, fp, name, species, owner_customer_id, created_at, updated_at)
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${PATIENTS})
  select n, 'patient_' || n, '', 'dog', 1, 0, 0 from numbers;
  insert into clinic_patient (clinic_id, patient_id, active, listed, patient_fp, patient_species, patient_updated_at)
  select 1 + id % ${CLINICS}, id, 1, 1, fp, species, 0 from patient;
  insert into study (id, fp, clinic_id, patient_id, modality, device_name, status, acquired_at, results, revision, content_hash,
    received_at)
  with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < 4)
  select patient_id + n * ${PATIENTS}, 'cds_' || (patient_id + n * ${PATIENTS}), clinic_id, patient_id, 'CHEMISTRY', 'Device',
    'COMPLETED', patient_id + n * ${PATIENTS}, '[]', 1, '', 0
  from clinic_patient cross join numbers;
  insert into clinic_study (clinic_id, study_id, changed_at) select clinic_id, id, acquired_at from study;
  analyze;`;

test("a page reads its own studies and their patients alone, each by its key", async () => {
  const page = { clinicId: 1, patientFp: "", updatedSince: 0, ...BEGINNING, limit: 20, offset: 0 };
  const plan = await planOf(FILL, ofEveryPatient.page, page);
  expect(plan).toMatch(
    /clinic_study_by_change on clinic_study  .*\n.*ROW|SEARCH clinic_study USING .*clinic_study_by_change/,
  );
  expect(plan).toMatch(/study_pkey on study |SEARCH study USING INTEGER PRIMARY KEY/);
  expect(plan).toMatch(/Index Cond: \(patient_id = study.patient_id\)|SEARCH clinic_patient USING .*patient_id=\?/);
  // With a plan that knows the clinic, PostgreSQL may read all patients of the clinic for one page: 60 ms for 200 000 of them.
  expect(plan).not.toMatch(/on clinic_patient .*\n.*\n? *.*clinic_id = \$/);
});
