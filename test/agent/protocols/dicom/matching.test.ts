import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Attributes } from "../../../../agent/protocols/dicom/attribute-table.ts";
import { matches, worklistResponse } from "../../../../agent/protocols/dicom/matching.ts";

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
    ["no keys", {}, true],
    ["an empty key", { PatientID: [] }, true],
    ["an empty key of an attribute that the entry lacks", { RequestedProcedureID: [] }, true],
    ["a star for an attribute that the entry lacks", { RequestedProcedureID: ["*"] }, true],
    ["a value for an attribute that the entry lacks", { RequestedProcedureID: ["1"] }, false],
    ["a value for an attribute that the entry leaves empty", { PatientBirthDate: ["20200101"] }, false],
    ["the character set", { SpecificCharacterSet: ["ISO_IR 100"] }, true],
    ["one value", { PatientID: ["01K9"] }, true],
    ["one value in another case", { PatientID: ["01k9"] }, false],
    ["a prefix with a star", { PatientID: ["01*"] }, true],
    ["a suffix with a star", { PatientID: ["*9"] }, true],
    ["a question mark for a character", { PatientID: ["01?9"] }, true],
    ["a question mark for no character", { PatientID: ["01K9?"] }, false],
    ["a full stop as a wildcard", { PatientID: ["01.9"] }, false],
    ["a bracket as a wildcard", { PatientID: ["[0-9]*"] }, false],
    ["one of several UIDs", { StudyInstanceUID: ["1.2.9", "1.2.3"] }, true],
    ["none of several UIDs", { StudyInstanceUID: ["1.2.9", "1.2.4"] }, false],
    ["a UID with a star as a wildcard", { StudyInstanceUID: ["1.2.*"] }, false],
    ["the same number in another notation", { PatientWeight: ["4.5"] }, true],
    ["another number", { PatientWeight: ["4.51"] }, false],
    ["a number of 16 bits", { PregnancyStatus: ["4"] }, true],
    ["a day with dashes, which do not mean a range", date("2026-11-21"), true],
    ["another day with dashes", date("2026-11-20"), false],
    ["a range of days with dashes", date("2026-11-20-2026-11-22"), true],
    ["an open range of days with dashes", date("2026-11-22-"), false],
    ["a day with dashes, and a range of times", moment("2026-11-21", "0900-1000"), true],
    ["one of several modalities", step({ Modality: ["CR", "DX"] }), true],
    ["an empty item", step({}), true],
    ["no item", { ScheduledProcedureStepSequence: [] }, true],
    ["an item of stars", step({ Modality: ["*"] }), true],
    [
      "an item of a sequence that the entry leaves empty",
      { RequestedProcedureCodeSequence: [{ CodeValue: ["X"] }] },
      false,
    ],
    ["an empty key in an item of an empty sequence", { RequestedProcedureCodeSequence: [{ CodeValue: [] }] }, true],
    [
      "two keys of one item",
      { PatientSpeciesCodeSequence: [{ CodeValue: ["448169003"], CodingSchemeDesignator: ["SCT"] }] },
      true,
    ],
    [
      "two keys of one item, one of them different",
      { PatientSpeciesCodeSequence: [{ CodeValue: ["448169003"], CodingSchemeDesignator: ["SRT"] }] },
      false,
    ],
    ["one equal and one different key", { PatientID: ["01K9"], AccessionNumber: ["X"] }, false],
  ])("a query with %s is matched or excluded", (_, keys, expected) => {
    expect(matches(keys, entry)).toBe(expected);
  });

  test.each<[string, string, boolean]>([
    ["in the form of the entry", "^Şeker", true],
    ["in lower case without accents", "^seker", true],
    ["in upper case", "^SEKER", true],
    ["with trailing carets", "^Seker^^^", true],
    ["as a family name", "Seker", true],
    ["by a prefix as a family name", "Sek*", true],
    ["with another given name", "Seker^Rex", false],
    ["of another patient", "Pamuk", false],
    ["in decomposed characters", "S\u0327eker", true],
    ["in lower case with accents", "^şeker", true],
  ])("a name %s is matched or excluded", (_, name, expected) => {
    expect(matches({ PatientName: [name] }, entry)).toBe(expected);
  });

  test("all Turkish forms of i match in names", () => {
    const patient = { PatientName: ["^Işık"] };
    for (const name of ["ISIK", "isik", "ışık", "IŞIK", "İŞİK"])
      expect(matches({ PatientName: [name] }, patient)).toBe(true);
  });
});

