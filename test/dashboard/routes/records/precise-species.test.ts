import { expect, test } from "vitest";
import { clinic, connection, patient, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";
import { animalSpecies } from "../../../../shared/clinical/species.ts";
import { ours, pushTo, waiting } from "../../unmatched-clinic.ts";
import { SPECIES } from "../../../../server/dashboard/types/patients.ts";
import { isStudyWord } from "../../../../server/dashboard/types/results/study-words.ts";
import type { AssignPreview, UnmatchedDetails } from "../../../../server/dashboard/types/results/unmatched.ts";

// Animals that the API serves as exotic: the dashboard names them, and judges a device's word by them.

const ferret = patient({ name: "Boncuk", species: "Frettchen", date_of_birth: "2024-01-01" });
const pig = patient({ name: "Boncuk", species: "Meerschweinchen" });
const grey = patient({ name: "Paşa", species: "Jako papağanı" });

async function startClinic() {
  const connections = [ferret, pig, grey].map(({ fp }) => connection(fp, ours));
  const server = await startServer(clinic(ours), ferret, pig, grey, connections);
  const staff = await makeUser(server, "staff", ours);
  const get = async <Body>(path: string) => (await staff.call<Body>("GET", path)).body;
  return { server, staff, get };
}

test("a guinea pig's result goes to a ferret only if a person types what the patient is", async () => {
  const { server, staff, get } = await startClinic();
  const sent = waiting({ name: "Boncuk", species: "Guinea pig" });
  await pushTo(server, ours, sent);
  const { candidates } = await get<UnmatchedDetails>(`/unmatched/${sent.fp}`);
  expect(candidates.map((each) => [each.patient.fp, each.patient.species, each.signs])).toEqual([
    [pig.fp, "guinea_pig", ["name", "species"]],
    [ferret.fp, "ferret", ["name", "otherSpecies"]],
  ]);
  const preview = async (fp: string) => get<AssignPreview>(`/unmatched/${sent.fp}/preview/${fp}`);
  expect(await preview(pig.fp)).toMatchObject({ contradicted_species: null, patient: { species: "guinea_pig" } });
  expect(await preview(ferret.fp)).toMatchObject({
    contradicted_species: "Guinea pig",
    patient: { species: "ferret" },
  });
  const assign = async (typed_species: string) => {
    const wanted = { revision: 1, patient_fp: ferret.fp, typed_species };
    return staff.call<{ error?: { details: unknown } }>("POST", `/unmatched/${sent.fp}/assign`, wanted);
  };
  for (const typed of ["", "guinea pig", "horse"]) {
    const { status, body } = await assign(typed);
    const details = { code: "MATCH.OTHER_SPECIES", values: ["guinea_pig", "ferret"] };
    expect([typed, status, body.error?.details]).toEqual([typed, 409, details]);
  }
  expect((await assign("gelincik")).status).toBe(200);
});

test("lists and the page of a study name the animal itself, and the API the word of the specification", async () => {
  const { server, staff, get } = await startClinic();
  const sent = waiting({}, { patient_fp: grey.fp });
  await pushTo(server, ours, sent);
  const visit = { title: "Check", type: "CHECKUP", patient_fp: grey.fp, assigned_user_fp: null };
  const at = { start_at: "2026-11-25T08:00:00.000Z", end_at: "2026-11-25T08:30:00.000Z" };
  expect((await staff.call("POST", "/calendar", { ...visit, ...at })).status).toBe(200);
  const record = { patient_fp: grey.fp, soap_type: "EXAMINATION", subjective: "Calm.", objective: null };
  expect((await staff.call("POST", "/records", { ...record, assessment: null, plan: null })).status).toBe(200);
  const named = { fp: grey.fp, species: "african_grey" };
  expect(await get("/results")).toMatchObject({ items: [{ patient: named }] });
  expect(await get(`/results/${sent.fp}`)).toMatchObject({ patient: named });
  expect(await get("/records")).toMatchObject({ items: [{ patient: named }] });
  expect(await get("/calendar?start=2026-11-25T00:00:00.000Z&end=2026-11-26T00:00:00.000Z")).toMatchObject({
    events: [{ patient: named }],
  });
  expect(await get("/today")).toMatchObject({ newest: [{ patient: named }] });
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  expect((await server.get(key, `/api/v1/patients/${grey.fp}`)).body.data).toMatchObject({ species: "bird" });
});

test("each animal of a form is stored as it was chosen, and has words in both languages", () => {
  for (const chosen of SPECIES) {
    const read = animalSpecies(chosen);
    expect([chosen, read?.precise ?? read?.served, isStudyWord(chosen)]).toEqual([chosen, chosen, true]);
  }
  expect(new Set(SPECIES).size).toBe(SPECIES.length);
});
