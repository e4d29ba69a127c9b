import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMessage } from "../../../../agent/protocols/hl7/message/message.ts";
import {
  joined,
  type OruHeader,
  type OruPatient,
  type OruResult,
  type OruStudy,
  reportMessage,
  withdrawalMessage,
} from "../../../../server/records/destinations/hl7/oru.ts";
import { observationsOfStudy } from "../../../../server/records/destinations/hl7/results.ts";
import { parseByOther } from "../../../support/protocols/hl7-standard.ts";

const at = Date.parse("2026-11-21T07:00:30.000Z");

const header: OruHeader = {
  ...{ controlId: "W0777", at: Date.parse("2026-11-21T07:01:12.000Z"), zone: "Europe/Istanbul" },
  ...{ application: "PIMS", facility: "CLINIC", animalFirst: false, localFirst: false },
};

const pamuk: OruPatient = {
  ...{ fp: "patient_01", number: "00417", authority: "PIMS", family: "Örnek", name: "Pamuk", born: "2020-02-29" },
  ...{ sex: "F", neutered: true },
  species: {
    ...{ code: "448169003", name: "Domestic cat", system: "SCT" },
    local: { code: "KEDI", name: "Kedi", system: "99PIMS" },
  },
};

const alt: OruResult = {
  ...{ loinc: "1742-6", code: "ALT", name: "ALT", value: { type: "NM", number: "143" } },
  ...{ unit: { text: "U/L", isUcum: true }, range: "12-130", flag: "H", at, analysedAt: null, device: "chem-1" },
  notes: ["Interval: cat. Sample slightly haemolysed & lipaemic"],
};

const tbil: OruResult = {
  ...{ loinc: null, code: "TBIL", name: "Bilirubin total", value: { type: "SN", parts: ["<", "0.2"] } },
  ...{
    unit: { text: "mg/dL", isUcum: true },
    range: null,
    flag: null,
    at,
    analysedAt: null,
    device: "chem-1",
    notes: [],
  },
};

const study: OruStudy = {
  ...{ fp: "cds_01", patient: pamuk, placer: ["10231", "PIMS"], acquiredAt: at, comments: [] },
  panel: { code: "CHEM10", name: "Chemistry 10", system: "99PIMS" },
  ...{ results: [alt, tbil], pdf: Buffer.from("JVBERi0xLjcK", "base64") },
};

/** Segments of a report; none if the receiver lacks nothing. */
function segmentsOf(
  given: Partial<OruStudy> = {},
  before: Partial<OruStudy> | null = null,
  more: Partial<OruHeader> = {},
) {
  const held = before === null ? null : heldOf(before);
  return (
    reportMessage({ ...study, ...given }, { ...header, ...more }, held)
      ?.message.split("\r")
      .slice(0, -1) ?? []
  );
}

function heldOf(given: Partial<OruStudy> = {}) {
  const report = reportMessage({ ...study, ...given }, header, null);
  if (report === null) throw new Error("expected a report");
  return report.held;
}

/** OBX-3, OBX-4, OBX-5 and OBX-11 of each row. */
function rowsOf(segments: readonly string[]): string[] {
  return segments
    .filter((segment) => segment.startsWith("OBX|"))
    .map((segment) => {
      const fields = segment.split("|");
      return [fields[3]?.split("^")[3] ?? "PDF", fields[4], fields[5], fields[11]].join(" ").replaceAll(/ +/g, " ");
    });
}

const numbered = (code: string, number: string): OruResult => ({
  ...tbil,
  code,
  value: { type: "NM", number },
  notes: [],
});

