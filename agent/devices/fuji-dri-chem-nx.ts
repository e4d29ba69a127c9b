import type { DeviceResult } from "../report/report.ts";
import type { TextProfile, TextReading } from "../protocols/proprietary/profile.ts";

/**
 * Fujifilm DRI-CHEM NX, chemistry, serial, one-way, without checksum. Source: a capture of unproven origin. Unverified: modes
 * other than NORMAL, comparators, set ranges, and species codes, which are not read.
 */
export const fujiDriChemNx: TextProfile = {
  id: "fuji-dri-chem-nx",
  protocol: "text",
  link: { kind: "one-way", end: "ETX" },
  device_name: "Fujifilm DRI-CHEM NX",
  modality: "BIOCHEMISTRY",
  read,
};

/** R, mode, date, time, number, id, name, species, sex, age, ?, number of results; then seven columns per result. */
const HEAD_COLUMNS = 12;
const RESULT_COLUMNS = 7;

function read(text: string): TextReading {
  const columns = text.split(",").map((column) => column.trim());
  const [type, mode, date = "", time = "", number = "", identifier = "", name = ""] = columns;
  if (type === "I" || type === "W")
    return { is: "not-for-patients", reason: `a request of the device (${type}), not answered` };
  if (type !== "R") return problem(`the text begins ${JSON.stringify(text.slice(0, 20))}, expected R`);
  if (mode !== "NORMAL") return problem(`the mode is ${mode}, and only NORMAL is known to be a patient's`);
  const count = Number(columns[HEAD_COLUMNS - 1]);
  const expected = HEAD_COLUMNS + RESULT_COLUMNS * count;
  // There is no checksum: the column count must match, and each column must have its form.
  if (columns.length !== expected)
    return problem(`${columns.length} columns, expected ${expected} for ${columns[HEAD_COLUMNS - 1]} results`);
  const [, day, month, year] = /^(\d\d)-(\d\d)-(\d{4})$/.exec(date) ?? [];
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(time) ?? [];
  if (day === undefined || hour === undefined) return problem(`the time is ${date} ${time}, expected dd-mm-yyyy hh:mm`);
  const results: DeviceResult[] = [];
  for (let index = 0; index < count; index++) {
    const at = HEAD_COLUMNS + RESULT_COLUMNS * index;
    const result = readResult(columns.slice(at, at + RESULT_COLUMNS));
    if (result === null)
      return problem(`result ${index + 1} is ${JSON.stringify(columns.slice(at, at + RESULT_COLUMNS).join())}`);
    results.push(result);
  }
  const measuredAt = `${year}${month}${day}${hour}${minute}`;
  return { is: "sample", sample: { identifier, name, species: "", specimen: number, measuredAt, results } };
}

/** Reads `TCHO-PS ,=,4.53     mmol/l,1 ,0.00 ,0.00 ,`: name, comparator, value and unit, ?, the device's range, ?. */
function readResult([
  name = "",
  comparator = "",
  measured = "",
  ,
  low = "",
  high = "",
]: readonly string[]): DeviceResult | null {
  const [, value, unit = ""] = /^(\d+(?:\.\d+)?) +(\S+)$/.exec(measured) ?? [];
  if (name === "" || !/^[=<>]$/.test(comparator) || value === undefined) return null;
  if (![low, high].every((bound) => /^\d+(\.\d+)?$/.test(bound))) return null;
  return {
    names: [name.replace(/-PS?$/, "")], // the slide type follows the analyte
    value: comparator === "=" ? value : `${comparator}${value}`,
    unit,
    range: `${low}-${high}`, // 0.00-0.00 is an unset range
    flag: "",
    notFinal: null,
  };
}

function problem(reason: string): TextReading {
  return { is: "problem", reason };
}
