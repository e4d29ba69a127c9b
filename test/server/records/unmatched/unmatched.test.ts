import { describe, expect, test } from "vitest";
import { explainLines, unmatchedTable } from "../../../../server/cli/studies/study-text.ts";
import { listRows, listRowsOf } from "../../../../server/records/audit/audit.ts";
import { CONFLICTS_MAX, listConflicts } from "../../../../server/records/studies/conflicts.ts";
import { listUnmatched } from "../../../../server/records/unmatched/unmatched.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { replaceRanges } from "../../../../server/records/clinics/ranges.ts";
import type { Entity } from "../../../../server/import/lines.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { catalogueVersion } from "../../../../shared/clinical/reference.ts";
import { type Measurement, resultsOf } from "../../../../shared/clinical/results.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  noon,
  patient,
  startServer,
  study,
} from "../../harness.ts";
import { intervalsByAge } from "../../records.ts";
import {
  assignStudy,
  candidatesFor,
  historyOf,
  moveStudy,
  rejectStudy,
  reopenStudy,
  viewStudy,
} from "../../study-commands.ts";

// Goal: a user places unmatched studies and can undo it, and the history and the audit record each command.

const ours = newFp("clinic");
const theirs = newFp("clinic");
const by = { by: "vet", now: noon };

function alt(value: number, more: Partial<Measurement> = {}): Measurement {
  const sent = { comparator: null, ordinal: false, text: String(value), unit: "U/L" };
  return { code: "ALT", value, ...sent, device_range: null, device_flag: null, ...more };
}

/** Builds the study of an agent that does not know the patient. */
function held(measurements: Measurement[], more: Partial<PushedStudy> = {}): PushedStudy {
  const { device_name, acquired_at } = study();
  const context = { signalment: null, instrument: device_name, acquired_at, ranges: null };
  return study({ ...resultsOf(measurements, context, ["a note"]), ...more });
}

async function startClinic(...more: Entity[]) {
  const [dog, cat, foreign] = [
    patient({ name: "Karabaş", species: "dog" }),
    patient({ name: "Pamuk", species: "cat" }),
    patient({ name: "Rex" }),
  ];
  const server = await startServer(
    [clinic(ours), clinic(theirs), dog, cat, foreign],
    [connection(dog.fp, ours), connection(cat.fp, ours), connection(foreign.fp, theirs)],
    more,
  );
  const key = await server.makeKey(ours, [...keyPermissions, "clinic.lab.view"]);
  const { store } = server;
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  return {
    server,
    store,
    clinicId,
    dog,
    cat,
    foreign,
    push: async (...studies: unknown[]) => server.push(key, ...studies),
    assign: async (fp: string, patientFp: string, options: { typedSpecies?: string } = {}) =>
      store.transaction((session) => assignStudy(session, { ...by, ...options, fp, patientFp })),
    reject: async (fp: string, reason: string) =>
      store.transaction((session) => rejectStudy(session, { ...by, fp, reason })),
    undo: async (fp: string) => store.transaction((session) => reopenStudy(session, { ...by, fp })),
    list: async (rejected = false) => {
      const found: string[] = [];
      for await (const { fp } of listUnmatched(store, { clinicId, rejected })) found.push(fp);
      return found;
    },
    /** @returns the study of GET; null on any other status */
    read: async (fp: string) => {
      const { status, body } = await server.get(key, `/api/v1/lab/diagnostics/${fp}`);
      return status === 200 ? body.data : null;
    },
  };
}

