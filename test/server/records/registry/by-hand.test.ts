import { expect, test } from "vitest";
import type {
  AnimalCheck,
  EditedAnimal,
  OwnerFacts,
  RemovedAnimals,
  SavedAnimal,
  TypedAnimal,
} from "../../../../server/dashboard/types/animals.ts";
import { type PatientList, type PatientOverview, SPECIES } from "../../../../server/dashboard/types/patients.ts";
import type { UnmatchedDetails } from "../../../../server/dashboard/types/results/unmatched.ts";
import { wallTime } from "../../../../server/dashboard/types/wall-time.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { animalSpecies } from "../../../../shared/clinical/species.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, patient, startServer } from "../../harness.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinicEntities, dog, foreign, ours, pushTo, readStudy, waiting } from "../../../dashboard/unmatched-clinic.ts";

// Animals and owners that a user writes.

const nobody: OwnerFacts = { name: null, phone: null, email: null, language: null, time_zone: null };
const elif: OwnerFacts = { ...nobody, name: "Elif Örnek", phone: "0555 000 11 22", email: "elif@example.org" };

function typed(changes: Partial<TypedAnimal> = {}): TypedAnimal {
  return {
    name: "Boncuk",
    species: "cat",
    breed: "Van",
    sex: "female_spayed",
    date_of_birth: "2021-03-01",
    weight_kg: 3.4,
    identifiers: [
      { type: "microchip", value: "792 0900 0012 4031" },
      { type: "card", value: "4711" },
      { type: "tattoo", value: "" },
    ],
    owner: elif,
    ...changes,
  };
}

async function started() {
  const server = await startServer(...clinicEntities);
  const staff = await makeUser(server, "staff", ours);
  const add = async (animal: TypedAnimal, more: object = {}) =>
    staff.call<SavedAnimal>("POST", "/patients", { animal, seen: [], ...more });
  const check = async (animal: TypedAnimal, edited: string | null = null) =>
    (await staff.call<AnimalCheck>("POST", "/patients/check", { animal, edited })).body;
  const page = async (fp: string) => (await staff.call<PatientOverview>("GET", `/patients/${fp}`)).body;
  const list = async (query = "") => (await staff.call<PatientList>("GET", `/patients${query}`)).body.patients;
  return { server, staff, add, check, page, list };
}

test("a new animal with its owner is served by the API, which shows nothing of the owner", async () => {
  const { server, staff, add, page, list } = await started();
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  expect((await server.get(key, "/api/v1/patients")).body.data.total).toBe(2);
  const added = await add(typed());
  expect(added).toMatchObject({ status: 200, body: { revision: null } });
  const { fp } = added.body;
  const shown = await page(fp);
  expect(shown).toMatchObject({
    patient: { name: "Boncuk", species: "cat", breed: "Van", sex: "female_spayed", weight_kg: 3.4 },
    precise_species: null,
    identifiers: ["792090000124031", "4711"],
    owner: elif,
    siblings: [],
    is_shared: false,
  });
  expect((await list("?search=elif"))[0]).toMatchObject({ fp, owner_name: "Elif Örnek", is_deceased: false });

  const api = await server.get(key, `/api/v1/patients/${fp}`);
  expect(api.body.data).toMatchObject({ name: "Boncuk", owner_customer_fp: shown.owner.fp });
  const since = await server.get(key, "/api/v1/patients?updated_since=2026-11-21T12:00:00.000Z");
  expect(since.body.data.items.map((each) => each.fp)).toEqual([fp]);
  const audit = [await listRowsOf(server.store, fp), await listRowsOf(server.store, shown.owner.fp)].flat();
  expect(audit.filter(({ method }) => method === "COMMAND").map(({ route, user }) => [route, user])).toEqual([
    ["patient add", staff.name],
    ["patient add", staff.name],
  ]);
  const told = JSON.stringify([api.body, since.body, audit, server.log]);
  expect(told).not.toMatch(/Elif|0555|example\.org/);
});

