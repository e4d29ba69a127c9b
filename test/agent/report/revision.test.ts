import { describe, expect, test } from "vitest";
import { revise } from "../../../agent/report/revision.ts";
import type { StudyDraft } from "../../../agent/spool/queries/studies/revisions.ts";
import type { FlaggedPatient } from "../../../shared/api/study.ts";
import { alt, studyDraft } from "../../support/clinic/study.ts";

const creatinine = { analyte: "CREA", value: 1.1, unit: "mg/dL", reference_range: "0.5-1.5", flag: "normal" } as const;
const held = studyDraft({ results: [alt(50), creatinine] });
const results = (late: Partial<StudyDraft["body"]>) => revise(held, studyDraft(late))?.body.results ?? null;

describe("nothing new", () => {
  test.each([
    ["the same results", { results: [alt(50), creatinine] }],
    ["the same results in another order", { results: [creatinine, alt(50)] }],
    ["some of them", { results: [creatinine] }],
    ["a newer time", { acquired_at: "2027-01-01T00:00:00.000Z" }],
    ["another message", { source: { device_id: "chem-1", message_id: "M2" } }],
    ["a patient that is no longer known", { patient_fp: null }],
    ["another patient under the same number", { patient_fp: "patient_01K9TEST000000000000000002" }],
    ["a flag that newer reference data would give", { results: [{ ...alt(50), flag: "high" as const }] }],
  ])("%s is a resend", (_, late) => {
    expect(results(late)).toBeNull();
  });
});

describe("news", () => {
  test("a corrected value takes the place of the first, the others stay", () => {
    expect(results({ results: [alt(51)] })).toEqual([alt(51), creatinine]);
  });

  test("a late test joins the earlier ones: one-test-per-message analyzers", () => {
    const late = { ...alt(7), analyte: "ALP" };
    expect(results({ results: [late] })).toEqual([alt(50), creatinine, late]);
  });

  test.each([
    ["unit", { ...alt(50), unit: "ukat/L" }],
    ["comparator", { ...alt(50), comparator: "<" as const }],
    ["printed text", { ...alt(50), value_text: "1+" }],
  ])("another %s is a correction", (_, row) => {
    expect(results({ results: [row] })).toEqual([row, creatinine]);
  });

  test("an analyte measured twice is replaced completely", () => {
    const twice = revise(
      studyDraft({ results: [alt(1), creatinine, alt(2)] }),
      studyDraft({ results: [alt(3), alt(4)] }),
    );
    expect(twice?.body.results).toEqual([alt(3), alt(4), creatinine]);
  });

  test("images are read together, so that a later reading replaces all results", () => {
    const row = (analyte: string) => ({ ...alt(5), analyte, reference_range: null, flag: null });
    const reading = (images: string, analyte: string) => {
      const draft = studyDraft({ results: [row(analyte)] });
      const printed = { code: analyte, interval_id: null, reason: null, text: "5", device_range: null };
      const rows = [{ analyte, ...printed, device_species: null, device_flag: null }];
      return { ...draft, snapshot: { ...draft.snapshot, images, rows } };
    };
    const revised = revise(reading("01", "Ejection Fraction"), reading("02", "EF"));
    expect([revised?.body.results, revised?.snapshot.rows.map(({ analyte }) => analyte)]).toEqual([
      [row("EF")],
      ["EF"],
    ]);
  });

  describe("the clinic's mapping of a device's code", () => {
    /** A study of creatinine and one row under the device's code GLI. */
    const mappedTo = (analyte: string, code_source?: "device" | "clinic") => {
      const source = code_source === undefined ? {} : { code_source };
      const draft = studyDraft({
        results: [creatinine, { ...alt(5.1), analyte, reference_range: null, flag: null, ...source }],
      });
      const shared = { interval_id: null, reason: null, text: "5.1", device_range: null };
      const row = (code: string, device_code: string) => ({
        ...shared,
        analyte: code,
        code,
        device_species: null,
        device_flag: null,
        device_code,
      });
      return { ...draft, snapshot: { ...draft.snapshot, rows: [row("CREA", "CREA"), row(analyte, "GLI")] } };
    };

    test.each([
      ["replaces the row of the device's code", mappedTo("GLI", "device"), mappedTo("GLU", "clinic")],
      ["replaces the catalogue's analyte", mappedTo("CHOL"), mappedTo("GLU", "clinic")],
      ["gives way to the device's code once it is removed", mappedTo("GLU", "clinic"), mappedTo("GLI", "device")],
      ["gives way to the catalogue's analyte once it is removed", mappedTo("GLU", "clinic"), mappedTo("CHOL")],
    ])("%s", (_, before, after) => {
      const revised = revise(before, after);
      expect(revised?.body.results).toEqual(after.body.results);
      expect(revised?.snapshot.rows).toEqual(after.snapshot.rows);
    });

    test("two codes of the catalogue under one device code stay, as of a device with a constant code", () => {
      const revised = revise(mappedTo("CHOL"), mappedTo("GLU"));
      expect(revised?.body.results.map(({ analyte }) => analyte)).toEqual(["CREA", "CHOL", "GLU"]);
    });
  });

  test("a corrected count leaves the percentage of the same device code", () => {
    const count = { ...alt(250), analyte: "PLT", unit: "10*9/L" };
    const percentage = { ...alt(12), analyte: "PLT", unit: "%", reference_range: null, flag: null };
    const rowOf = (text: string) => ({
      ...{ analyte: "PLT", code: "PLT", interval_id: null, reason: null, text, device_range: null },
      ...{ device_species: null, device_flag: null, device_code: "PLT" },
    });
    const draftOf = (...rows: readonly StudyDraft["body"]["results"][number][]) => {
      const draft = studyDraft({ results: [...rows] });
      return { ...draft, snapshot: { ...draft.snapshot, rows: rows.map(({ value }) => rowOf(String(value))) } };
    };
    const own = { ...percentage, code_source: "device" as const };
    const corrected = { ...count, value: 260 };
    expect(revise(draftOf(own, count), draftOf(corrected))?.body.results).toEqual([own, corrected]);
  });

  test("a device's own GLU never replaces the glucose of the catalogue", () => {
    const glucose = { ...alt(5), analyte: "GLU" };
    const own = { ...glucose, value: 12, reference_range: null, flag: null, code_source: "device" as const };
    const revised = revise(studyDraft({ results: [glucose] }), studyDraft({ results: [own] }));
    expect(revised?.body.results).toEqual([glucose, own]);
  });

  test.each([
    ["doubt", { comment: "the slide has expired" }],
    ["origin of the code", { code_source: "clinic" as const }],
  ])("another %s is a correction", (_, change) => {
    const row = { ...alt(50), ...change };
    expect(results({ results: [row] })).not.toBeNull();
  });

  test("the same results for an animal known only now go to it, with its ranges", () => {
    const unmatched = studyDraft({ patient_fp: null, results: [{ ...alt(50), reference_range: null, flag: null }] });
    const revised = revise(unmatched, studyDraft());
    expect(revised?.body).toMatchObject({ patient_fp: studyDraft().body.patient_fp, results: [alt(50)] });
  });

  test("the time is the first message's, and the source the last one's", () => {
    const late = { results: [alt(51)], acquired_at: "2027-01-01T00:00:00.000Z" };
    const revised = revise(held, studyDraft({ ...late, source: { device_id: "chem-1", message_id: "M2" } }));
    expect(revised?.body).toMatchObject({ acquired_at: held.body.acquired_at, source: { message_id: "M2" } });
  });

  test("the snapshot follows the rows", () => {
    const row = (analyte: string, text: string) => ({
      analyte,
      code: analyte,
      text,
      interval_id: null,
      reason: null,
      device_range: null,
      device_species: null,
      device_flag: null,
    });
    const snapshot = (...rows: ReturnType<typeof row>[]) => ({ ...held.snapshot, rows });
    const before = { ...held, snapshot: snapshot(row("ALT", "50"), row("CREA", "1.1")) };
    const after = { ...studyDraft({ results: [alt(51)] }), snapshot: snapshot(row("ALT", "51")) };
    expect(revise(before, after)?.snapshot.rows).toEqual([row("ALT", "51"), row("CREA", "1.1")]);

    // The server recomputes the flags of a study whose rows have different patient facts.
    const dog = { species: "dog", breed: null, sex: null, date_of_birth: null };
    const patientFactsOf = (first: FlaggedPatient | null, late: FlaggedPatient, ...rows: ReturnType<typeof row>[]) =>
      revise(
        { ...before, snapshot: { ...before.snapshot, animal: first } },
        { ...after, snapshot: { ...snapshot(...rows), animal: late } },
      )?.snapshot.animal;
    const alone = [row("ALT", "51")];
    const all = [row("ALT", "51"), row("CREA", "1.1")];
    const cat = { ...dog, species: "cat" };
    expect([patientFactsOf(dog, { ...dog }, ...alone), patientFactsOf(dog, cat, ...all)]).toEqual([dog, cat]);
    expect([patientFactsOf(dog, cat, ...alone), patientFactsOf(null, cat, ...alone)]).toEqual([null, null]);
  });
});