describe("placing", () => {
  test("a placed study is readable by its fp, with the patient's ranges and flags, as a new revision", async () => {
    const { push, assign, read, list, store, dog, cat } = await startClinic();
    const [one, other] = [held([alt(100)]), held([alt(100)])];
    await push(one, other);
    expect(await list()).toEqual([one.fp, other.fp]);
    expect(await read(one.fp)).toBeNull();

    expect(await assign(one.fp, dog.fp)).toBeNull();
    expect(await assign(other.fp, cat.fp)).toBeNull();
    expect(await list()).toEqual([]);
    const row = { analyte: "ALT", value: 100, unit: "U/L" };
    expect(await read(one.fp)).toEqual({
      fp: one.fp,
      patient_fp: dog.fp,
      modality: "BIOCHEMISTRY",
      device_name: one.device_name,
      status: "COMPLETED",
      acquired_at: one.acquired_at,
      results: [{ ...row, reference_range: "17-95", flag: "high" }],
      revision: 2,
    });
    expect((await read(other.fp))?.results).toEqual([{ ...row, reference_range: "28-109", flag: "normal" }]);
    const { snapshot, revision, cause } = (await viewStudy(store, one.fp)) ?? {};
    expect([revision, cause, snapshot?.catalogue, snapshot?.rows[0]?.interval_id, snapshot?.notes]).toEqual([
      2,
      "assigned",
      catalogueVersion,
      "dog-any-any-alt-cornell_cobas_2017",
      ["a note"],
    ]);
  });

  test("a placed study uses the device's range for the species, with LL and HH, as the agent does", async () => {
    const { push, assign, read, dog, cat } = await startClinic();
    const device_range = { low: 10, high: 50, text: "10-50", species: "dog" };
    const [ofDog, ofCat] = [alt(60, { device_range, device_flag: "HH" }), alt(60, { device_range })];
    const [one, other] = [held([ofDog]), held([ofCat])];
    await push(one, other);
    await assign(one.fp, dog.fp);
    await assign(other.fp, cat.fp);
    expect((await read(one.fp))?.results[0]).toMatchObject({ reference_range: "10-50", flag: "critical" });
    expect((await read(other.fp))?.results[0]).toMatchObject({ reference_range: "28-109", flag: "normal" });
  });

  test("a placed study uses the clinic's interval of the day of the sample, not of today", async () => {
    const { push, assign, read, store, clinicId, dog } = await startClinic();
    const range = { species: "dog" as const, analyte: "ALT", unit: "U/L", low: "20" };
    const rows = [
      { ...range, id: "then", high: "90", effective_from: "2026-01-01" },
      { ...range, id: "now", high: "200", effective_from: "2026-11-21" },
    ];
    await store.transaction((session) => replaceRanges(session, clinicId, { low_quality: false, rows }, noon));
    const sent = held([alt(100)], { acquired_at: "2026-11-20T10:00:00.000Z" });
    await push(sent);
    await assign(sent.fp, dog.fp);
    expect((await read(sent.fp))?.results[0]).toMatchObject({ reference_range: "20-90", flag: "high" });
    expect((await viewStudy(store, sent.fp))?.snapshot?.rows[0]?.interval_id).toBe("clinic:then");
  });

  test("a placed study uses the patient's age on the day of the sample, not of today", async () => {
    // The patient is 365 days old on the day of the sample and 366 today.
    const young = patient({ date_of_birth: "2025-11-20" });
    const { push, assign, read, store, clinicId } = await startClinic(young, connection(young.fp, ours));
    await store.transaction((session) => replaceRanges(session, clinicId, intervalsByAge, noon));
    const sent = held([alt(100)], { acquired_at: "2026-11-20T10:00:00.000Z" });
    await push(sent);
    await assign(sent.fp, young.fp);
    expect((await read(sent.fp))?.results[0]).toMatchObject({ reference_range: "20-90", flag: "high" });
  });

  test("a study without a snapshot can be placed, and an unknown analyte has no flag", async () => {
    const { push, assign, read, dog } = await startClinic();
    const result = { analyte: "ALT", value: 150, unit: "U/L", reference_range: null, flag: null };
    const [known, unknown] = [study({ results: [result] }), study({ results: [{ ...result, analyte: "XYZ" }] })];
    await push(known, unknown);
    await assign(known.fp, dog.fp);
    await assign(unknown.fp, dog.fp);
    expect((await read(known.fp))?.results[0]).toMatchObject({ reference_range: "17-95", flag: "high" });
    expect((await read(unknown.fp))?.results).toEqual([{ ...result, analyte: "XYZ" }]);
  });

  test("a placed study keeps the meaning of measurements in images, which have no intervals", async () => {
    const { push, assign, read, store, dog } = await startClinic();
    const result = { analyte: "LVIDd", value: 3.85, unit: "cm", reference_range: null, flag: null };
    const row = {
      analyte: "LVIDd",
      code: "LN 29436-3",
      interval_id: null,
      reason: { code: "INTERVAL.NOT_FOR_IMAGES", values: [] },
      text: "3.85",
      device_range: null,
      device_species: null,
      device_flag: null,
      meaning: "Internal Dimension (Left Ventricle)",
    };
    const snapshot = { catalogue: "1", ranges: null, instrument: null, rows: [row], notes: [], images: "00" };
    const sent = study({ modality: "ULTRASOUND", results: [result], snapshot });
    expect(await push(sent)).toMatchObject([{ outcome: "unmatched" }]);
    const line = "  LVIDd  3.85  cm  no range  no flag  = Internal Dimension (Left Ventricle)";
    await assign(sent.fp, dog.fp);
    expect((await read(sent.fp))?.results).toEqual([result]);
    const view = await viewStudy(store, sent.fp);
    expect(view?.snapshot).toEqual(snapshot);
    const story = { history: [], conflicts: [], audit: [], ranges: undefined };
    expect(view ? explainLines(view, story) : []).toContain(
      `${line}  printed 3.85  no interval; no reference intervals for measurements in images`,
    );
  });

  test("a placement with the patient that has the study is refused", async () => {
    const { push, assign, dog } = await startClinic();
    const sent = held([alt(100)]);
    await push(sent);
    expect(await assign(sent.fp, dog.fp)).toBeNull();
    expect(await assign(sent.fp, dog.fp)).toEqual({ code: "STUDY.FILED_THERE", values: ["Karabaş"] });
  });

  test("a placement with a patient of another species than the device stated is refused, in any spelling", async () => {
    const { push, assign, read, list, dog, cat } = await startClinic();
    const stating = (species: string | null) =>
      held([alt(100)], { patient_hint: { ...study().patient_hint, species } });
    const [feline, kedi, unknown, none] = [stating("Feline"), stating("KEDİ"), stating("General"), stating(null)];
    await push(feline, kedi, unknown, none);
    const refused = { code: "MATCH.OTHER_SPECIES", values: ["cat", "dog"] };
    expect(await assign(feline.fp, dog.fp)).toEqual(refused);
    expect(await assign(kedi.fp, dog.fp)).toEqual(refused);
    expect(await assign(kedi.fp, dog.fp, { typedSpecies: "cat" })).toEqual(refused);
    expect(await list()).toEqual([feline, kedi, unknown, none].map(({ fp }) => fp));
    expect(await assign(kedi.fp, cat.fp)).toBeNull();
    expect(await assign(unknown.fp, dog.fp)).toBeNull();
    expect(await assign(none.fp, dog.fp)).toBeNull();
    expect(await read(feline.fp)).toBeNull();
  });

  test("a placement despite the species is in the cause, the notes and the audit, if the species differ", async () => {
    const { push, assign, read, store, dog, cat } = await startClinic();
    const patient_hint = { ...study().patient_hint, species: "Feline" };
    const [wrong, right] = [held([alt(100)], { patient_hint }), held([alt(100)], { patient_hint })];
    await push(wrong, right);
    expect(await assign(wrong.fp, dog.fp, { typedSpecies: "dog" })).toBeNull();
    expect(await assign(right.fp, cat.fp, { typedSpecies: "cat" })).toBeNull();
    expect((await read(wrong.fp))?.results[0]).toMatchObject({ reference_range: "17-95", flag: "high" });
    const note = `filed to ${dog.fp} despite the species: the device states cat, the patient is a dog`;
    const told = async (fp: string) => {
      const [, placed] = await historyOf(store, fp);
      // The audit queue may have written the row of the GET already.
      const commands = (await listRowsOf(store, fp)).filter(({ method }) => method === "COMMAND");
      return [placed?.cause, placed?.snapshot?.notes, commands.map(({ route }) => route)];
    };
    expect(await told(wrong.fp)).toEqual([
      "assigned despite species",
      ["a note", note],
      ["unmatched assign --despite species"],
    ]);
    expect(await told(right.fp)).toEqual(["assigned", ["a note"], ["unmatched assign"]]);
  });

  test("a wrong placement is reopened and repeated, and the audit has all three commands", async () => {
    const { push, assign, undo, read, list, store, dog, cat } = await startClinic();
    const sent = held([alt(100)]);
    await push(sent);
    await assign(sent.fp, cat.fp);
    expect(await undo(sent.fp)).toBeNull();
    expect(await read(sent.fp)).toBeNull();
    expect(await list()).toEqual([sent.fp]);
    const view = await viewStudy(store, sent.fp);
    expect(view?.study.results[0]).toMatchObject({ value: 100, reference_range: null, flag: null });
    expect(view?.unmatched_reason).toEqual({ code: "PERSON.REOPENED", values: [cat.fp] });
    expect(await undo(sent.fp)).toEqual({ code: "STUDY.NOT_PLACED", values: [] });
    await assign(sent.fp, dog.fp);
    expect((await read(sent.fp))?.patient_fp).toBe(dog.fp);

    const acts = [];
    for await (const row of listRows(store, { since: 0, until: noon + 1 })) {
      if (row.method === "COMMAND") acts.push([row.route, row.fp, row.address]);
    }
    expect(acts).toEqual([
      ["unmatched assign", sent.fp, "vet"],
      ["unmatched assign", cat.fp, "vet"],
      ["unmatched reopen", sent.fp, "vet"],
      ["unmatched reopen", cat.fp, "vet"],
      ["unmatched assign", sent.fp, "vet"],
      ["unmatched assign", dog.fp, "vet"],
    ]);
    const [first, second] = await listRowsOf(store, sent.fp);
    expect(first?.request_id).not.toBe(second?.request_id);
  });

  test("a user moves a study with a mistyped identifier, and the agent cannot move it back", async () => {
    const { push, assign, read, dog, cat, store } = await startClinic();
    const sent = study({ patient_fp: dog.fp });
    await push(sent);
    expect(await assign(sent.fp, cat.fp)).toEqual({ code: "STUDY.FILED_BY_AGENT", values: [] });
    const move = { ...by, fp: sent.fp, patientFp: cat.fp, reason: "a mistyped identifier" };
    expect(await store.transaction((session) => moveStudy(session, move))).toBeNull();
    expect((await read(sent.fp))?.patient_fp).toBe(cat.fp);
    expect((await push(sent))[0]?.outcome).toBe("unchanged");
    const [answer] = await push({ ...sent, revision: 2 });
    expect(answer).toEqual({
      fp: sent.fp,
      outcome: "conflict",
      code: "STUDY.PLACED_ELSEWHERE",
      values: [cat.fp, dog.fp],
      reason: `a person filed this study to ${cat.fp}, this revision is for ${dog.fp}`,
    });
    expect((await read(sent.fp))?.patient_fp).toBe(cat.fp);
    expect(await listConflicts(store, { fp: sent.fp })).toHaveLength(1);
  });
});

