import path from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { dog } from "../../support/runner/fixtures.ts";
import { type FilingClinic, useFilingClinic } from "../../support/clinic/filing-clinic.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

let clinic: FilingClinic;
useFilingClinic((created) => (clinic = created));

test("the first study of an own profile waits for a person, who places it, and the next one files by itself", async () => {
  await clinic.know(dog);
  const profile = { ...astmDevice("generic-astm"), id: "own/acme-x1@3" };
  clinic.devices.set("own-1", { profile, timeZone: "UTC", model: null });
  const send = async (time: string) => {
    const records = ["H|\\^&|||Acme", `P|1|${dog.fp}`, "O|1|||^^^Panel", `R|1|^^^ALT|80|U/L||||F||||${time}`, "L|1|N"];
    await clinic.receive("own-1", records);
    return (await clinic.push()).at(-1)!;
  };
  const first = await send("20260101090000");
  expect([first.body.patient_fp, first.body.unmatched]).toEqual([
    null,
    { code: "MATCH.UNCONFIRMED_PROFILE", values: ["own/acme-x1@3", dog.fp] },
  ]);
  expect((await send("20260101100000")).body.patient_fp).toBeNull();
  await clinic.placed(first.fp);
  expect((await send("20260101110000")).body.patient_fp).toBe(dog.fp);
  // A year of the other devices, and a row that a fault of the disk damaged.
  const db = new Database(path.join(clinic.folder, "spool.db"));
  db.exec(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2000)
    INSERT INTO study (fp, revision, dedupe_key, patient_fp, body, snapshot, state, created_at)
    SELECT 'cds_' || n, 1, 'other ' || n, NULL, CASE n WHEN 7 THEN '{"profile":"own/' ELSE '{}' END, '{}', 'filed', 1 FROM n`);
  db.close();
  expect((await send("20260101113000")).body.patient_fp).toBe(dog.fp);
  clinic.devices.set("own-1", { profile: { ...profile, id: "own/acme-x1@4" }, timeZone: "UTC", model: null });
  expect((await send("20260101120000")).body.patient_fp).toBeNull();
});
