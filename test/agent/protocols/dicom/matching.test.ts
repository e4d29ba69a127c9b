import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Attributes } from "../../../../agent/protocols/dicom/attributes.ts";
import { worklistResponse, matches } from "../../../../agent/protocols/dicom/matching.ts";

const entry: Attributes = {
  AccessionNumber: ["VDAG0001"],
  PatientName: ["^Şeker"],
  PatientID: ["01K9"],
  PatientWeight: ["4.50"],
  PregnancyStatus: ["4"],
  PatientBirthDate: [],
  StudyInstanceUID: ["1.2.3"],
  PatientSpeciesCodeSequence: [{ CodeValue: ["448169003"], CodingSchemeDesignator: ["SCT"] }],
  RequestedProcedureCodeSequence: [],
  ScheduledProcedureStepSequence: [
    {
      Modality: ["DX"],
      ScheduledProcedureStepStartDate: ["20261121"],
      ScheduledProcedureStepStartTime: ["093015"],
      ScheduledStationAETitle: ["DX1"],
    },
  ],
};
const step = (keys: Attributes): Attributes => ({ ScheduledProcedureStepSequence: [keys] });
const date = (...days: string[]) => step({ ScheduledProcedureStepStartDate: days });
const time = (...times: string[]) => step({ ScheduledProcedureStepStartTime: times });
const moment = (days: string, times: string) =>
  step({ ScheduledProcedureStepStartDate: [days], ScheduledProcedureStepStartTime: [times] });

describe("keys (PS3.4 §C.2.2.2)", () => {
  test.each<[string, Attributes, boolean]>([
    ["none at all", {}, true],
    ["an empty one", { PatientID: [] }, true],
    ["an empty one, of what the entry lacks", { RequestedProcedureID: [] }, true],
    ["a star, of what the entry lacks", { RequestedProcedureID: ["*"] }, true],
    ["a value, of what the entry lacks", { RequestedProcedureID: ["1"] }, false],
    ["a value, of what is empty there", { PatientBirthDate: ["20200101"] }, false],
    ["the character set", { SpecificCharacterSet: ["ISO_IR 100"] }, true],
    ["one value", { PatientID: ["01K9"] }, true],
    ["one value in other letters", { PatientID: ["01k9"] }, false],
    ["the first letters", { PatientID: ["01*"] }, true],
    ["the last letters", { PatientID: ["*9"] }, true],
    ["any letter in place of one", { PatientID: ["01?9"] }, true],
    ["any letter in place of none", { PatientID: ["01K9?"] }, false],
    ["a full stop is no wildcard", { PatientID: ["01.9"] }, false],
    ["nor a bracket", { PatientID: ["[0-9]*"] }, false],
    ["one of several UIDs", { StudyInstanceUID: ["1.2.9", "1.2.3"] }, true],
    ["none of several UIDs", { StudyInstanceUID: ["1.2.9", "1.2.4"] }, false],
    ["a UID with a star, which is no wildcard there", { StudyInstanceUID: ["1.2.*"] }, false],
    ["the same number otherwise written", { PatientWeight: ["4.5"] }, true],
    ["another number", { PatientWeight: ["4.51"] }, false],
    ["a number of 16 bits", { PregnancyStatus: ["4"] }, true],
    ["one of several modalities", step({ Modality: ["CR", "DX"] }), true],
    ["an empty item", step({}), true],
    ["no item", { ScheduledProcedureStepSequence: [] }, true],
    ["an item of stars", step({ Modality: ["*"] }), true],
    ["an item of a sequence that is empty there", { RequestedProcedureCodeSequence: [{ CodeValue: ["X"] }] }, false],
    ["an item that asks nothing of one", { RequestedProcedureCodeSequence: [{ CodeValue: [] }] }, true],
    [
      "two keys of one item",
      { PatientSpeciesCodeSequence: [{ CodeValue: ["448169003"], CodingSchemeDesignator: ["SCT"] }] },
      true,
    ],
    [
      "two keys of which one is wrong",
      { PatientSpeciesCodeSequence: [{ CodeValue: ["448169003"], CodingSchemeDesignator: ["SRT"] }] },
      false,
    ],
    ["a right and a wrong one", { PatientID: ["01K9"], AccessionNumber: ["X"] }, false],
  ])("%s", (_, keys, expected) => {
    expect(matches(keys, entry)).toBe(expected);
  });

  test.each<[string, string, boolean]>([
    ["as it stands", "^Şeker", true],
    ["in small letters without accents", "^seker", true],
    ["in capitals", "^SEKER", true],
    ["with carets behind it", "^Seker^^^", true],
    ["as a family name", "Seker", true],
    ["its first letters as a family name", "Sek*", true],
    ["as another's given name", "Seker^Rex", false],
    ["of another", "Pamuk", false],
    ["in composed and in decomposed letters", "S\u0327eker", true],
    ["with a dotless i for an i", "^şeker", true],
  ])("a name %s", (_, name, expected) => {
    expect(matches({ PatientName: [name] }, entry)).toBe(expected);
  });

  test("all Turkish forms of i match in names", () => {
    const animal = { PatientName: ["^Işık"] };
    for (const name of ["ISIK", "isik", "ışık", "IŞIK", "İŞİK"])
      expect(matches({ PatientName: [name] }, animal)).toBe(true);
  });
});