test("the last result that identifies the patient flags the earlier results too, in one revision", async () => {
  const { push, read, store, dog } = await startClinic();
  const first = held([alt(150)]);
  await push(first);
  const { device_name, acquired_at } = first;
  const signalment = { species: "dog", subgroup: null, ageDays: null, sex: null, neutered: null };
  const late = resultsOf([alt(8, { code: "BUN", unit: "mg/dL" })], {
    signalment,
    instrument: device_name,
    acquired_at,
    ranges: null,
  });
  const snapshot = { ...late.snapshot, rows: [...(first.snapshot?.rows ?? []), ...late.snapshot.rows] };
  const whole = { ...first, patient_fp: dog.fp, revision: 2, results: [...first.results, ...late.results], snapshot };
  expect((await push(whole))[0]?.outcome).toBe("filed");
  expect(
    (await read(first.fp))?.results.map(({ analyte, reference_range, flag }) => [analyte, reference_range, flag]),
  ).toEqual([
    ["ALT", "17-95", "high"],
    ["BUN", "9-26", "low"],
  ]);
  expect((await push(whole))[0]?.outcome).toBe("unchanged");
  expect(await historyOf(store, first.fp)).toHaveLength(2);
});

describe("a study that a user placed", () => {
  test("a correction without a patient stays with the user's patient, and its resend changes nothing", async () => {
    const { push, assign, read, store, dog } = await startClinic();
    const sent = held([alt(50)]);
    await push(sent);
    await assign(sent.fp, dog.fp);
    const corrected = { ...held([alt(150)], { fp: sent.fp, dedupe_key: sent.dedupe_key }), revision: 2 };
    expect(await push(corrected)).toEqual([{ fp: sent.fp, outcome: "filed", reason: null }]);
    expect((await read(sent.fp))?.results[0]).toMatchObject({ value: 150, reference_range: "17-95", flag: "high" });
    expect((await push(corrected))[0]?.outcome).toBe("unchanged");
    expect((await push(sent))[0]?.outcome).toBe("unchanged");
    expect((await push({ ...sent, results: corrected.results }))[0]?.outcome).toBe("conflict");
    expect((await historyOf(store, sent.fp)).map(({ revision, cause }) => [revision, cause])).toEqual([
      [1, "pushed"],
      [2, "assigned"],
      [3, "pushed"],
    ]);
  });

  test("the same measurement under a new fp finds the placed study", async () => {
    const { push, assign, dog } = await startClinic();
    const sent = held([alt(50)]);
    await push(sent);
    await assign(sent.fp, dog.fp);
    const [answer] = await push({ ...sent, fp: newFp("cds") });
    expect(answer).toMatchObject({ outcome: "unchanged", existing_fp: sent.fp });
  });

  test("a reopened study stays unmatched, whatever the agent sends", async () => {
    const { push, assign, undo, list, dog, cat } = await startClinic();
    const sent = study({ patient_fp: newFp("patient") });
    await push(sent);
    await assign(sent.fp, dog.fp);
    await undo(sent.fp);
    const reason = `a person took it back from ${dog.fp}`;
    const left = { fp: sent.fp, outcome: "unmatched", code: "PATIENT.LEFT_OPEN", values: [reason], reason };
    expect(await push(sent)).toEqual([left]);
    expect(await push({ ...sent, patient_fp: cat.fp, revision: 2 })).toEqual([left]);
    const again = { ...sent, patient_fp: cat.fp, fp: newFp("cds") };
    expect(await push(again)).toMatchObject([{ fp: again.fp, outcome: "unmatched", existing_fp: sent.fp }]);
    expect(await list()).toEqual([sent.fp]);
  });
});

