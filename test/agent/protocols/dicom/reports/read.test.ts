import { describe, expect, test } from "vitest";
import type { Code } from "../../../../../agent/protocols/dicom/reports/elements.ts";
import type { Header } from "../../../../../agent/protocols/dicom/reports/header.ts";
import type { Measurement } from "../../../../../agent/protocols/dicom/reports/structured-report.ts";
import { type ImageInstance, readImages } from "../../../../../agent/protocols/dicom/reports/read.ts";

const blank: Header = {
  study: "1.2.3",
  sopClass: "1.2.840.10008.5.1.4.1.1.1",
  modality: "CR",
  manufacturer: "ACME",
  model: "DX 9",
  station: "",
  patientName: "Rex",
  patientId: "4711",
  otherPatientIds: [],
  accession: "",
  sex: "M",
  neutered: "",
  birthDate: "",
  weight: "",
  speciesCodes: [],
  species: "",
  breed: "",
  responsiblePerson: "",
  times: ["20261121101500.250"],
  utcOffset: "",
  measurements: [],
  cutShort: null,
};
let made = 0;

function instance(header: Partial<Header> | string = {}, others: Partial<ImageInstance> = {}): ImageInstance {
  const number = ++made;
  return {
    message: `m${number}`,
    receivedAt: Date.UTC(2026, 10, 21, 8),
    sopInstance: `1.2.3.${number}`,
    sha256: "00",
    header: typeof header === "string" ? header : { ...blank, ...header },
    timeZone: "Europe/Istanbul",
    modality: null,
    ...others,
  };
}

function code(text: string, meaning = ""): Code {
  const [scheme = "", value = ""] = text.split(" ");
  return { scheme, value, meaning };
}

function measured(concept: string, meaning: string, value: string, unit: string | null): Measurement {
  return { concept: code(concept, meaning), modifiers: [], value, unit };
}

const read = (...instances: readonly ImageInstance[]) => readImages("1.2.3", instances);
const reportOf = (header: Partial<Header>) => read(instance(header)).reports[0]!.report;

test("one image gives one Report in the API's terms", () => {
  const only = instance({
    patientName: "Müller^Rex",
    responsiblePerson: "Müller^Anna",
    weight: "12.5",
    neutered: "ALTERED",
  });
  const { reports, leftOut } = read(only);
  expect(leftOut.size).toBe(0);
  expect(reports).toHaveLength(1);
  expect(reports[0]).toMatchObject({ results: [], rows: [], messages: [only.message] });
  expect(reports[0]!.report).toEqual({
    device_name: "ACME DX 9",
    modality: "RADIOLOGY",
    dedupe_key: "1.2.3 RADIOLOGY",
    identifier: "4711",
    otherIdentifiers: [],
    species: null,
    acquired_at: "2026-11-21T07:15:00.000Z",
    patient_hint: {
      identifier: "4711",
      name: "Rex",
      species: null,
      breed: null,
      sex: "M, altered",
      owner: "Müller Anna",
      date_of_birth: null,
      weight_kg: 12.5,
    },
    rows: [],
    unmapped: [],
    leftOut: [],
    notes: [],
    comments: [],
  });
});

