import { expect, onTestFinished, test } from "vitest";
import { PatientLists } from "../../../server/store/dashboard/patient-list.ts";
import { findClinic } from "../../../server/store/keys.ts";
import { editSoap } from "../../../server/store/soap.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, connectTo, importEntities, noon, patient, startServer } from "../harness.ts";
import { soap } from "../records.ts";

// Goal: patients, their identifiers and SOAP records that the disk changed are refused and said, never served, and an import
// repairs what it may. A changed species would flag results against the wrong one, a changed number would file them to another
// animal.

async function startWithRecords() {
  const ours = newFp("clinic");
  const [dog, cat] = [patient({ external_ids: ["5000", "5001"] }), patient({ species: "cat", external_ids: ["6000"] })];
  const [draft, signed] = [
    soap(dog.fp, ours, { status: "DRAFT", signed_at: null, plan: "Rest." }),
    soap(dog.fp, ours, { status: "LOCKED", signed_at: "2026-11-20T10:00:00.000Z", plan: "10 mg a day." }),
  ];
  const entities = [clinic(ours), dog, cat, connection(dog.fp, ours), connection(cat.fp, ours), draft, signed];
  const server = await startServer(...entities);
  const key = await server.makeKey(ours, ["clinic.patient.view", "clinic.soap.view", "clinic.lab.ingest"]);
  const database = await connectTo(server.database);
  onTestFinished(() => database.close());

  /** Changes columns of a row as a disk would: its checksum stays. */
  async function damage(table: "patient" | "soap", { fp }: { fp: string }, change: string) {
    await database.run(`update ${table} set ${change}, checksum = checksum + 1 where fp = '${fp}'`);
    await database.run(`update ${table} set checksum = checksum - 1 where fp = '${fp}'`);
  }
  // A new URL each time: the cache of responses holds what was right when it was read.
  let reads = 0;
  const read = async (path: string) => {
    const { status, body } = await server.get(key, `${path}?read=${(reads += 1)}`);
    return { status, body: body as { data?: { items: { fp: string }[] }; error?: { code: string } } };
  };
  const patientAt = ({ fp }: { fp: string }) => read(`/api/v1/patients/${fp}`);
  const soapAt = ({ fp }: { fp: string }) => read(`/api/v1/soap/${fp}`);
  return { server, key, database, entities, ours, dog, cat, draft, signed, damage, read, patientAt, soapAt };
}

test("a damaged patient is refused, left out of lists and said, and an import repairs it", async () => {
  const { server, dog, cat, entities, damage, read, patientAt } = await startWithRecords();
  const before = (await patientAt(dog)).body;
  await damage("patient", dog, "species = 'cat'");
  const refused = await patientAt(dog);
  expect([refused.status, refused.body.error?.code]).toEqual([500, "RECORD.DAMAGED"]);
  expect((await read("/api/v1/patients")).body.data?.items.map(({ fp }) => fp)).toEqual([cat.fp]);
  expect(server.log.filter((line) => line.includes('"damaged":1'))).toEqual([
    expect.stringContaining(`the stored patient ${dog.fp} is damaged`),
  ]);
  await importEntities(server.store, ...entities);
  // Its stamp is new, so that every clinic that saw it reads it again.
  const { data } = (await patientAt(dog)).body;
  expect(data).toEqual({ ...before.data, updated_at: new Date(noon).toISOString() });
});

test("each column of a patient that is served is covered", async () => {
  const { dog, damage, patientAt, entities, server } = await startWithRecords();
  const changes = ["name = 'X'", "breed = 'X'", "sex = 'female'", "date_of_birth = '2001-01-01'", "weight_kg = 99"];
  for (const change of [...changes, "created_at = created_at + 1", "deleted_at = null, name = 'X'"]) {
    await damage("patient", dog, change);
    expect([change, (await patientAt(dog)).status]).toEqual([change, 500]);
    await importEntities(server.store, ...entities);
    expect([change, (await patientAt(dog)).status]).toEqual([change, 200]);
  }
});

test("a damaged identifier leads to no patient, and an import repairs it", async () => {
  const { server, database, ours, dog, cat, entities, read } = await startWithRecords();
  const known = async () => {
    const { body } = await read("/agent/v1/identifiers");
    const items = (body.data?.items ?? []) as unknown as { patient_fp: string; identifiers: string[] }[];
    return Object.fromEntries(items.map((item) => [item.patient_fp, item.identifiers]));
  };
  const whole = { [dog.fp]: ["5000", "5001"], [cat.fp]: ["6000"] };
  expect(await known()).toEqual(whole);
  await database.run("update patient_identifier set identifier = '7000' where identifier = '5000'");
  expect((await known())[dog.fp]).toEqual(["5001"]);
  const lists = new PatientLists(server.store);
  const clinicId = (await findClinic(server.store, ours))!.id;
  const found = async (search: string) =>
    (await lists.find({ clinicId, search, species: null, page: 1 })).patients.map(({ fp }) => fp);
  expect([await found("7000"), await found("5001")]).toEqual([[], [dog.fp]]);
  // A row that gets the id of another patient.
  const idOf = (fp: string) => `(select id from patient where fp = '${fp}')`;
  await database.run(`update patient_identifier set patient_id = ${idOf(cat.fp)} where identifier = '5001'`);
  expect((await known())[cat.fp]).toEqual(["6000"]);
  await importEntities(server.store, ...entities);
  expect(await known()).toEqual(whole);
});

test("a damaged SOAP record is refused, and nobody edits it", async () => {
  const { server, ours, draft, signed, damage, soapAt, database } = await startWithRecords();
  await damage("soap", draft, "plan = 'Run.'");
  const refused = await soapAt(draft);
  expect([refused.status, refused.body.error?.code]).toEqual([500, "RECORD.DAMAGED"]);
  const clinicId = (await findClinic(server.store, ours))!.id;
  const edited = server.store.transaction((session) =>
    editSoap(session, { clinicId, fp: draft.fp, changes: { plan: "Walk." } }),
  );
  await expect(edited).rejects.toThrow(`the stored soap ${draft.fp} is damaged`);
  await database.run(`update soap set checksum = checksum + 1 where fp = '${signed.fp}'`);
  expect((await soapAt(signed)).status).toBe(500);
});

test("an import repairs a damaged draft, and a signed record whose text is whole", async () => {
  const { server, database, entities, draft, signed, damage, soapAt } = await startWithRecords();
  const before = [(await soapAt(draft)).body, (await soapAt(signed)).body];
  await damage("soap", draft, "plan = 'Run.'");
  await database.run(`update soap set checksum = checksum + 1 where fp = '${signed.fp}'`);
  await importEntities(server.store, ...entities);
  expect([(await soapAt(draft)).body, (await soapAt(signed)).body]).toEqual(before);
  await damage("soap", draft, "plan = 'Run.'");
  expect((await soapAt(draft)).status).toBe(500);
});

test("an import refuses to overwrite a damaged record that is signed", async () => {
  const { server, database, entities, draft, soapAt } = await startWithRecords();
  await database.run(`update soap set status = 'IN_PROGRESS' where fp = '${draft.fp}'`);
  const change = "plan = 'Run.', status = 'SIGNED', signed_at = 1, checksum = 1";
  await database.run(`update soap set ${change} where fp = '${draft.fp}'`);
  await expect(importEntities(server.store, ...entities)).rejects.toMatchObject({
    problems: [{ problem: "the disk changed the stored record, which is signed: restore an older backup" }],
  });
  expect((await soapAt(draft)).status).toBe(500);
});