describe("times", () => {
  test.each<[string, Attributes, boolean]>([
    ["the day", date("20261121"), true],
    ["the day as older devices write it", date("2026.11.21"), true],
    ["another day", date("20261120"), false],
    ["from the day on", date("20261121-"), true],
    ["from the next day on", date("20261122-"), false],
    ["up to the day", date("-20261121"), true],
    ["up to the day before", date("-20261120"), false],
    ["days around it", date("20261101-20261130"), true],
    ["days the wrong way round", date("20261130-20261101"), false],
    ["its month", date("202611"), true],
    ["the second", time("093015"), true],
    ["its fraction is passed over", time("093015.250"), true],
    ["the minute", time("0930"), true],
    ["the hour", time("09"), true],
    ["as older devices write it", time("09:30:15"), true],
    ["another minute", time("0931"), false],
    ["up to the hour, which is the whole of it", time("08-09"), true],
    ["hours around it", time("0800-1000"), true],
    ["hours after it", time("0931-1000"), false],
    ["days and hours are one range", moment("20261120-20261122", "1000-1100"), true],
    ["which ends on its last day's hour", moment("20261120-20261121", "1000-0900"), false],
    ["and begins on its first day's", moment("20261121-20261123", "1000-0900"), false],
    ["a day and hours are two keys", moment("20261121", "1000-1100"), false],
    ["days and an hour are two keys", moment("20261120-20261122", "09"), true],
  ])("%s", (_, keys, expected) => {
    expect(matches(keys, entry)).toBe(expected);
  });
});

describe("attributes of a response", () => {
  test.each<[string, Attributes, Attributes]>([
    ["nothing for no keys", {}, {}],
    ["what is asked for and no more", { PatientID: ["*"] }, { PatientID: ["01K9"] }],
    ["what is empty there", { PatientBirthDate: [] }, { PatientBirthDate: [] }],
    ["not what the entry lacks", { RequestedProcedureID: [] }, {}],
    ["not the character set, which is chosen by the letters", { SpecificCharacterSet: ["ISO_IR 100"] }, {}],
    ["of an item what it asks for", step({ Modality: [] }), step({ Modality: ["DX"] })],
    [
      "all of a sequence for an empty item",
      step({}),
      { ScheduledProcedureStepSequence: entry.ScheduledProcedureStepSequence! },
    ],
    [
      "all of a sequence for no item",
      { PatientSpeciesCodeSequence: [] },
      { PatientSpeciesCodeSequence: entry.PatientSpeciesCodeSequence! },
    ],
  ])("%s", (_, keys, expected) => {
    expect(worklistResponse(keys, entry)).toEqual(expected);
  });
});

describe("any characters", () => {
  // Few letters, so that keys and values often meet.
  const letters = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "?"), minLength: 1, maxLength: 10 });
  const values = fc.string({ unit: fc.constantFrom("a", "b", "."), minLength: 1, maxLength: 10 });

  test("wildcards match as a regular expression", () => {
    fc.assert(
      fc.property(letters, values, (key, value) => {
        const expected = new RegExp(`^${key.replaceAll(".", "[.]").replaceAll("*", ".*").replaceAll("?", ".")}$`);
        expect(matches({ PatientID: [key] }, { PatientID: [value] })).toBe(expected.test(value));
      }),
      { numRuns: 2_000 },
    );
  });

  test("a value matches itself, with a star anywhere", () => {
    fc.assert(
      fc.property(values, fc.nat({ max: 12 }), (value, at) => {
        const held = Array.from(value);
        const starred = [...held.slice(0, at), "*", ...held.slice(at)].join("");
        for (const key of [value, `*${value}`, `${value}*`, starred]) {
          expect(matches({ PatientID: [key] }, { PatientID: [value] })).toBe(true);
        }
      }),
    );
  });

  test("a key of many stars matches quickly", () => {
    const key = `${"*a".repeat(2_000)}*b`;
    expect(matches({ PatientID: [key] }, { PatientID: ["a".repeat(4_000)] })).toBe(false);
  });

  test("hostile keys of any kind get a response", () => {
    const any = fc.array(fc.string({ maxLength: 20, unit: "binary" }), { maxLength: 3 });
    fc.assert(
      fc.property(any, any, any, any, any, (name, weight, day, clock, uid) => {
        const keys: Attributes = {
          ...{ PatientName: name, PatientWeight: weight, StudyInstanceUID: uid },
          ...step({ ScheduledProcedureStepStartDate: day, ScheduledProcedureStepStartTime: clock }),
        };
        expect(typeof matches(keys, entry)).toBe("boolean");
        expect(Object.keys(worklistResponse(keys, entry)).every((keyword) => keyword in keys)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