test("an unmatched study that returns under a new fp is filed with its patient's flags, as a revision", async () => {
  const { push, read, store, dog } = await startClinic();
  const sent = held([alt(150)]);
  await push(sent);
  const again = { ...sent, patient_fp: dog.fp, fp: newFp("cds") };
  expect((await push(again))[0]).toMatchObject({ outcome: "filed", existing_fp: sent.fp });
  expect((await read(sent.fp))?.results[0]).toMatchObject({ value: 150, flag: "high" });
  const history = await historyOf(store, sent.fp);
  expect(history.map(({ revision, cause, patient_fp }) => [revision, cause, patient_fp])).toEqual([
    [1, "pushed", null],
    [2, "pushed", dog.fp],
  ]);
});

test("a rejected study leaves the list until it is reopened, and a filed study cannot be rejected", async () => {
  const { push, reject, undo, assign, list, read, store, dog } = await startClinic();
  const sent = held([alt(50)]);
  await push(sent);
  expect(await reject(sent.fp, "a control sample")).toBeNull();
  expect([await list(), await list(true)]).toEqual([[], [sent.fp]]);
  expect(await reject(sent.fp, "again")).toEqual({ code: "STUDY.REJECTED", values: [] });
  expect(await read(sent.fp)).toBeNull();
  expect(await undo(sent.fp)).toBeNull();
  expect([await list(), await list(true)]).toEqual([[sent.fp], []]);
  await assign(sent.fp, dog.fp);
  expect(await reject(sent.fp, "late")).toEqual({ code: "STUDY.FILED", values: [] });
  const history = await historyOf(store, sent.fp);
  expect(
    history.map(({ cause, patient_fp, ...reasons }) => [
      cause,
      patient_fp ?? reasons.rejected_reason ?? reasons.unmatched_reason,
    ]),
  ).toEqual([
    ["pushed", { code: "PATIENT.NONE", values: [] }],
    ["rejected", "a control sample"],
    ["undone", { code: "PERSON.UNREJECTED", values: [] }],
    ["assigned", dog.fp],
  ]);
  expect(history.map(({ study: { results } }) => results[0]?.reference_range)).toEqual([null, null, null, "17-95"]);
});