describe("results without a value", () => {
  const gap = (analyte: string, text = "HEM") => ({ analyte, code: "no_value" as const, text });
  const draft = (codes: readonly string[], gaps: readonly ReturnType<typeof gap>[]) => {
    const made = studyDraft({ results: codes.map((analyte) => ({ ...alt(5), analyte })) });
    return { ...made, ...(gaps.length === 0 ? {} : { snapshot: { ...made.snapshot, not_reported: [...gaps] } }) };
  };
  const revised = (...[before, late]: [ReturnType<typeof draft>, ReturnType<typeof draft>]) =>
    revise(before, late)?.snapshot.not_reported ?? null;

  test("a later message replaces those that it names and keeps the others", () => {
    const before = draft(["ALT"], [gap("CREA"), gap("K")]);
    expect(revised(before, draft(["ALT"], [gap("CREA", "----")]))).toEqual([gap("CREA", "----"), gap("K")]);
    expect(revised(before, draft(["ALT"], [gap("CREA"), gap("K"), gap("GLU")]))).toHaveLength(3);
    expect(revise(before, before)).toBeNull();
    // A resend of each message in turn changes nothing.
    expect(revise(before, draft(["ALT"], [gap("K")]))).toBeNull();
    expect(revise(before, draft(["ALT"], [gap("CREA")]))).toBeNull();
    const withdrawn = { ...draft(["ALT"], []), withdrawn: ["CREA"] };
    expect(revise(before, withdrawn)?.snapshot.not_reported).toEqual([gap("K")]);
  });

  test("a value that arrives takes the place of the mark, and a failed repetition does not hide it", () => {
    const late = revise(draft(["ALT"], [gap("CREA")]), draft(["CREA"], []));
    expect(late?.body.results.map(({ analyte }) => analyte)).toEqual(["ALT", "CREA"]);
    expect(late?.snapshot.not_reported).toBeUndefined();
    expect(revise(draft(["ALT", "CREA"], []), draft(["ALT"], [gap("CREA")]))).toBeNull();
  });
});
