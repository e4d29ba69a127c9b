import type { DeviceResult } from "../../report/report.ts";
import type { TextProfile, TextReading } from "../../protocols/text/profile.ts";
import { MARKS } from "./arkray-spotchem-ez.ts";

/**
 * Arkray SPOTCHEM EL SE-1520, electrolytes, serial, one-way, without checksum. Source: the parser of another program alone.
 * Unverified: all of it, above all the
 * serial settings, the widths of the columns, the marks and the words of the specimen.
 */
export const arkraySpotchemEl: TextProfile = {
  id: "arkray-spotchem-el",
  protocol: "text",
  link: { kind: "one-way", end: "ETX" },
  device_name: "Arkray SPOTCHEM EL",
  modality: "BIOCHEMISTRY",
  read,
};

/** Time, sample number, specimen in brackets, and the results, all in one line. */
const HEAD = /^(\d\d)\/(\d\d)\/(\d\d) +(\d\d):(\d\d) +ID# *(.*?) *\[ *([^\]]*?) *\] */;
/** `Na   145 mmol/L`: name, mark, value or marks in its place, unit. */
const RESULT =
  /^([A-Z][A-Za-z]{0,5}) *([^\w\s<>*-]?) *((?:[<>] *)?\d+(?:\.\d+)?|[-*]+|[A-Z]{2,}) +(m(?:mol|Eq)\/L)(?: +|$)/;

function read(text: string): TextReading {
  const line = text.replaceAll(/[\r\n]+/g, " ").trim();
  const head = HEAD.exec(line);
  if (head === null)
    return problem(`the text starts with ${JSON.stringify(line.slice(0, 40))}, expected time, ID# and [specimen]`);
  const [whole, year, month, day, hour, minute, identifier = "", specimen = ""] = head;
  const results: DeviceResult[] = [];
  // There is no checksum: each character must belong to a result.
  for (let rest = line.slice(whole.length); rest !== ""; ) {
    const result = RESULT.exec(rest);
    if (result === null)
      return problem(`a result is ${JSON.stringify(rest.slice(0, 30))}, expected name, value and unit`);
    const [matched, name = "", mark = "", value = "", unit = ""] = result;
    const flag = mark === "" ? "" : MARKS[mark];
    if (flag === undefined) return problem(`the mark of ${name} is ${JSON.stringify(mark)}`);
    results.push({ names: [name], value: value.replaceAll(" ", ""), unit, range: "", flag, notFinal: null });
    rest = rest.slice(matched.length);
  }
  if (results.length === 0) return problem("the text has no result");
  const measuredAt = `20${year}${month}${day}${hour}${minute}`;
  const urine = /urine/i.test(specimen);
  const sample = { identifier, name: "", species: "", specimen: "", measuredAt, results, urine };
  return { is: "sample", sample: { ...sample, comments: specimen === "" ? [] : [`specimen: ${specimen}`] } };
}

function problem(reason: string): TextReading {
  return { is: "problem", reason };
}
