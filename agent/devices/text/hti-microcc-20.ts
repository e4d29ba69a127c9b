import type { DeviceResult } from "../../report/report.ts";
import type { TextProfile, TextReading } from "../../protocols/text/profile.ts";

/**
 * HTI MicroCC-20 Plus Vet, hematology, serial, one-way: a record of the run, three of its histograms, and `M`. Each record ends
 * with the sum of its bytes, modulo 65 536. Source: one run of a dog in a clinic (Russian firmware), kept by another program's
 * author; the sums of the run's record and of M are right. Unverified: the sum of a histogram, line ends between records, data bits and
 * parity, the identifier's place beside that program's word, the fields behind it, other species, controls, and values beyond the
 * range.
 */
export const htiMicrocc20: TextProfile = {
  id: "hti-microcc-20",
  protocol: "text",
  link: { kind: "until-words", words: "TRANSFER FINISH" },
  serial: { baudRate: 115_200 },
  device_name: "HTI MicroCC-20 Plus Vet",
  modality: "HEMATOLOGY",
  charset: "windows-1251",
  read,
};

/** R, the sample's number, date, time, species, identifier, specimen, sex, age, its unit, and two empty fields. */
const HEAD_FIELDS = 12;
/** The beginning of a record R. Noise of the line may come before it, which its sum does not have. */
const RECORD = /R,[^,\r\n]*,\d{4}-\d\d-\d\d,\d\d:\d\d:\d\d,/g;
const NAME = /^[A-Z][A-Z#%-]*$/;

function read(text: string): TextReading {
  const [start, ...others] = text.matchAll(RECORD);
  if (start === undefined) return unreadable("the text has no record R with a date and time");
  // The words at the end of an earlier run were lost.
  if (others.length > 0) return unreadable("the text has several records R: send the runs again");
  if (text.slice(0, start.index).includes(",")) return unreadable("the text does not begin with a record R");
  const fields = text
    .slice(start.index)
    .split(",")
    .map((field) => field.replace(/^[\r\n]+/, ""));
  const end = endOfRows(fields);
  const sum = fields[end] ?? "";
  const record = `${fields.slice(0, end).join(",")},`;
  if (!/^\d{1,5}$/.test(sum)) return unreadable("the record R has no sum after its results");
  if (Number(sum) !== sumOf(record)) return unreadable(`the sum of the record R is ${sumOf(record)}, not ${sum}`);
  const [, number = "", date = "", time = "", species = "", identifier = "", specimen = ""] = fields;
  const results = Array.from({ length: (end - HEAD_FIELDS) / 3 }, (_, index) =>
    resultAt(fields, HEAD_FIELDS + 3 * index),
  );
  if (results.length === 0) return unreadable("the record R has no result");
  const sample = {
    identifier: identifier.trim(),
    name: "",
    species: species.trim(),
    specimen: number.trim(),
    measuredAt: `${date}${time}`.replace(/\D/g, ""),
    results,
    comments: specimen.trim() === "" ? [] : [specimen.trim()],
  };
  return { is: "sample", sample };
}

function unreadable(reason: string): TextReading {
  return { is: "problem", reason };
}

/** @returns the position of the record's sum, which is in the place of a name */
function endOfRows(fields: readonly string[]): number {
  let at = HEAD_FIELDS;
  while (NAME.test(fields[at] ?? "")) at += 3;
  return at;
}

function resultAt(fields: readonly string[], at: number): DeviceResult {
  const [name = "", value = "", unit = ""] = fields.slice(at, at + 3);
  return { names: [name], value: value.trim(), unit: unit.trim(), range: "", flag: "", notFinal: null };
}

/** @param record one character a byte, as received */
function sumOf(record: string): number {
  return Buffer.from(record, "latin1").reduce((sum, byte) => sum + byte, 0) % 65_536;
}