describe("times", () => {
  test.each<[string, Attributes, boolean]>([
    ["the day", date("20261121"), true],
    ["the day in the notation of older devices", date("2026.11.21"), true],
    ["another day", date("20261120"), false],
    ["a range from the day", date("20261121-"), true],
    ["a range from the next day", date("20261122-"), false],
    ["a range to the day", date("-20261121"), true],
    ["a range to the day before", date("-20261120"), false],
    ["a range of days around it", date("20261101-20261130"), true],
    ["a reversed range of days", date("20261130-20261101"), false],
    ["the month", date("202611"), true],
    ["the second", time("093015"), true],
    ["the second with a fraction", time("093015.250"), true],
    ["the minute", time("0930"), true],
    ["the hour", time("09"), true],
    ["the time in the notation of older devices", time("09:30:15"), true],
    ["another minute", time("0931"), false],
    ["a range to its hour, which counts in full", time("08-09"), true],
    ["a range of hours around it", time("0800-1000"), true],
    ["a range of hours after it", time("0931-1000"), false],
    ["a range of days and hours around it", moment("20261120-20261122", "1000-1100"), true],
    ["a range that ends at an earlier hour of its day", moment("20261120-20261121", "1000-0900"), false],
    ["a range that starts at a later hour of its day", moment("20261121-20261123", "1000-0900"), false],
    ["a day with a range of later hours", moment("20261121", "1000-1100"), false],
    ["a range of days with its hour", moment("20261120-20261122", "09"), true],
  ])("a query for %s is matched or excluded", (_, keys, expected) => {
    expect(matches(keys, entry)).toBe(expected);
  });
});

describe("attributes of a response", () => {
  test.each<[string, Attributes, Attributes]>([
    ["no keys give no attributes", {}, {}],
    ["a key gives its attribute only", { PatientID: ["*"] }, { PatientID: ["01K9"] }],
    ["an empty attribute is returned", { PatientBirthDate: [] }, { PatientBirthDate: [] }],
    ["an attribute that the entry lacks is omitted", { RequestedProcedureID: [] }, {}],
    ["the character set is omitted", { SpecificCharacterSet: ["ISO_IR 100"] }, {}],
    ["a key in an item gives that attribute of the item", step({ Modality: [] }), step({ Modality: ["DX"] })],
    [
      "an empty item gives the complete sequence",
      step({}),
      { ScheduledProcedureStepSequence: entry.ScheduledProcedureStepSequence! },
    ],
    [
      "a sequence key without an item gives the complete sequence",
      { PatientSpeciesCodeSequence: [] },
      { PatientSpeciesCodeSequence: entry.PatientSpeciesCodeSequence! },
    ],
  ])("%s", (_, keys, expected) => {
    expect(worklistResponse(keys, entry)).toEqual(expected);
  });
});

describe("any characters", () => {
  // Few characters, so that keys and values often match.
  const patterns = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "?"), minLength: 1, maxLength: 10 });
  const values = fc.string({ unit: fc.constantFrom("a", "b", "."), minLength: 1, maxLength: 10 });

  test("wildcards match as a regular expression", () => {
    fc.assert(
      fc.property(patterns, values, (key, value) => {
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
          PatientName: name,
          PatientWeight: weight,
          StudyInstanceUID: uid,
          ...step({ ScheduledProcedureStepStartDate: day, ScheduledProcedureStepStartTime: clock }),
        };
        expect(typeof matches(keys, entry)).toBe("boolean");
        expect(Object.keys(worklistResponse(keys, entry)).every((keyword) => keyword in keys)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
