import { expect, test } from "vitest";
import { studyTimes } from "../../../../server/records/agents/devices.ts";
import { unseen } from "../../../../server/records/follow-up/lists.ts";
import { critical, criticalByFp, unmatched } from "../../../../server/records/alerts/today.ts";
import { unmatchedOfAll } from "../../../../server/records/alerts/watched-clinics.ts";
import { planOf } from "../../query-plan.ts";

// The alerts of each clinic are computed every 30 s. Their queries must not read the studies of years.

const STUDIES = 3000;

/** Each hundredth study is critical, half have no patient, and a few of them wait for one. The others are rejected. */
const FILL = `
  insert into clinic (id, fp, name) values (1, 'clinic_1', '');
  insert into customer (id, fp) values (1, 'customer_1');
  insert into patient (id, fp, name, species, owner_customer_id, created_at, updated_at)
    values (1, 'patient_1', '', 'dog', 1, 0, 0);
  insert into clinic_patient (clinic_id, patient_id, active, listed, patient_fp, patient_species, patient_updated_at)
    values (1, 1, 1, 1, 'patient_1', 'dog', 0);
  insert into study (fp, clinic_id, patient_id, modality, device_name, status, acquired_at, results, revision, content_hash,
    source, received_at, severity, rejected_reason)
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${STUDIES})
  select 'cds_' || n, 1, case when n % 2 = 0 then null else 1 end, 'CHEMISTRY', 'Device', 'COMPLETED', n, '[]', 1, '',
    '{"device_id":"chem-1"}', n, case when n % 100 = 0 then 2 else 0 end,
    case when n % 2 = 0 and n % 500 <> 0 then 'lost' end
  from numbers;
  analyze;`;

test("the critical studies of two days are read from an index of critical ones", async () => {
  const plan = await planOf(FILL, critical, { clinicId: 1, since: STUDIES / 2 });
  expect(plan).toContain("study_critical");
  expect(plan).not.toMatch(/SCAN study\b(?! USING)|Seq Scan on study\b/);
});

test("a critical study of an open alert is found by its fp", async () => {
  expect(await planOf(FILL, criticalByFp, { clinicId: 1, fp: "cds_100" })).toMatch(
    /sqlite_autoindex_study_1|study_fp_key/,
  );
});

test("unmatched studies are counted in an index of their own", async () => {
  const plan = await planOf(FILL, unmatched, { clinicId: 1 });
  expect(plan).toMatch(
    /USING (COVERING )?INDEX study_to_place|(Index Only|Index|Bitmap Index) Scan (using|on) study_to_place/,
  );
});

test("the unmatched studies of all clinics are counted in that index, too", async () => {
  const plan = await planOf(FILL, unmatchedOfAll, {});
  expect(plan).toContain("study_to_place");
});

test("the rhythm of the devices is read from the end of an index, which on SQLite holds the columns", async () => {
  const plan = await planOf(FILL, studyTimes, { clinicId: 1, since: 0, now: STUDIES });
  expect(plan).toMatch(/USING COVERING INDEX study_times|Index Scan Backward using study_of_clinic/);
  expect(plan).not.toMatch(/TEMP B-TREE|Sort/);
});

test("what nobody saw for a day is read from the clinic's abnormal studies of the last days", async () => {
  const days = { since: STUDIES / 2, until: STUDIES, criticalSince: STUDIES };
  const plan = await planOf(FILL, unseen, { clinicId: 1, ...days });
  expect(plan).toContain("study_abnormal");
  expect(plan).not.toMatch(/SCAN (study|seen|follow_up)\b(?! USING)|Seq Scan on study\b/);
});