describe("the golden example", () => {
  test("is encoded byte for byte, but for the ordering clinician, whom no order stores", () => {
    expect(segmentsOf()).toEqual([
      "MSH|^~\\&|VETWIRE|CLINIC|PIMS|CLINIC|20261121100112+0300||ORU^R01^ORU_R01|W0777|P|2.5.1||||||UNICODE UTF-8",
      "PID|1||00417^^^PIMS^PI||Örnek^Pamuk^^^^^L||20200229|F^Y|||||||||||||||||||||||||||448169003^Domestic cat^SCT^KEDI^Kedi^99PIMS",
      "ORC|RE|10231^PIMS|cds_01^VETWIRE",
      "OBR|1|10231^PIMS|cds_01^VETWIRE|CHEM10^Chemistry 10^99PIMS|||20261121100030+0300|||||||||||||||20261121100112+0300|||F",
      "OBX|1|NM|1742-6^ALT^LN^ALT^ALT^99VW||143|U/L^^UCUM|12-130|H|||F|||20261121100030+0300||||chem-1^VETWIRE",
      "NTE|1|L|Interval: cat. Sample slightly haemolysed \\T\\ lipaemic",
      "OBX|2|SN|^^^TBIL^Bilirubin total^99VW||<^0.2|mg/dL^^UCUM|||||F|||20261121100030+0300||||chem-1^VETWIRE",
      "OBX|3|ED|PDF^Report^99VW||VETWIRE^Application^PDF^Base64^JVBERi0xLjcK||||||F",
    ]);
  });

  test("ends each segment with CR, and has no LF", () => {
    const message = reportMessage(study, header, null)?.message ?? "";
    expect([message.endsWith("|F\r"), message.includes("\n")]).toEqual([true, false]);
  });
});

describe("a site", () => {
  test("may expect the animal's name first and the local code first", () => {
    const segments = segmentsOf({}, null, { animalFirst: true, localFirst: true });
    expect(segments[1]?.split("|")[5]).toBe("Pamuk^Örnek^^^^^L");
    expect(segments[4]?.split("|")[3]).toBe("ALT^ALT^99VW^1742-6^ALT^LN");
    expect(segments[6]?.split("|")[3]).toBe("TBIL^Bilirubin total^99VW");
  });

  test("without an order gets an empty placer number and the panel of the study", () => {
    const [, , orc, obr] = segmentsOf({
      placer: [],
      panel: { code: "BIOCHEMISTRY", name: "Biochemistry", system: "99VW" },
    });
    expect(orc).toBe("ORC|RE||cds_01^VETWIRE");
    expect(obr).toContain("OBR|1||cds_01^VETWIRE|BIOCHEMISTRY^Biochemistry^99VW|||");
  });

  test("west of Greenwich, and in a zone of half an hour, gets times with their offset", () => {
    const timeIn = (zone: string) => segmentsOf({}, null, { zone })[3]?.split("|")[7];
    expect(["America/St_Johns", "Asia/Kolkata", "UTC"].map(timeIn)).toEqual([
      ...["20261121033030-0330", "20261121123030+0530", "20261121070030+0000"],
    ]);
  });
});

test("a word is a code with the printed text, other words are text, and what was not obtained has no value", () => {
  const value = (given: OruResult["value"]) => segmentsOf({ results: [{ ...tbil, value: given }], pdf: null })[4];
  const parts = (segment: string | undefined) => [2, 5, 11].map((index) => segment?.split("|")[index]);
  expect(parts(value({ type: "CWE", code: "10828004", name: "Positive", printed: "Pozitif" }))).toEqual([
    ...["CWE", "10828004^Positive^SCT^^^^^^Pozitif", "F"],
  ]);
  expect(parts(value({ type: "ST", text: "2+ | ++" }))).toEqual(["ST", "2+ \\F\\ ++", "F"]);
  expect(parts(value({ type: "SN", parts: ["", "1", ":", "128"] }))).toEqual(["SN", "^1^:^128", "F"]);
  expect(parts(value({ type: "none", isPending: false }))).toEqual(["", "", "X"]);
});

test("comments of the sample follow the order, with their lines apart", () => {
  const segments = segmentsOf({ comments: ["HEM: 0\r\nLIP: 12", "repeated"] });
  expect(segments.slice(4, 6)).toEqual(["NTE|1|L|HEM: 0\\.br\\LIP: 12", "NTE|2|L|repeated"]);
});