test("a rejected study stays rejected when its patient is imported, and returns with another value", async () => {
  const { push, reject, list, dog } = await startClinic();
  const sent = held([alt(50)]);
  await push(sent);
  await reject(sent.fp, "a control sample");
  await push({ ...sent, revision: 2, patient_fp: dog.fp });
  expect([await list(), await list(true)]).toEqual([[], [sent.fp]]);
  await push({ ...sent, ...held([alt(60)]), fp: sent.fp, dedupe_key: sent.dedupe_key, revision: 3 });
  expect([await list(), await list(true)]).toEqual([[sent.fp], []]);
});

test("a clinic that uses fps of another clinic does not use up that clinic's conflicts", async () => {
  const { server, push, store, clinicId, dog } = await startClinic();
  const sent = held([alt(50)], { patient_fp: dog.fp });
  await push(sent);
  const theirKey = await server.makeKey(theirs, keyPermissions);
  const other = (value: number) => ({ ...sent, results: held([alt(value)]).results });
  await server.push(theirKey, ...Array.from({ length: 40 }, (_, index) => other(100 + index)));
  await push(other(51));
  expect(
    (await listConflicts(store, { fp: sent.fp, clinicId })).map(({ study: { results } }) => results[0]?.value),
  ).toEqual([51]);
});