test("faults have a field and a code, refuse the animal, and repeat nothing of the owner", async () => {
  const { add, check, list } = await started();
  const faulty = typed({
    name: " ",
    species: "",
    sex: "blue",
    date_of_birth: "2026-02-30",
    weight_kg: 0,
    identifiers: [
      { type: "microchip", value: "98500000000471" },
      { type: "microchip", value: "9.85112E+14" },
      { type: "microchip", value: "98-500" },
      { type: "card", value: "98-500" },
    ],
    owner: { ...nobody, phone: "call me", email: "secret.example.org", time_zone: "Mars/Olympus" },
  });
  const { faults, warnings } = await check(faulty);
  expect(faults.map(({ field, code }) => `${field} ${code}`)).toEqual([
    ...["name blank", "species unknown_species", "sex unknown_sex", "weight_kg out_of_range"],
    ...["date_of_birth not_a_day", "identifiers/0 lost_zero", "identifiers/1 lost_digits"],
    ...["owner/name blank", "owner/phone wrong_form", "owner/email wrong_form", "owner/time_zone unknown_zone"],
  ]);
  expect(warnings).toEqual([{ field: "identifiers/2", code: "unusual" }]);
  const refused = await add(faulty);
  expect(refused.status).toBe(400);
  expect(refused.text).toContain("owner/phone is wrong_form");
  expect(refused.text).not.toMatch(/call me|secret|Olympus/);
  expect(await list()).toHaveLength(2);
});

test("animals that are alike are named with the reason, and one that the user has not seen refuses the save", async () => {
  const { add, check, list } = await started();
  const { fp } = (await add(typed())).body;
  const signs = async (changes: Partial<TypedAnimal>) =>
    (await check(typed({ identifiers: [], date_of_birth: null, owner: nobody, ...changes }))).doubles.map((double) => [
      double.fp,
      ...double.signs,
    ]);
  expect(await signs({})).toEqual([]);
  expect(await signs({ name: "Zeytin", identifiers: [{ type: "card", value: "4711" }] })).toEqual([[fp, "number"]]);
  expect(await signs({ name: "BONCUK", owner: { ...nobody, name: "elif ornek" } })).toEqual([[fp, "nameAndOwner"]]);
  expect(await signs({ name: "Boncük", owner: { ...nobody, name: "Ela", phone: "+90 555 000 11 22" } })).toEqual([
    [fp, "nameAndOwner"],
  ]);
  expect(await signs({ name: "Boncik", owner: { ...nobody, name: "Ela", email: "ELIF@example.org" } })).toEqual([
    [fp, "nearNameAndOwner"],
  ]);
  expect(await signs({ date_of_birth: "2021-03-01" })).toEqual([[fp, "nameAndBirth"]]);
  expect(await signs({ date_of_birth: "2021-03-01", species: "dog" })).toEqual([]);
  // An animal of another clinic is not named.
  expect(await signs({ name: foreign.name, species: "dog", date_of_birth: "2019-04-12" })).toEqual([]);

  const again = typed({ identifiers: [] });
  expect(await add(again)).toMatchObject({ status: 409, body: { error: { details: { code: "PATIENT.ALIKE" } } } });
  expect(await list("?search=boncuk")).toHaveLength(1);
  expect((await add(again, { seen: [fp] })).status).toBe(200);
  expect(await list("?search=boncuk")).toHaveLength(2);
});

test("known owners are suggested by name, phone and e-mail, and one is taken for a second animal", async () => {
  const { add, check, page } = await started();
  const { fp } = (await add(typed())).body;
  const { owner } = await page(fp);
  const suggested = async (facts: Partial<OwnerFacts>) =>
    (await check(typed({ owner: { ...nobody, ...facts } }))).owners.map((each) => [
      each.fp,
      each.name,
      ...each.animals,
    ]);
  const known = [[owner.fp, "Elif Örnek", "Boncuk"]];
  expect(await suggested({ name: "orn" })).toEqual(known);
  expect(await suggested({ name: "Ela", phone: "+905550001122" })).toEqual(known);
  expect(await suggested({ name: "Ela", email: "Elif@Example.org" })).toEqual(known);
  expect(await suggested({ name: "lif" })).toEqual([]);
  expect(await suggested({ name: "E" })).toEqual([]);

  const second = await add(typed({ name: "Zeytin", identifiers: [], owner: { fp: owner.fp } }));
  expect(second.status).toBe(200);
  expect((await page(second.body.fp)).siblings).toEqual([{ fp, name: "Boncuk", species: "cat" }]);
  // The owner of an animal that the clinic does not see.
  const stranger = typed({ name: "Duman", identifiers: [], owner: { fp: foreign.owner_customer_fp } });
  expect((await add(stranger)).status).toBe(404);
});