describe("a correction", () => {
  const one = { results: [numbered("ALT", "1"), numbered("AST", "2")], pdf: null };

  test("is C for a changed row, F for one that stays or is new, and D for one that is gone", () => {
    const changed = segmentsOf(
      { results: [numbered("ALT", "1"), numbered("AST", "3"), numbered("GGT", "4")], pdf: null },
      { results: [...one.results, numbered("ALP", "9")], pdf: null },
    );
    expect(rowsOf(changed)).toEqual(["ALT 1 F", "AST 3 C", "GGT 4 F", "ALP D"]);
    expect(changed[3]?.split("|")[25]).toBe("C");
  });

  test("of nothing is no message, and of a comment alone is one", () => {
    expect(segmentsOf(one, one)).toEqual([]);
    expect(segmentsOf({ ...one, comments: ["late"] }, one).length).toBeGreaterThan(0);
  });

  test("of a preliminary report is F, and the report is P until all values are final", () => {
    const pending: OruResult = { ...tbil, code: "AST", value: { type: "none", isPending: true } };
    const preliminary = { results: [numbered("ALT", "1"), pending], pdf: null };
    const first = segmentsOf(preliminary);
    expect([rowsOf(first), first[3]?.split("|")[25]]).toEqual([["ALT 1 F", "AST I"], "P"]);
    const final = segmentsOf(one, preliminary);
    expect([rowsOf(final), final[3]?.split("|")[25]]).toEqual([["ALT 1 F", "AST 2 F"], "F"]);
  });

  test("keeps the number of a result whose code occurs twice", () => {
    const twice = { results: [numbered("ALT", "1"), numbered("ALT", "2")], pdf: null };
    expect(rowsOf(segmentsOf(twice))).toEqual(["ALT 1 1 F", "ALT 2 2 F"]);
    const single = { results: [numbered("ALT", "1")], pdf: null };
    expect(rowsOf(segmentsOf(single, twice))).toEqual(["ALT 1 1 F", "ALT 2 D"]);
    expect(rowsOf(segmentsOf(twice, single))).toEqual(["ALT 1 F", "ALT 2 2 F"]);
  });

  test("after one without an answer is C for what the receiver may hold since, and D for a row of it that is gone", () => {
    const [before, maybe] = [heldOf(one), heldOf({ results: [numbered("ALT", "7"), numbered("GGT", "4")], pdf: null })];
    const again = reportMessage({ ...study, ...one }, header, before, maybe)?.message.split("\r") ?? [];
    expect(rowsOf(again)).toEqual(["ALT 1 C", "AST 2 F", "GGT D"]);
  });

  test("that takes a value away is a correction", () => {
    const lost = [{ ...numbered("ALT", ""), value: { type: "none", isPending: false } as const }, numbered("AST", "2")];
    const segments = segmentsOf({ ...one, results: lost }, one);
    expect([rowsOf(segments), segments[3]?.split("|")[25]]).toEqual([["ALT X", "AST 2 F"], "C"]);
  });

  test("replaces the report file as C", () => {
    expect(
      segmentsOf({}, { results: [alt] })
        .at(-1)
        ?.split("|")[11],
    ).toBe("C");
  });
});

test("what a receiver may hold of one animal is taken back with all its rows", () => {
  const [older, newer] = [{ results: [alt, numbered("AST", "2")] }, { results: [numbered("AST", "3")] }].map(heldOf);
  const held = joined([newer!, older!]);
  const segments = held === null ? [] : withdrawalMessage(held, header).split("\r");
  expect(rowsOf(segments)).toEqual(["AST 3 W", "ALT 143 W", "PDF D"]);
});

test("a withdrawal names the old animal as it was sent, each value as wrong, and no report file", () => {
  const held = heldOf({ comments: ["repeated"] });
  const segments = withdrawalMessage(held, { ...header, controlId: "W0778" })
    .split("\r")
    .slice(0, -1);
  expect(segments[1]).toBe(segmentsOf()[1]);
  expect(rowsOf(segments)).toEqual(["ALT 143 W", "TBIL <^0.2 W", "PDF D"]);
  expect(segments[3]?.split("|")[25]).toBe("X");
});

const hostile = fc.string({ unit: "grapheme", maxLength: 30 });
const delimiters = fc.string({
  unit: fc.constantFrom("|", "^", "~", "\\", "&", "\r", "\n", "\u000b", "\u001c", "a", "ş", "\\.br\\", "F"),
});
const texts = fc.oneof(hostile, delimiters);