test("a conflict is stored once with its body and shown with the study, up to a limit", async () => {
  const { push, store, clinicId, dog } = await startClinic();
  const sent = held([alt(50)], { patient_fp: dog.fp });
  await push(sent);
  const other = (value: number) => ({ ...sent, results: held([alt(value)]).results });
  expect((await push(other(51)))[0]?.outcome).toBe("conflict");
  await push(other(51));
  const [conflict, ...more] = await listConflicts(store, { fp: sent.fp });
  expect(more).toEqual([]);
  expect(conflict).toMatchObject({ fp: sent.fp, revision: 1, study: { results: [{ analyte: "ALT", value: 51 }] } });
  expect(await listConflicts(store, { fp: sent.fp, clinicId })).toHaveLength(1);
  expect(await listConflicts(store, { fp: sent.fp, clinicId: clinicId + 1 })).toEqual([]);
  expect(conflict?.reason).toEqual({ code: "STUDY.OTHER_BODY", values: ["1"] });

  await push(...Array.from({ length: 40 }, (_, index) => other(100 + index)));
  expect(await listConflicts(store, { fp: sent.fp })).toHaveLength(CONFLICTS_MAX);

  // The same dedupe key under another fp with other values contradicts the first study.
  const twinOf = held([alt(60)], { patient_fp: dog.fp });
  await push(twinOf);
  await push({ ...twinOf, fp: newFp("cds"), results: other(9).results });
  expect(await listConflicts(store, { fp: twinOf.fp })).toHaveLength(1);
});