test("an edit changes the facts and numbers, and is refused when another user was faster", async () => {
  const { server, staff, add, page } = await started();
  const { fp } = (await add(typed())).body;
  const read = async () => (await staff.call<EditedAnimal>("GET", `/patients/${fp}/edit`)).body;
  const before = await read();
  expect(before.animal).toMatchObject({ species: "cat", owner: { fp: before.owner.fp } });
  expect(before).toMatchObject({ is_shared: false, sources: [], owner: { name: "Elif Örnek", animals: [] } });
  server.clock.now += 60_000;
  const animal: TypedAnimal = {
    ...before.animal,
    name: "Boncuk II",
    species: "ferret",
    identifiers: [{ type: "card", value: "4712" }],
  };
  const edit = async (version: string) => staff.call("PUT", `/patients/${fp}`, { animal, seen: [], version });
  expect((await edit(before.version)).status).toBe(200);
  expect(await page(fp)).toMatchObject({
    patient: { name: "Boncuk II", species: "exotic", updated_at: new Date(server.clock.now).toISOString() },
    precise_species: "ferret",
    identifiers: ["4712"],
    owner: elif,
  });
  expect(await edit(before.version)).toMatchObject({
    status: 409,
    body: { error: { details: { code: "PATIENT.CHANGED" } } },
  });
  // A new owner, as after a sale.
  const { animal: now, version } = await read();
  const sold = { ...now, owner: { ...nobody, name: "Can" } };
  expect((await staff.call("PUT", `/patients/${fp}`, { animal: sold, seen: [], version })).status).toBe(200);
  expect((await page(fp)).owner).toMatchObject({ ...nobody, name: "Can" });
});

test("the facts of an owner are edited once for all animals, and the lists find the new ones", async () => {
  const { server, staff, add, page, list } = await started();
  const { fp } = (await add(typed())).body;
  const { owner } = await page(fp);
  const { fp: ownerFp, version } = owner;
  expect(await list("?search=0555%20000%2011")).toHaveLength(1);
  const changed = { ...elif, phone: "+49 170 999 88 77", language: "tr", time_zone: "Europe/Istanbul" };
  const edit = async (body: object) => staff.call("PUT", `/owners/${ownerFp}`, body);
  expect((await edit({ ...changed, email: "no address", version })).status).toBe(400);
  expect((await edit({ ...changed, version })).status).toBe(200);
  expect((await page(fp)).owner).toMatchObject(changed);
  expect(await list("?search=0555%20000%2011")).toHaveLength(0);
  for (const search of ["0170 999 88 77", "491709998877", "170", "örnek", "elif@"]) {
    expect([search, (await list(`?search=${encodeURIComponent(search)}`)).length]).toEqual([search, 1]);
  }
  expect(await edit({ ...elif, version })).toMatchObject({ status: 409 });
  const other = await makeUser(server, "staff", ours);
  const strange = await other.call("PUT", `/owners/${foreign.owner_customer_fp}`, { ...elif, version });
  expect(strange.status).toBe(404);
});

