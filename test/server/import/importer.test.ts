import { describe, expect, test } from "vitest";
import { demoClinics, demoEntities } from "../../../server/demo/data.ts";
import { ImportError } from "../../../server/import/importer.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { query } from "../../../server/database/query.ts";
import { findPatient } from "../../../server/records/patients/patients.ts";
import type { Store } from "../../../server/database/store.ts";
import { newFp } from "../../../shared/api/fp.ts";
import {
  clinic,
  connection,
  importEntities,
  importText,
  keyPermissions,
  noon,
  patient,
  published,
  startServer,
  study,
} from "../harness.ts";
import { batch, event, item, soap } from "../records.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

async function idOf(store: Store, fp: string): Promise<number> {
  return (await findClinic(store, fp))?.id ?? 0;
}

/** @returns the problems of an invalid file; the test fails if it is valid */
async function problemsOf(text: string) {
  const server = await startServer();
  const refused = await importText(server.store, text).catch((error: unknown) => error);
  expect(await server.store.all(counts, {})).toEqual([{ clinics: 0, patients: 0 }]);
  if (refused instanceof ImportError) return refused;
  throw new Error("the import was not refused", { cause: refused });
}

describe("an import", () => {
  test("an import of the demo serves both clinics, and a second import changes nothing", async () => {
    const server = await startServer();
    const entities = demoEntities();
    expect(await importEntities(server.store, ...entities)).toEqual({ new: entities.length, changed: 0, unchanged: 0 });
    expect(await importEntities(server.store, ...entities)).toEqual({ new: 0, changed: 0, unchanged: entities.length });
    const totals = Object.values(demoClinics).map(async (fp) => {
      const key = await server.makeKey(fp, keyPermissions);
      return (await server.get(key, "/api/v1/patients")).body.data.total;
    });
    expect(await Promise.all(totals)).toEqual([4, 5]);
  });

  test("an import accepts lines in any order, blank lines, CRLF and a missing last line end", async () => {
    const one = patient();
    const server = await startServer();
    const lines = [connection(one.fp, ours), one, clinic(ours)].map((line) => JSON.stringify(line));
    expect(await importText(server.store, lines.join("\r\n\r\n  \n"))).toEqual({ new: 3, changed: 0, unchanged: 0 });
    expect(await importText(server.store, "")).toEqual({ new: 0, changed: 0, unchanged: 0 });
  });

  test("concurrent lines of one entity are stored in file order, and a shared owner is stored once", async () => {
    const server = await startServer();
    const owner_customer_fp = newFp("customer");
    const patients = Array.from({ length: 200 }, () => patient({ owner_customer_fp }));
    const changes = patients.flatMap((one) => [
      { ...one, name: "Once" },
      { ...one, name: "Twice" },
      connection(one.fp, ours, false),
      connection(one.fp, ours),
    ]);
    const result = await importEntities(server.store, clinic(ours), ...patients, ...changes);
    expect(result).toEqual({ new: 401, changed: 600, unchanged: 0 });
    const key = await server.makeKey(ours, keyPermissions);
    const { data } = (await server.get(key, "/api/v1/patients?page_size=100")).body;
    expect([data.total, new Set(data.items.map(({ name }) => name))]).toEqual([200, new Set(["Twice"])]);
  });

  test("an import with problems lists each with its line and stores nothing", async () => {
    const one = patient();
    const text = [
      clinic(ours),
      one,
      { ...one, fp: "patient_1", weight_kg: "4,1" },
      { ...one, name: undefined, nickname: "K" },
      { ...one, date_of_birth: "2023-02-29", updated_at: "2026-13-01T00:00:00.000Z" },
      { type: "customer", fp: newFp("customer"), locale: { time_zone: "Europe/Nowhere" } },
      soap(one.fp, ours, { signed_at: "2026-11-01T09:00:00.000Z" }),
      { type: "vaccine" },
      [1, 2],
      { ...one, name: "Kara\0baş", external_ids: ["1", "\0"] },
      { ...one, name: "Kara\u{D83D}", external_ids: ["\u{DC08}"] },
      { type: "study", ...withoutIngest(study({ patient_fp: one.fp, device_name: "\u{D83D}" })) },
      { type: "study", ...withoutIngest(study({ patient_fp: one.fp })), modality: "MRI" },
    ].map((line) => JSON.stringify(line));
    text.splice(3, 0, "{broken", '{"type":"clinic","fp":1}');
    const { problems, total } = await problemsOf(text.join("\n"));
    expect(problems).toEqual([
      {
        line: 3,
        problem:
          'fp is "patient_1", expected patient_ and a ULID of 26 digits and upper-case letters; fps are case-sensitive',
      },
      { line: 3, problem: 'weight_kg is "4,1", expected a number or null' },
      { line: 4, problem: expect.stringMatching(/^not JSON in UTF-8: /) as string },
      { line: 5, problem: "name is missing" },
      { line: 5, problem: "fp is 1, expected a string" },
      { line: 6, problem: "name is missing" },
      { line: 6, problem: "nickname is not expected" },
      { line: 7, problem: 'date_of_birth is "2023-02-29", expected a day that exists' },
      { line: 7, problem: 'updated_at is "2026-13-01T00:00:00.000Z", expected a time that exists' },
      {
        line: 8,
        problem: 'locale/time_zone is "Europe/Nowhere", expected an IANA time zone such as Europe/Istanbul',
      },
      { line: 9, problem: 'signed_at is "2026-11-01T09:00:00.000Z", expected null for a DRAFT record' },
      {
        line: 10,
        problem:
          'type is "vaccine", expected one of clinic, user, customer, patient, patient_source, customer_source, event_source, connection, study, soap, calendar_event, inventory_item, inventory_batch, stock_movement',
      },
      { line: 11, problem: "the line is a list of 2, expected an object" },
      { line: 12, problem: String.raw`name is "Kara\u0000baş", expected text without NUL` },
      { line: 12, problem: String.raw`external_ids/1 is "\u0000", expected text without NUL` },
      { line: 13, problem: String.raw`name is "Kara\ud83d", expected text without half of a surrogate pair` },
      { line: 13, problem: String.raw`external_ids/0 is "\udc08", expected text without half of a surrogate pair` },
      { line: 14, problem: String.raw`device_name is "\ud83d", expected text without half of a surrogate pair` },
      {
        line: 15,
        problem:
          'modality is "MRI", expected one of HEMATOLOGY, BIOCHEMISTRY, URINALYSIS, RADIOLOGY, ULTRASOUND, ENDOSCOPY',
      },
    ]);
    expect(total).toBe(19);
  });

  test("an import lists the problems of records, events and stock", async () => {
    const text = [
      { ...soap(newFp("patient"), ours), status: "SIGNED", soap_type: "examination" },
      soap(newFp("patient"), ours, { status: "LOCKED" }),
      soap(newFp("patient"), ours, { created_at: "2026-02-30T00:00:00.000Z", amends_fp: "soap_1" }),
      { ...event(ours), event_type: "HAIRCUT", status: "DONE" },
      { ...event(ours), start_at: "2026-11-25T09:30:00.001Z" },
      { ...item(ours), currency: "CHF", quantity_on_hand: 1.5, unit_price_cents: -1, is_virtual: 0 },
      batch(newFp("invitem"), { expiry_date: "2027-02-29", received_at: "2026-11-31T00:00:00.000Z" }),
      batch(newFp("invitem"), { lot: "", quantity: -1 }),
    ].map((line) => JSON.stringify(line));
    const { problems } = await problemsOf(text.join("\n"));
    expect(problems.map(({ line, problem }) => `${line} ${problem}`)).toEqual([
      '1 soap_type is "examination", expected upper-case letters, digits and underscores such as MEDICATION or EXAMINATION',
      "2 signed_at is null, expected a time for a LOCKED record",
      expect.stringMatching(/^3 amends_fp is "soap_1", expected soap_ and a ULID /),
      '4 status is "DONE", expected one of SCHEDULED, CHECKED_IN, IN_PROGRESS, PENDING_CHECKOUT, CLOSED, CANCELLED',
      '4 event_type is "HAIRCUT", expected one of APPOINTMENT, SURGERY, VACCINATION, CHECKUP, EMERGENCY, SALE',
      '5 end_at is "2026-11-25T09:30:00.000Z", expected a time not before start_at 2026-11-25T09:30:00.001Z',
      "6 quantity_on_hand is 1.5, expected an integer",
      "6 unit_price_cents is -1, expected at least 0",
      '6 currency is "CHF", expected one of TRY, USD, EUR, GBP',
      "6 is_virtual is 0, expected a boolean",
      '7 received_at is "2026-11-31T00:00:00.000Z", expected a time that exists',
      '7 expiry_date is "2027-02-29", expected a day that exists',
      '8 lot is "", expected at least 1 characters or null',
      "8 quantity is -1, expected at least 0",
    ]);
  });

  test("an import lists impossible values of patients, records and studies", async () => {
    const one = patient();
    const day = "2026-11-22T12:00:00.001Z";
    const tested = { type: "study", ...withoutIngest(study({ patient_fp: one.fp })) };
    const text = [
      patient({ weight_kg: -5 }),
      patient({ weight_kg: 0 }),
      patient({ weight_kg: 1500.1 }),
      patient({ date_of_birth: "2190-01-01" }),
      patient({ date_of_birth: "1949-12-31" }),
      patient({ date_of_birth: "2026-11-03", deleted_at: "2026-11-01T12:00:00.000Z" }),
      patient({ species: "unicorn" }),
      patient({ species: "" }),
      patient({ species: "horse or cow" }),
      patient({ sex: "whatever" }),
      patient({ sex: "" }),
      patient({ created_at: day, updated_at: day, deleted_at: day, date_of_birth: null }),
      soap(one.fp, ours, { status: "SIGNED", signed_at: day, created_at: day }),
      { ...tested, acquired_at: "2099-01-01T00:00:00.000Z" },
      { ...tested, results: [{ ...tested.results[0], reference_range: "whatever" }] },
      { ...tested, results: [{ ...tested.results[0], flag: "critical" }] },
    ].map((line) => JSON.stringify(line));
    const { problems } = await problemsOf(text.join("\n"));
    const ahead = "expected at most a day after the clock's 2026-11-21T12:00:00.000Z";
    const six = "expected a word for one of dog, cat, rabbit, bird, reptile, exotic, horse, cow";
    const five = "expected a word for one of male, female, male_neutered, female_spayed, unknown, or null";
    expect(problems.map(({ line, problem }) => `${line} ${problem}`)).toEqual([
      "1 weight_kg is -5, expected more than 0 and at most 1500, or null",
      "2 weight_kg is 0, expected more than 0 and at most 1500, or null",
      "3 weight_kg is 1500.1, expected more than 0 and at most 1500, or null",
      '4 date_of_birth is "2190-01-01", expected a day from 1950-01-01 to 2026-11-22',
      '5 date_of_birth is "1949-12-31", expected a day from 1950-01-01 to 2026-11-22',
      '6 date_of_birth is "2026-11-03", expected a day from 1950-01-01 to 2026-11-02',
      `7 species is "unicorn", ${six}`,
      `8 species is "", ${six}`,
      `9 species is "horse or cow", ${six}`,
      `10 sex is "whatever", ${five}`,
      `11 sex is "", ${five}`,
      `12 created_at is "${day}", ${ahead}`,
      `12 updated_at is "${day}", ${ahead}`,
      `12 deleted_at is "${day}", ${ahead}`,
      `13 signed_at is "${day}", ${ahead}`,
      `13 created_at is "${day}", ${ahead}`,
      `14 acquired_at is 2099-01-01T00:00:00.000Z, ${ahead}`,
      '15 results/0/reference_range is "whatever", expected the lower and the upper bound such as 6.0-17.0',
      "16 results/0/flag is critical for 5.2 of 3.3-6.1, expected normal or null",
    ]);
  });

  test("species and sex are stored in the API's words, and the same words again change nothing", async () => {
    const given = [
      ["kedi", "dişi"],
      ["Canine", "MN"],
      ["FERRET", null],
      ["dog", "male_neutered"],
      ["Pferd", "Wallach"],
    ] as const;
    const patients = given.map(([species, sex]) => patient({ species, sex }));
    const server = await startServer(clinic(ours), patients);
    await importEntities(server.store, ...patients.map(({ fp }) => connection(fp, ours)));
    const key = await server.makeKey(ours, keyPermissions);
    const read = patients.map(async ({ fp }) => (await server.get(key, `/api/v1/patients/${fp}`)).body.data);
    expect((await Promise.all(read)).map(({ species, sex }) => [species, sex])).toEqual([
      ["cat", "female"],
      ["dog", "male_neutered"],
      ["exotic", null],
      ["dog", "male_neutered"],
      ["exotic", "male_neutered"],
    ]);
    expect(await importEntities(server.store, ...patients)).toEqual({ new: 0, changed: 0, unchanged: 5 });
    expect((await server.get(key, "/api/v1/patients?species=cat")).body.data.total).toBe(1);
  });

  test("an import warns of a card number that several patients of one clinic share", async () => {
    const server = await startServer(clinic(ours), clinic(theirs));
    const [first, second, third, foreign, gone] = [
      patient({ external_ids: ["10021", "C-1"] }),
      patient({ external_ids: ["10021"] }),
      patient({ external_ids: ["10021", "10023"] }),
      patient({ external_ids: ["10023"] }),
      patient({ external_ids: ["10023", "C-1"], deleted_at: "2026-11-01T12:00:00.000Z" }),
    ];
    const mine = [first, second, gone];
    const lines = [...mine, ...mine.map(({ fp }) => connection(fp, ours)), foreign, connection(foreign.fp, theirs)];
    const warning = (number: string, of: { fp: string }[], more: string) =>
      `external_id "${number}" names ${of.length} patients of ${ours}, ${more}: a result with it stays unmatched`;
    const two = [first, second].map(({ fp }) => fp).toSorted();
    expect(await importEntities(server.store, ...lines)).toEqual({
      new: 8,
      changed: 0,
      unchanged: 0,
      warnings: { shown: [warning("10021", [first, second], two.join(" and "))], total: 1 },
    });
    // An import without card numbers does not repeat the warning.
    expect(await importEntities(server.store, ...lines)).toEqual({ new: 0, changed: 0, unchanged: 8 });

    const three = [first, second, third].map(({ fp }) => fp).toSorted();
    const more = `${three[0]}, ${three[2]} and 1 more`;
    expect(await importEntities(server.store, third, connection(third.fp, ours))).toMatchObject({
      warnings: { shown: [warning("10021", [first, second, third], more)], total: 1 },
    });
    const mended = [second, third].map((one) => ({ ...one, external_ids: [] }));
    expect(await importEntities(server.store, ...mended)).toEqual({ new: 0, changed: 2, unchanged: 0 });
  });

  test("an import shows 100 warnings and counts the rest", async () => {
    const server = await startServer(clinic(ours));
    const numbers = Array.from({ length: 60 }, (_, index) => String(1000 + index));
    const cards = [numbers, numbers].map((external_ids) => patient({ external_ids }));
    const more = Array.from({ length: 60 }, (_, index) => String(2000 + index));
    const others = [more, more].map((external_ids) => patient({ external_ids }));
    const patients = [...cards, ...others];
    const result = await importEntities(server.store, ...patients, ...patients.map(({ fp }) => connection(fp, ours)));
    expect([result.warnings?.shown.length, result.warnings?.total]).toEqual([100, 120]);
  });

  test("a record moves to another clinic only if the import names its owner", async () => {
    const one = patient();
    const draft = soap(one.fp, ours);
    const signed = soap(one.fp, ours, { status: "SIGNED", signed_at: "2026-11-01T09:00:00.000Z" });
    const server = await startServer(clinic(ours), clinic(theirs), one, draft, signed);
    const [ownerId, otherId] = [await idOf(server.store, ours), await idOf(server.store, theirs)];
    const given = { ...draft, performed_by_clinic_fp: theirs };
    const give = async (line: object, owner: number | null) => {
      const imported = importText(server.store, JSON.stringify(line), noon, owner);
      return imported.catch((error: unknown) => (error as ImportError).problems.map(({ problem }) => problem));
    };
    const refused = `performed_by_clinic_fp is ${theirs}, expected ${ours} that owns the stored record, or --owner ${ours} to give it away`;
    expect(await give(given, null)).toEqual([refused]);
    expect(await give(given, otherId)).toEqual([refused]);
    expect(await give({ ...draft, plan: "Rest." }, null)).toMatchObject({ changed: 1 });
    expect(await give(given, ownerId)).toMatchObject({ changed: 1 });
    expect(await give(given, null)).toMatchObject({ unchanged: 1 });
    expect(await give({ ...signed, performed_by_clinic_fp: theirs }, ownerId)).toEqual([
      "the stored record is SIGNED and performed_by_clinic_fp would change, expected an amendment as a new record",
    ]);
  });

  test("an import shows 100 problems and counts the rest", async () => {
    const { problems, total, message } = await problemsOf("x\n".repeat(250));
    expect([problems.length, total, message]).toEqual([100, 250, "250 problems, nothing was imported"]);
  });

  test("an import refuses invalid UTF-8 and lines over the limit", async () => {
    const server = await startServer();
    const latin1 = Buffer.from(JSON.stringify({ ...clinic(ours), name: "Müller" }), "latin1");
    const refused = await importText(server.store, latin1).catch((error: unknown) => error);
    expect((refused as ImportError).problems[0]?.problem).toMatch(/^not JSON in UTF-8: /);
    const { problems } = await problemsOf(`${JSON.stringify(clinic(ours))}\n${"x".repeat(6 * 1024 * 1024)}`);
    expect(problems).toEqual([{ line: 2, problem: "longer than 5242880 bytes, expected one JSON object a line" }]);
  });

  test("a line that refers to an unknown entity rolls back the import and is named", async () => {
    const one = patient();
    const [noClinic, noPatient] = [newFp("clinic"), newFp("patient")];
    const [noSoap, noUser, noItem] = [newFp("soap"), newFp("user"), newFp("invitem")];
    const lines = [
      clinic(ours),
      { type: "study", ...withoutIngest(study()), patient_fp: noPatient },
      connection(one.fp, noClinic),
      one,
      { type: "user", fp: newFp("user"), name: "Elif", clinic_fp: noClinic },
      soap(noPatient, ours, { amends_fp: noSoap }),
      soap(one.fp, noClinic),
      soap(one.fp, ours, { amends_fp: noSoap }),
      event(noClinic),
      event(ours, { patient_fp: noPatient }),
      event(ours, { assigned_user_fp: noUser }),
      item(noClinic),
      batch(noItem),
    ];
    const { problems } = await problemsOf(lines.map((line) => JSON.stringify(line)).join("\n"));
    const nowhere = "which is neither in the file nor in the database";
    expect(problems).toEqual([
      { line: 2, problem: `patient_fp is ${noPatient}, ${nowhere}` },
      { line: 3, problem: `clinic_fp is ${noClinic}, ${nowhere}` },
      { line: 5, problem: `clinic_fp is ${noClinic}, ${nowhere}` },
      { line: 6, problem: `patient_fp is ${noPatient}, ${nowhere}` },
      { line: 7, problem: `performed_by_clinic_fp is ${noClinic}, ${nowhere}` },
      { line: 8, problem: `amends_fp is ${noSoap}, ${nowhere}` },
      { line: 9, problem: `clinic_fp is ${noClinic}, ${nowhere}` },
      { line: 10, problem: `patient_fp is ${noPatient}, ${nowhere}` },
      { line: 11, problem: `assigned_user_fp is ${noUser}, ${nowhere}` },
      { line: 12, problem: `clinic_fp is ${noClinic}, ${nowhere}` },
      { line: 13, problem: `item_fp is ${noItem}, ${nowhere}` },
    ]);
  });

  test("an import keeps the timestamps of the file and stores only changed lines", async () => {
    const one = patient({ external_ids: ["10021"] });
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    // No key was used yet, so that no client has synchronised.
    const read = async () => (await findPatient(server.store, 1, one.fp))?.patient;
    expect(await read()).toEqual(published(one));

    const newer = { ...one, weight_kg: 13, species: "Cat", updated_at: "2026-10-09T08:00:00.000Z" };
    expect(await importEntities(server.store, newer)).toEqual({ new: 0, changed: 1, unchanged: 0 });
    expect(await read()).toEqual({ ...published(newer), species: "cat" });

    // The first file again: its content is stored, but updated_at does not decrease.
    expect(await importEntities(server.store, one)).toEqual({ new: 0, changed: 1, unchanged: 0 });
    expect(await read()).toEqual({ ...published(one), updated_at: newer.updated_at });

    const touched = { ...one, updated_at: "2026-10-10T08:00:00.000Z" };
    expect(await importEntities(server.store, touched)).toEqual({ new: 0, changed: 1, unchanged: 0 });
    expect(await read()).toEqual(published(touched));

    const renumbered = { ...one, external_ids: ["10099", "792090000124031"] };
    expect(await importEntities(server.store, renumbered)).toMatchObject({ changed: 1 });
    const key = await server.makeKey(ours, keyPermissions);
    const { body } = await server.get(key, "/agent/v1/identifiers?updated_since=2026-10-10");
    expect(body.data.items).toEqual([{ patient_fp: one.fp, identifiers: renumbered.external_ids }]);
  });

  test("a future updated_at is stored as the time of the import, and the same line again changes nothing", async () => {
    const one = patient({ updated_at: "2026-11-22T00:00:00.000Z" });
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const updated = async () => (await findPatient(server.store, 1, one.fp))?.patient.updated_at;
    expect(await updated()).toBe("2026-11-21T12:00:00.000Z");
    const again = await importText(server.store, JSON.stringify(one), noon + 1000);
    expect([again, await updated()]).toEqual([{ new: 0, changed: 0, unchanged: 1 }, "2026-11-21T12:00:00.000Z"]);
    await importText(server.store, JSON.stringify({ ...one, weight_kg: 13 }), noon + 2000);
    expect(await updated()).toBe("2026-11-21T12:00:02.000Z");
  });

  test("opening or closing a connection stamps the patient, unless the import created the patient", async () => {
    const other = newFp("clinic");
    const one = patient();
    const server = await startServer(clinic(ours), clinic(other), one, connection(one.fp, ours));
    const updated = async () => (await findPatient(server.store, 1, one.fp))?.patient.updated_at;
    const steps: [ReturnType<typeof connection>, number, string][] = [
      [connection(one.fp, ours), noon, "2026-10-01T08:00:00.000Z"],
      [connection(one.fp, other), noon, "2026-11-21T12:00:00.000Z"],
      [connection(one.fp, other), noon + 1000, "2026-11-21T12:00:00.000Z"],
      [connection(one.fp, other, false), noon + 2000, "2026-11-21T12:00:02.000Z"],
      [connection(one.fp, other, false), noon + 3000, "2026-11-21T12:00:02.000Z"],
      [connection(one.fp, other), noon + 4000, "2026-11-21T12:00:04.000Z"],
    ];
    for (const [line, now, expected] of steps) {
      await importText(server.store, JSON.stringify(line), now);
      expect(await updated()).toBe(expected);
    }
    expect(await importEntities(server.store, one)).toEqual({ new: 0, changed: 0, unchanged: 1 });
  });

  test("a changed study keeps its previous content as a revision", async () => {
    const one = patient();
    const first = { type: "study" as const, ...withoutIngest(study()), patient_fp: one.fp };
    const server = await startServer(clinic(ours), one, connection(one.fp, ours), first);
    expect(await importEntities(server.store, first)).toMatchObject({ unchanged: 1 });
    expect(await importEntities(server.store, { ...first, results: [] })).toMatchObject({ changed: 1 });
    const key = await server.makeKey(ours, keyPermissions);
    expect((await server.get(key, `/api/v1/lab/diagnostics/${first.fp}`)).body.data.results).toEqual([]);
    const kept = await server.store.all(revisions, {});
    expect(kept.map(({ revision, body }) => [revision, (JSON.parse(body) as typeof first).results])).toEqual([
      [1, first.results],
    ]);
  });
});

function withoutIngest(pushed: ReturnType<typeof study>) {
  const { revision: _revision, dedupe_key: _key, source: _source, patient_hint: _hint, ...rest } = pushed;
  return rest;
}

const revisions = query((db) => db.selectFrom("study_revision").selectAll());
const counts = query((db) =>
  db.selectNoFrom((select) => [
    select.selectFrom("clinic").select(select.fn.countAll().as("n")).as("clinics"),
    select.selectFrom("patient").select(select.fn.countAll().as("n")).as("patients"),
  ]),
);
