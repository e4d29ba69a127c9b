import { expect, test } from "vitest";
import type { PatientList } from "../../../../server/dashboard/types/patients.ts";
import type { Reason } from "../../../../shared/api/reason.ts";
import type {
  NewRevision,
  AssignPreview,
  UnmatchedList,
  UnmatchedDetails,
} from "../../../../server/dashboard/types/results/unmatched.ts";
import { connection, importEntities, patient, startServer } from "../../../server/harness.ts";
import { cat, clinicEntities, dog, ours, pushTo, readStudy, theirs, waiting } from "../../unmatched-clinic.ts";
import { makeUser } from "../../harness.ts";

// Goal: a user places, rejects and reopens studies of the own clinic, and nobody else's.

interface Refused {
  error: { code: string; message: string; details?: Reason };
}

async function startClinic() {
  const server = await startServer(...clinicEntities);
  const [staff, other] = [await makeUser(server, "staff", ours), await makeUser(server, "staff", ours)];
  const studyOf = async (fp: string) => (await staff.call<UnmatchedDetails>("GET", `/unmatched/${fp}`)).body;
  return { server, staff, other, studyOf };
}

test("the list has the waiting studies in both orders, and the rejected ones apart", async () => {
  const { server, staff } = await startClinic();
  const [first, second] = [waiting({ name: "Karabas" }), waiting()];
  await pushTo(server, ours, first, second);
  await pushTo(server, theirs, waiting());
  const fps = async (path: string) => {
    const { body } = await staff.call<UnmatchedList>("GET", path);
    return [body.waiting, body.rejected, ...body.studies.map(({ fp }) => fp)];
  };
  expect(await fps("/unmatched")).toEqual([2, 0, first.fp, second.fp]);
  expect(await fps("/unmatched?order=newest")).toEqual([2, 0, second.fp, first.fp]);
  await staff.call("POST", `/unmatched/${first.fp}/reject`, { revision: 1, reason: " a control sample " });
  expect(await fps("/unmatched")).toEqual([1, 1, second.fp]);
  expect(await fps("/unmatched?rejected=1")).toEqual([1, 1, first.fp]);
});

test("a study shows what the device sent, why it waits, and the candidates with their signs", async () => {
  const { server, studyOf } = await startClinic();
  const sent = waiting({ name: "Karabas", species: "Köpek" });
  const reason = { code: "MATCH.UNKNOWN_IDENTIFIER", values: ["4711"] };
  const source = { device_id: "chem-1", message_id: "1", sample_ids: ["S-7"] };
  await pushTo(server, ours, { ...sent, source, unmatched: reason });
  expect(await studyOf(sent.fp)).toMatchObject({
    device_id: "chem-1",
    sample_ids: ["S-7"],
    reason,
    revision: 1,
    patient: null,
    can_undo: false,
    results: [{ analyte: "ALT", value: "100", unit: "U/L", device_range: null }],
    candidates: [{ patient: { fp: dog.fp, name: "Karabaş" }, signs: ["name", "species"], number: null }],
    history: [{ revision: 1, cause: "pushed", by: null }],
  });
});

test("an unmatched study shows all other text of the patient, and the analyzer's words on the sample", async () => {
  const { server, studyOf } = await startClinic();
  const sent = waiting({ name: "Karabas" });
  const other = [{ field: "PID-13", text: "555 123" }];
  await pushTo(server, ours, { ...sent, patient_hint: { ...sent.patient_hint, other }, comments: ["Lipemic"] });
  expect(await studyOf(sent.fp)).toMatchObject({ hint: { other }, comments: ["Lipemic"] });
});