test("a death is noted with its day and taken back, and the animal stays", async () => {
  const { server, staff, add, page, list } = await started();
  const { fp } = (await add(typed())).body;
  const note = async (died_on: string | null) =>
    (await staff.call("PUT", `/patients/${fp}/deceased`, { died_on })).status;
  expect(await note("2026-11-23")).toBe(400);
  expect(await note("2021-02-28")).toBe(400);
  expect(await note("2026-02-30")).toBe(400);
  expect(await note("2026-11-20")).toBe(200);
  // Without a time zone of the clinic, days are those of the machine.
  expect(wallTime(Date.parse((await page(fp)).deceased_at ?? ""), undefined).date).toBe("2026-11-20");
  expect((await list("?search=boncuk"))[0]).toMatchObject({ is_deceased: true });
  expect(await note(null)).toBe(200);
  expect(await page(fp)).toMatchObject({ deceased_at: null, identifiers: ["792090000124031", "4711"], owner: elif });
  const rows = await listRowsOf(server.store, fp);
  expect(rows.map(({ route }) => route)).toEqual(expect.arrayContaining(["patient deceased", "patient not deceased"]));
});

test("a removed animal gives its results back, and returns with them; one that other clinics see stays", async () => {
  const { server, staff, add, page, list } = await started();
  const sent = waiting({ name: "Boncuk", species: "Feline", owner: "Elif" });
  await pushTo(server, ours, sent);
  const { revision } = (await staff.call<UnmatchedDetails>("GET", `/unmatched/${sent.fp}`)).body;
  const { fp } = (await add(typed(), { result: { fp: sent.fp, revision } })).body;
  expect(await readStudy(server, sent.fp)).toMatchObject({ patient_fp: fp });
  const removed = async () => (await staff.call<RemovedAnimals>("GET", "/patients/removed")).body.animals;
  const act = async (what: string) => (await staff.call("POST", `/patients/${fp}/${what}`, {})).status;
  expect(await act("restore")).toBe(404);
  expect(await act("remove")).toBe(200);
  expect([await act("remove"), (await staff.call("GET", `/patients/${fp}`)).status]).toEqual([404, 404]);
  expect(await list("?search=boncuk")).toEqual([]);
  expect(await readStudy(server, sent.fp)).toBeNull();
  expect(await removed()).toMatchObject([{ fp, name: "Boncuk", species: "cat", owner_name: "Elif Örnek" }]);
  expect(await act("restore")).toBe(200);
  expect(await removed()).toEqual([]);
  expect(await page(fp)).toMatchObject({ identifiers: ["792090000124031", "4711"], owner: elif });
  expect(await readStudy(server, sent.fp)).toMatchObject({ patient_fp: fp });
});

test("an animal that another clinic sees cannot be removed, and both see an edit", async () => {
  const [own, other] = [newFp("clinic"), newFp("clinic")];
  const shared = patient();
  const server = await startServer(
    [clinic(own), clinic(other), shared],
    [connection(shared.fp, own), connection(shared.fp, other)],
  );
  const staff = await makeUser(server, "staff", own);
  expect(await staff.call("POST", `/patients/${shared.fp}/remove`, {})).toMatchObject({
    status: 409,
    body: { error: { details: { code: "PATIENT.SHARED" } } },
  });
  const { body } = await staff.call<EditedAnimal>("GET", `/patients/${shared.fp}/edit`);
  expect(body.is_shared).toBe(true);
  const animal = { ...body.animal, weight_kg: 14 };
  await staff.call("PUT", `/patients/${shared.fp}`, { animal, seen: [], version: body.version });
  const key = await server.makeKey(other, ["clinic.patient.view"]);
  expect((await server.get(key, `/api/v1/patients/${shared.fp}`)).body.data.weight_kg).toBe(14);
});