describe("modality", () => {
  test.each([
    ...["CR", "DX", "RF", "XA", "IO", "PX", "MG"].map((modality) => [modality, "RADIOLOGY"]),
    ["US", "ULTRASOUND"],
    ["IVUS", "ULTRASOUND"],
    ["ES", "ENDOSCOPY"],
  ])("%s is %s", (modality, expected) => {
    expect(reportOf({ modality }).modality).toBe(expected);
  });

  test.each(["CT", "MR", "NM", "PT", "ECG"])("%s has no API modality, and is noted", (modality) => {
    const only = instance({ modality });
    expect(read(only)).toEqual({
      reports: [],
      leftOut: new Map([[only.message, `no modality in the API: ${modality}`]]),
    });
  });

  test("the configured modality replaces an unknown one only", () => {
    const ct = instance({ modality: "CT" }, { modality: "RADIOLOGY" });
    const us = instance({ modality: "US" }, { modality: "RADIOLOGY" });
    expect(read(ct, us).reports.map(({ report }) => report.modality)).toEqual(["RADIOLOGY", "ULTRASOUND"]);
  });

  test("an image without modality has that of its SOP class", () => {
    expect(reportOf({ modality: "OT", sopClass: "1.2.840.10008.5.1.4.1.1.3.1" }).modality).toBe("ULTRASOUND");
  });

  test.each(["SR", "PR", "KO", "SC", "OT", "DOC"])("%s joins the images of its study", (modality) => {
    const [image, companion] = [instance(), instance({ modality })];
    expect(read(companion, image).reports.map(({ messages }) => messages)).toEqual([
      [image.message, companion.message],
    ]);
  });

  test("a companion alone gives no study", () => {
    const only = instance({ modality: "SR" });
    const reason = "no image of its study received: SR alone makes no study";
    expect(read(only)).toEqual({ reports: [], leftOut: new Map([[only.message, reason]]) });
  });

  test("two modalities give two Reports, and the measurements join the ultrasound", () => {
    const measurements = [
      measured("LN 18043-0", "Left Ventricular Ejection Fraction by US", "64", "%"),
      measured("LN 17985-3", "Left Atrium to Aortic Root Ratio", "", null),
    ];
    const { reports } = read(instance(), instance({ modality: "US" }), instance({ modality: "SR", measurements }));
    expect(reports.map(({ report, results, rows }) => [report.modality, results, rows])).toEqual([
      ["RADIOLOGY", [], []],
      [
        "ULTRASOUND",
        [{ analyte: "EF", value: 64, unit: "%", reference_range: null, flag: null }],
        [
          {
            analyte: "EF",
            code: "LN 18043-0",
            interval_id: null,
            text: "64",
            reason: { code: "INTERVAL.NOT_FOR_IMAGES", values: [] },
            device_range: null,
            device_species: null,
            device_flag: null,
            meaning: "Left Ventricular Ejection Fraction by US",
          },
        ],
      ],
    ]);
    expect(reports[1]!.report.leftOut).toEqual(["Left Atrium to Aortic Root Ratio has no value"]);
  });
});

describe("identity", () => {
  test("instances of two patients have no identifier", () => {
    const { identifier, otherIdentifiers, animals, notes } = read(
      instance({ accession: "V123" }),
      instance({ patientId: "4712" }),
    ).reports[0]!.report;
    expect({ identifier, otherIdentifiers, animals, notes }).toEqual({
      identifier: null,
      otherIdentifiers: [],
      animals: 2,
      notes: ["the instances of the study name 2 patients"],
    });
  });

  test("instances of two species have no identifier, and a species in one of them is that of all", () => {
    const mixed = read(instance({ species: "Canine" }), instance({ species: "Feline" })).reports[0]!.report;
    expect(mixed).toMatchObject({
      identifier: null,
      animals: 2,
      notes: ["the instances of the study name 2 species"],
    });
    const late = read(instance(), instance({ species: "Feline" })).reports[0]!.report;
    expect(late).toMatchObject({ identifier: "4711", species: "cat" });
    expect(late.animals).toBeUndefined();
  });

  test("other ids and the accession are identifiers, also of a later image", () => {
    const first = instance({ patientId: "" });
    const second = instance({ otherPatientIds: ["276098100000001"], accession: "V34679A" });
    expect(read(first, second).reports[0]!.report).toMatchObject({
      identifier: "4711",
      otherIdentifiers: ["276098100000001", "V34679A"],
    });
  });

  test("the identifier of a report is that of the images without one", () => {
    const { reports } = read(instance({ patientId: "" }), instance({ modality: "SR", patientId: "4711" }));
    expect(reports[0]!.report.identifier).toBe("4711");
  });

  test("the accessions of all images are identifiers, because a later one may be of another animal's order", () => {
    const { reports } = read(
      instance({ patientId: "", accession: "V1" }),
      instance({ patientId: "", accession: "V2" }),
    );
    expect(reports[0]!.report.otherIdentifiers).toEqual(["V1", "V2"]);
  });

  const coded = (value: string, scheme: string, meaning = "") => ({ speciesCodes: [{ value, scheme, meaning }] });
  test.each<[string, Partial<Header>, string | null]>([
    ["SNOMED CT", coded("448771007", "SCT"), "dog"],
    ["SNOMED RT", coded("L-00376", "SRT"), "cat"],
    ["a former name of RT", coded("L-86B02", "99SDM"), "rabbit"],
    ["a code rather than the description", { ...coded("448169003", "SCT"), species: "Canine" }, "cat"],
    ["a code of another scheme by its meaning", coded("1", "99ACME", "Feline"), "cat"],
    [
      "two species in one sequence",
      { speciesCodes: [...coded("448771007", "SCT").speciesCodes, ...coded("448169003", "SCT").speciesCodes] },
      null,
    ],
    ["English", { species: "Canine" }, "dog"],
    ["German", { species: "Katze" }, "cat"],
    ["Turkish", { species: "KÖPEK" }, "dog"],
    ["a human", coded("337915000", "SCT", "Homo sapiens"), null],
    ["nothing", {}, null],
  ])("the species is read from %s", (_, header, species) => {
    expect(reportOf(header).species).toBe(species);
  });
});