test("the preview has the flags that the API serves once the study is filed", async () => {
  const { server, staff } = await startClinic();
  const sent = waiting();
  await pushTo(server, ours, sent);
  const preview = async (fp: string) =>
    (await staff.call<AssignPreview>("GET", `/unmatched/${sent.fp}/preview/${fp}`)).body;
  expect((await preview(dog.fp)).results).toMatchObject([{ reference_range: "17-95", flag: "high", side: "high" }]);
  const ofCat = await preview(cat.fp);
  expect(await readStudy(server, sent.fp)).toBeNull();
  const placed = await staff.call<NewRevision>("POST", `/unmatched/${sent.fp}/assign`, {
    revision: 1,
    patient_fp: cat.fp,
  });
  expect([placed.status, placed.body]).toEqual([200, { revision: 2 }]);
  const read = await readStudy(server, sent.fp);
  expect(read?.results.map(({ reference_range, flag }) => [reference_range, flag])).toEqual([["28-109", "normal"]]);
  expect(ofCat.results.map(({ reference_range, flag }) => [reference_range, flag])).toEqual([["28-109", "normal"]]);
});

test("the preview has the patient's last value, and the facts in which the device contradicts the patient", async () => {
  const { server, staff } = await startClinic();
  const before = waiting({}, { patient_fp: dog.fp, acquired_at: "2026-01-02T08:00:00.000Z" });
  const sent = waiting({ sex: dog.sex === "male" ? "F" : "M", date_of_birth: "1999-01-01" });
  await pushTo(server, ours, before, sent);
  const { body } = await staff.call<AssignPreview>("GET", `/unmatched/${sent.fp}/preview/${dog.fp}`);
  expect(body).toMatchObject({
    contradicted_species: null,
    contradicted: ["sex", "date_of_birth"],
    results: [{ number: 100, low: 17, high: 95, before: { fp: before.fp, value: "100", number: 100 } }],
  });
});

test("a study goes to an animal whose facts the device contradicts only if the user has checked each of them", async () => {
  const { server, staff } = await startClinic();
  const sent = waiting({ sex: dog.sex === "male" ? "F" : "M", date_of_birth: "1999-01-01" });
  await pushTo(server, ours, sent);
  const assign = async (checked: object) =>
    staff.call<Refused>("POST", `/unmatched/${sent.fp}/assign`, { revision: 1, patient_fp: dog.fp, ...checked });
  for (const checked of [{}, { checked: [] }, { checked: ["sex"] }, { checked: ["date_of_birth"] }]) {
    const { status, body } = await assign(checked);
    expect([status, body.error.details]).toEqual([409, { code: "MATCH.UNCHECKED_FACTS", values: [dog.name] }]);
  }
  expect((await assign({ checked: ["weight"] })).status).toBe(400);
  expect(await readStudy(server, sent.fp)).toBeNull();
  expect((await assign({ checked: ["sex", "date_of_birth"] })).status).toBe(200);
  expect(await readStudy(server, sent.fp)).toMatchObject({ patient_fp: dog.fp });
});

test("a study of a cat goes to a dog only if the user types the dog's species", async () => {
  const { server, staff, studyOf } = await startClinic();
  const sent = waiting({ species: "Kedi" });
  await pushTo(server, ours, sent);
  const { body: preview } = await staff.call<AssignPreview>("GET", `/unmatched/${sent.fp}/preview/${dog.fp}`);
  expect(preview.contradicted_species).toBe("Kedi");
  const assign = async (typed: object) =>
    staff.call<Refused>("POST", `/unmatched/${sent.fp}/assign`, { revision: 1, patient_fp: dog.fp, ...typed });
  for (const typed of [{}, { typed_species: "cat" }, { typed_species: "" }]) {
    const { status, body } = await assign(typed);
    expect([status, body.error.details, body.error.message]).toEqual([
      409,
      { code: "MATCH.OTHER_SPECIES", values: ["cat", "dog"] },
      "The device says cat, but the patient is a dog: type the patient's species, dog, to file it all the same.",
    ]);
  }
  expect(await readStudy(server, sent.fp)).toBeNull();
  expect((await assign({ typed_species: " Köpek " })).status).toBe(200);
  expect((await readStudy(server, sent.fp))?.results[0]?.flag).toBe("high");
  expect((await studyOf(sent.fp)).history[0]).toMatchObject({ cause: "assigned despite species", by: staff.name });
});