/** What a receiver reads back: control characters are blanks. */
const readable = (text: string) => text.replaceAll(/\p{Cc}+/gu, " ");

test("our reader reads every hostile text back, and the frame stays whole", () => {
  fc.assert(
    fc.property(texts, texts, texts, texts, (name, family, comment, printed) => {
      const patient = { ...pamuk, name, family, number: comment };
      const results: OruResult[] = [{ ...tbil, name, value: { type: "ST", text: printed }, notes: [comment] }];
      const message = reportMessage({ ...study, patient, results, comments: [comment], pdf: null }, header, null);
      const bytes = Buffer.from(message?.message ?? "");
      expect(bytes.includes(0x0b) || bytes.includes(0x1c) || bytes.includes(0x0a)).toBe(false);
      const parsed = parseMessage(bytes);
      if ("problem" in parsed) throw new Error("unread");
      expect(parsed.segments.map(({ name: each }) => each)).toEqual(["MSH", "PID", "ORC", "OBR", "NTE", "OBX", "NTE"]);
      const [, pid, , , note, obx] = parsed.segments;
      expect([pid?.component(5, 1), pid?.component(5, 2)]).toEqual([readable(family), readable(name)]);
      expect([pid?.component(3, 1), obx?.field(5)]).toEqual([readable(comment), readable(printed)]);
      expect(note?.field(1)).toBe("1");
    }),
  );
});

test("a hostile text of the site, the order, the device or its codes stays in its field", () => {
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const unit = { text: one, isUcum: false };
      const result = { ...alt, loinc: null, code: one, name: other, unit, range: one, device: other, notes: [] };
      const panel = { code: one, name: other, system: one };
      const local = { code: one, name: other, system: one };
      const patient = { ...pamuk, authority: other, species: { ...pamuk.species, local } };
      const given = { ...study, patient, panel, placer: [one, other], results: [result], pdf: null };
      const site = { ...header, application: one, facility: other };
      const parsed = parseMessage(Buffer.from(reportMessage(given, site, null)?.message ?? ""));
      if ("problem" in parsed) throw new Error("unread");
      expect(parsed.segments.map(({ name }) => name)).toEqual(["MSH", "PID", "ORC", "OBR", "OBX"]);
      const [msh, pid, orc, obr, obx] = parsed.segments;
      const read = [msh?.field(5), obx?.field(6), obx?.field(7), obx?.component(3, 4), pid?.component(35, 4)];
      expect([...read, orc?.component(2, 1), obr?.component(4, 1)]).toEqual(
        Array.from({ length: 7 }, () => readable(one)),
      );
      const named = [msh?.field(4), msh?.field(6), obx?.component(3, 5), obx?.component(18, 1), pid?.component(3, 4)];
      expect([...named, orc?.component(2, 2), obr?.component(4, 2)]).toEqual(
        Array.from({ length: 7 }, () => readable(other)),
      );
    }),
  );
});

test("hl7-standard reads the fields of a plain report", () => {
  const plain = { ...study, results: [{ ...alt, notes: [] }] };
  const message = parseByOther(reportMessage(plain, header, null)?.message ?? "");
  expect(["PID.3.1", "PID.5.2", "OBR.2.1", "OBX.3.1", "OBX.5", "OBX.6.1"].map((path) => message.get(path))).toEqual([
    ...["00417", "Pamuk", "10231", "1742-6", "143", "U/L"],
  ]);
});

test("the LOINC code is of the quantity that the unit measures", () => {
  const measured = { value: 5, reference_range: null, flag: null };
  const results = ["mg/dL", "mmol/L", null].map((unit) => ({ ...measured, analyte: "GLU", unit }));
  const found = observationsOfStudy({
    study: { modality: "BIOCHEMISTRY", results, acquired_at: new Date(at).toISOString() },
    ...{ snapshot: null, device: null },
    language: "en",
  });
  expect(found.map(({ code, loinc }) => [code, loinc])).toEqual([
    ["GLU", "2345-7"],
    ["GLU", "14749-6"],
    ["GLU", null],
  ]);
});