describe("time", () => {
  test.each<[string, Partial<Header>, string]>([
    ["is in the device's zone", { times: ["20260704103000"] }, "2026-07-04T07:30:00.000Z"],
    ["has the header's offset", { times: ["20260704103000"], utcOffset: "-0500" }, "2026-07-04T15:30:00.000Z"],
    ["is the first valid one of the header", { times: ["20269999", "20260704103000"] }, "2026-07-04T07:30:00.000Z"],
    ["is the time of receipt without a valid one", { times: [] }, "2026-11-21T08:00:00.000Z"],
  ])("the acquisition time %s", (_, header, expected) => {
    expect(reportOf(header).acquired_at).toBe(expected);
  });

  test("the earliest image sets the time of the study", () => {
    const { reports } = read(instance({ times: ["20261121110000"] }), instance({ times: ["20261121100000"] }));
    expect(reports[0]!.report.acquired_at).toBe("2026-11-21T07:00:00.000Z");
  });
});

test("the digest of the instances does not depend on their order", () => {
  const [first, second, third] = [instance(), instance(), instance()];
  const digest = (...instances: readonly ImageInstance[]) => read(...instances).reports[0]!.images;
  expect(digest(first, second)).toBe(digest(second, first));
  expect(digest(first, second)).not.toBe(digest(first, third));
  expect(digest(first, second)).not.toBe(digest(first, { ...second, sha256: "01" }));
});

test("UIDs that break the standard's grammar, and UTF-8 under another character set, are noted", () => {
  const odd = instance({ utf8Under: "ISO_IR 100" }, { sopInstance: "1.2.840.US-1" });
  expect(read(odd, instance({ utf8Under: "" })).reports[0]!.report.notes).toEqual([
    "texts are UTF-8, though their header declares ISO_IR 100",
    "texts are UTF-8, though their header declares no character set",
    "UIDs that break the standard are kept and forwarded as the modality wrote them",
  ]);
  const { notes } = readImages("1.2.3-A", [instance()]).reports[0]!.report;
  expect(notes).toEqual(["UIDs that break the standard are kept and forwarded as the modality wrote them"]);
});

test("partly read headers are noted once per reason", () => {
  const cutShort = "Unsupported character set: iso-ir-999";
  const { notes } = read(instance({ cutShort }), instance({ cutShort }), instance()).reports[0]!.report;
  expect(notes).toEqual([`a header was read in part: ${cutShort}`]);
});

test("an instance with an unreadable header is left out with its reason", () => {
  const bad = instance("its header cannot be read: not read within 5 s");
  const { reports, leftOut } = read(bad, instance());
  expect(reports).toHaveLength(1);
  expect(leftOut).toEqual(new Map([[bad.message, "its header cannot be read: not read within 5 s"]]));
});

test("images of an impossible time have the time of receipt, and others keep theirs", () => {
  for (const [sent, time] of [
    ["20991231235900", "2099-12-31T20:59:00.000Z"],
    ["19700101000000", "1969-12-31T22:00:00.000Z"],
  ] as const) {
    expect(reportOf({ times: [sent] })).toMatchObject({
      acquired_at: "2026-11-21T08:00:00.000Z",
      notes: [
        `the modality's clock is suspect: ${time}`,
        "the modality's time is impossible: the time of receipt is used",
      ],
    });
    const [mixed] = read(instance({ times: [sent] }), instance({ times: ["20261121101500"] })).reports;
    expect(mixed!.report.acquired_at).toBe("2026-11-21T07:15:00.000Z");
  }
  expect(reportOf({ times: ["20000101000000"] })).toMatchObject({
    acquired_at: "1999-12-31T22:00:00.000Z",
    notes: ["the modality's clock is suspect: 1999-12-31T22:00:00.000Z"],
  });
});