test("what the device says fills the form, and saving files the result in the same step or does nothing", async () => {
  const { server, staff, add, list } = await started();
  const hint = { name: "Karabas", species: "Equine", breed: "Arab", sex: "gelding", owner: "Can", weight_kg: 410 };
  const sent = waiting({ ...hint, identifier: "0471", date_of_birth: "2019-02-31" });
  await pushTo(server, ours, sent);
  const { body: draft } = await staff.call<TypedAnimal>("GET", `/patients/from-result/${sent.fp}`);
  expect(draft).toEqual({
    ...{ name: "Karabas", species: "horse", breed: "Arab", sex: "male_neutered", date_of_birth: null, weight_kg: 410 },
    identifiers: [{ type: "card", value: "0471" }],
    owner: { ...nobody, name: "Can" },
  });
  // Another user was faster.
  const late = await add(draft, { result: { fp: sent.fp, revision: 7 } });
  expect(late).toMatchObject({ status: 409, body: { error: { details: { code: "STUDY.CHANGED" } } } });
  expect(await list("?search=can")).toEqual([]);
  expect(await readStudy(server, sent.fp)).toBeNull();

  const saved = await add(draft, { result: { fp: sent.fp, revision: 1 } });
  expect(saved).toMatchObject({ status: 200, body: { revision: 2 } });
  expect(await readStudy(server, sent.fp)).toMatchObject({ patient_fp: saved.body.fp });
  expect((await list("?species=horse")).map(({ fp, species }) => [fp, species])).toEqual([[saved.body.fp, "exotic"]]);
});

test("a horse that is added by hand is a candidate for a later result of a horse", async () => {
  const { server, staff, add } = await started();
  await add(typed({ name: "Zeytin", species: "horse", identifiers: [] }));
  const sent = waiting({ name: "Zeytin", species: "Equine" });
  await pushTo(server, ours, sent);
  const { body } = await staff.call<UnmatchedDetails>("GET", `/unmatched/${sent.fp}`);
  expect(body.candidates).toMatchObject([
    { patient: { name: "Zeytin", species: "horse" }, signs: ["name", "species"] },
  ]);
  const found = await staff.call<{ patients: { name: string; owner_name: string }[] }>(
    "GET",
    "/patients?search=0555%20000%2011%2022",
  );
  expect(found.body.patients).toMatchObject([{ name: "Zeytin", owner_name: "Elif Örnek" }]);
});

test("a user who corrects the species of the device files the result despite it, and the history notes it", async () => {
  const { server, staff, add } = await started();
  const sent = waiting({ name: "Boncuk", species: "Canine" });
  await pushTo(server, ours, sent);
  expect((await add(typed(), { result: { fp: sent.fp, revision: 1 } })).status).toBe(200);
  const { body } = await staff.call<UnmatchedDetails>("GET", `/unmatched/${sent.fp}`);
  expect(body.history[0]).toMatchObject({ cause: "assigned despite species", by: staff.name });
});

test("a write that is sent again with its id adds one animal", async () => {
  const { staff, list } = await started();
  const body = { animal: typed(), seen: [] };
  const id = "0123456789abcdef0123456789abcdef";
  const [first, second] = [
    await staff.call("POST", "/patients", body, id),
    await staff.call("POST", "/patients", body, id),
  ];
  expect(second.body).toEqual(first.body);
  expect(await list("?search=boncuk")).toHaveLength(1);
});

test("readers write nothing, and see the owner; another clinic's animal cannot be edited", async () => {
  const { server, staff } = await started();
  const reader = await makeUser(server, "reader", ours);
  const statuses = await Promise.all([
    reader.call("POST", "/patients", { animal: typed(), seen: [] }),
    reader.call("PUT", `/patients/${dog.fp}`, {}),
    reader.call("PUT", `/patients/${dog.fp}/deceased`, { died_on: null }),
    reader.call("POST", `/patients/${dog.fp}/remove`, {}),
    reader.call("POST", `/patients/${dog.fp}/restore`, {}),
    reader.call("PUT", `/owners/${dog.owner_customer_fp}`, {}),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
  expect((await reader.call<PatientOverview>("GET", `/patients/${dog.fp}`)).body.owner.name).toBeNull();
  const strange = [
    await staff.call("GET", `/patients/${foreign.fp}/edit`),
    await staff.call("PUT", `/patients/${foreign.fp}`, { animal: typed(), seen: [], version: "" }),
    await staff.call("PUT", `/patients/${foreign.fp}/deceased`, { died_on: null }),
    await staff.call("POST", `/patients/${foreign.fp}/remove`, {}),
  ];
  expect(strange.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
});

test("each species of the list is stored as it is and found by it", async () => {
  for (const species of SPECIES) {
    const read = animalSpecies(species);
    expect([species, read?.precise ?? read?.served]).toEqual([species, species]);
  }
});