test("an unmatched study has the device's hint and the likeliest patients with the reasons", async () => {
  const namesake = patient({ name: "Karabas", species: "cat", sex: null, weight_kg: null });
  const elsewhere = patient({ name: "Karabaş" });
  const { push, assign, store, dog } = await startClinic(
    namesake,
    elsewhere,
    connection(namesake.fp, ours),
    connection(elsewhere.fp, theirs),
  );
  const hint = { ...study().patient_hint, identifier: null, name: "Karabas", species: "Köpek", owner: "Yılmaz" };
  const earlier = held([alt(1)], { patient_hint: hint });
  const sent = held([alt(50)], { patient_hint: hint });
  await push(earlier, sent);
  await assign(earlier.fp, dog.fp);
  await importEntities(store, {
    type: "calendar_event",
    fp: newFp("calevt"),
    title: "Check-up",
    event_type: "CHECKUP",
    status: "SCHEDULED",
    start_at: "2026-11-20T15:00:00.000Z",
    end_at: "2026-11-20T15:30:00.000Z",
    patient_fp: dog.fp,
    assigned_user_fp: null,
    clinic_fp: ours,
  });
  const candidates = await candidatesFor(store, sent.fp);
  expect(candidates.map(({ patient: { fp }, reasons }) => [fp, reasons])).toEqual([
    [dog.fp, ["is called Karabaş", "has an event that day", "is a dog", "earlier results name the owner Yılmaz"]],
    [namesake.fp, ["is called Karabas", "is a cat, the device says dog"]],
  ]);
  expect(candidates[0]?.score).toBe(95);
  for await (const line of listUnmatched(store, { clinicId: null, rejected: false })) {
    expect(unmatchedTable.cells(line).slice(4)).toEqual([
      "- / Karabas / Köpek / Yılmaz",
      "",
      expect.stringContaining("patient_fp is null"),
    ]);
  }
});

test("`explain` lists all events in order of time, and the interval and source of each flag", async () => {
  const { push, assign, store, dog } = await startClinic();
  const sent = held([alt(150)]);
  await push(sent);
  await push({ ...sent, results: [] });
  await assign(sent.fp, dog.fp);
  const view = await viewStudy(store, sent.fp);
  if (view === undefined) throw new Error("no study");
  const told = {
    history: await historyOf(store, sent.fp),
    conflicts: await listConflicts(store, { fp: sent.fp }),
    audit: await listRowsOf(store, sent.fp),
    ranges: undefined,
  };
  expect(explainLines(view, told)).toEqual([
    `${sent.acquired_at}  the sample, on Abaxis VetScan VS2`,
    expect.stringContaining("  revision 1, pushed by chem-1, message 1: unmatched: patient_fp is null") as string,
    `2026-11-21T12:00:00.000Z  revision 2, assigned: ${dog.fp}`,
    expect.stringContaining("  conflict of revision 1: revision 1 is already stored with another body") as string,
    "2026-11-21T12:00:00.000Z  COMMAND unmatched assign  by vet",
    `catalogue ${catalogueVersion}, the clinic's intervals none`,
    expect.stringMatching(
      /^ {2}ALT {2}150 {2}U\/L {2}17-95 {2}high {2}printed 150 {2}dog-any-any-alt-cornell_cobas_2017: 17-95 U\/L, .+ \(cornell_cobas_2017\); a published interval for the dog, .+ applies$/,
    ) as string,
    "  note: a note",
  ]);
});