test("a placement and a rejection are undone, and the history names who did what", async () => {
  const { server, staff, studyOf } = await startClinic();
  const sent = waiting();
  await pushTo(server, ours, sent);
  const run = async (name: string, body: object) =>
    (await staff.call<NewRevision>("POST", `/unmatched/${sent.fp}/${name}`, body)).body.revision;
  server.clock.now += 1000;
  expect(await run("assign", { revision: 1, patient_fp: dog.fp })).toBe(2);
  server.clock.now += 1000;
  expect(await run("reopen", { revision: 2 })).toBe(3);
  expect(await readStudy(server, sent.fp)).toBeNull();
  server.clock.now += 1000;
  expect(await run("reject", { revision: 3, reason: "a control" })).toBe(4);
  expect(await studyOf(sent.fp)).toMatchObject({ rejected_reason: "a control", can_undo: true });
  const refused = await staff.call<Refused>("POST", `/unmatched/${sent.fp}/assign`, {
    revision: 4,
    patient_fp: dog.fp,
  });
  expect([refused.status, refused.body.error.message]).toEqual([409, "This study is rejected: undo that first."]);
  server.clock.now += 1000;
  expect(await run("reopen", { revision: 4 })).toBe(5);
  const { history } = await studyOf(sent.fp);
  expect(history.map(({ cause, by, patient: filedTo }) => [cause, by, filedTo?.name])).toEqual([
    ["undone", staff.name, undefined],
    ["rejected", staff.name, undefined],
    ["undone", staff.name, undefined],
    ["assigned", staff.name, "Karabaş"],
    ["pushed", null, undefined],
  ]);
});

test("of two users who place one study simultaneously, the second reads who was first", async () => {
  const { server, staff, other } = await startClinic();
  const sent = waiting();
  await pushTo(server, ours, sent);
  const body = { revision: 1 };
  const answers = await Promise.all([
    staff.call<Refused>("POST", `/unmatched/${sent.fp}/assign`, { ...body, patient_fp: dog.fp }),
    other.call<Refused>("POST", `/unmatched/${sent.fp}/assign`, { ...body, patient_fp: cat.fp }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  const [winner, name] = answers[0].status === 200 ? [staff, "Karabaş"] : [other, "Pamuk"];
  const refused = answers.find(({ status }) => status === 409);
  const sentence = `${winner.name} changed this study meanwhile: it is filed to ${name} now.`;
  expect(refused?.body.error).toMatchObject({ code: "RECORD.REFUSED", message: sentence });
});

test("a search finds patients by a part of the name, a number and the fp", async () => {
  const { staff } = await startClinic();
  const found = async (text: string) => {
    const path = `/patients?search=${encodeURIComponent(text)}`;
    return (await staff.call<PatientList>("GET", path)).body.patients.map(({ name }) => name);
  };
  expect(await found("KARABAS")).toEqual(["Karabaş"]);
  expect(await found("muk")).toEqual(["Pamuk"]);
  expect(await found("1002")).toEqual(["Karabaş", "Pamuk"]);
  expect(await found(cat.fp)).toEqual(["Pamuk"]);
  expect(await found("  ")).toEqual(["Karabaş", "Pamuk"]);
});

test("a study that its agent filed meanwhile stays with the agent's patient", async () => {
  const { server, staff } = await startClinic();
  const newcomer = patient();
  const sent = { ...waiting(), patient_fp: newcomer.fp };
  await pushTo(server, ours, sent);
  await importEntities(server.store, newcomer, connection(newcomer.fp, ours));
  // The agent sends the study again, with the revision that the user sees.
  await pushTo(server, ours, sent);
  const body = { revision: 1, patient_fp: dog.fp };
  const refused = await staff.call<Refused>("POST", `/unmatched/${sent.fp}/assign`, body);
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    "The agent filed this study meanwhile. Look again.",
  ]);
  expect((await readStudy(server, sent.fp))?.patient_fp).toBe(newcomer.fp);
});
