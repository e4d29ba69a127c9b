import type { DeviceResult } from "../../report/report.ts";
import type { TextProfile, TextReading } from "../../protocols/text/profile.ts";

/**
 * Arkray SPOTCHEM EZ SP-4430, chemistry, serial, one-way, without checksum, in either of its output formats. Source: a real
 * capture of one MULTI block, a description of a real SINGLE line after ETB, and a description of the second format, in which
 * each result is a text of two lines. Unverified: the mark for low, OVER, rows without a value, and the head of a SINGLE slide that
 * runs alone; of the second format the kind, the codes of error and temperature, marks, and words in place of a value.
 */
export const arkraySpotchemEz: TextProfile = {
  id: "arkray-spotchem-ez",
  protocol: "text",
  link: { kind: "one-way", end: "ETX" },
  serial: { dataBits: 7, parity: "even", stopBits: 2 },
  device_name: "Arkray SPOTCHEM EZ",
  modality: "BIOCHEMISTRY",
  read,
};

/** Characters of every line. Another length means a lost or extra character, so numbers may have moved. */
const COLUMNS = 20;
const ETB = "\x17";

/** A value beyond the measuring range, with its bound and without unit: `ALP   UNDER <  0.83`. */
const BEYOND = /^(?:UNDER (<)|OVER  (>))([ \d.]{6}) $/;
/** A mark or a word in place of value and unit. */
const NO_VALUE = /^ +([-*+.?]+|[A-Z]+) *$/;
const TIME = /^(\d\d)\/(\d\d)\/(\d\d) +(\d\d):(\d\d) *$/;
const ID = /^ID# ?(.*)$/;
/** `" MULTI:PANEL-V"`. The line of a SINGLE slide after other slides starts at column 0. Its rows belong to their sample. */
const PANEL = /^ |^SINGLE:/;

/** Mark before a value: above or below the device's own range. */
export const MARKS: Readonly<Record<string, string>> = { " ": "", "\x1e": "H", "\x1f": "L" };

function read(text: string): TextReading {
  if (isSecondFormat(text)) return readTwoLines(text);
  const ids = new Set<string>();
  const times = new Set<string>();
  const results: DeviceResult[] = [];
  const lines = text
    .split(ETB)
    .flatMap((block) => block.split(/\r\n|\r|\n/))
    .filter((line) => line !== "");
  for (const [index, line] of lines.entries()) {
    const problem = (reason: string): TextReading => ({ is: "problem", reason: `line ${index + 1} ${reason}` });
    if (line.length !== COLUMNS) return problem(`has ${line.length} characters, expected ${COLUMNS}`);
    const time = TIME.exec(line);
    const id = ID.exec(line);
    const result = PANEL.test(line) ? null : readResult(line);
    if (time !== null) times.add(`20${time.slice(1).join("")}`);
    else if (id !== null) ids.add((id[1] ?? "").trim());
    else if (result !== null) results.push(result);
    else if (!PANEL.test(line)) return problem("is neither a time, an id, a panel nor a result");
  }
  const [measuredAt = "", otherTime] = times;
  const [identifier = "", otherId] = ids;
  if (otherId !== undefined) return { is: "problem", reason: `two ids in one text: ${identifier} and ${otherId}` };
  if (otherTime !== undefined) return { is: "problem", reason: "two times in one text" };
  if (measuredAt === "" || results.length === 0) return { is: "problem", reason: "the text has no time, or no result" };
  return { is: "sample", sample: { identifier, name: "", species: "", specimen: "", measuredAt, results } };
}

/**
 * First line of the second format: identifier in 10 columns, kind 2, number of the run's results 2, number of this one 2, time, the
 * digits of error and temperature. Without a typed identifier the device writes its counter and `******`.
 */
const RUN = /^(.{10}) (..)([ \d]\d)\/([ \d]\d) (\d\d)\/(\d\d)\/(\d\d) (\d\d):(\d\d) (\S) (\S)$/;
/** Second line: panel or blanks in 10 columns, name 5, mark 1, value 6, unit 6, a digit, blanks. */
const RESULT = /^(.{10}) (\S.{4})(.)(.{6}) (.{6}) (\S) *$/;
/** A value of the second format: right-aligned, with the sign of a bound before it. */
const VALUE = /^ *[<>]? *\d+(?:\.\d+)?$/;
const COUNTER = /^(\d+)\*+$/;

function isSecondFormat(text: string): boolean {
  return /^.{10} ..[ \d]\d\/[ \d]\d /.test(text);
}

/** Reads one result of a run. The messages of a run have one time, so they are one study. */
function readTwoLines(text: string): TextReading {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line !== "");
  const [head = "", row = "", ...more] = lines;
  if (more.length > 0 || row === "") return unreadable(`the text has ${lines.length} lines, expected 2`);
  const run = RUN.exec(head);
  if (run === null) return unreadable("line 1 is not an identifier, count, time and two digits in 37 columns");
  const [, typed = "", , , , year, month, day, hour, minute, error = "", temperature = ""] = run;
  const result = readRow(row, error, temperature);
  if (result === null) return unreadable("line 2 is no name, value and unit in their columns");
  const [, counter = ""] = COUNTER.exec(typed.trim()) ?? [];
  const sample = {
    identifier: counter === "" ? typed.trim() : "",
    name: "",
    species: "",
    specimen: counter,
    measuredAt: `20${year}${month}${day}${hour}${minute}`,
    results: [result],
  };
  return { is: "sample", sample };
}

function unreadable(reason: string): TextReading {
  return { is: "problem", reason };
}

/** A run with an error has zeros in place of values. The meaning of the other digits is unknown, so they are doubts. */
function readRow(line: string, error: string, temperature: string): DeviceResult | null {
  const [, , name = "", mark = " ", value = "", unit = "", last = ""] = RESULT.exec(line) ?? [];
  const isWord = /^ *(?:[-*+.?]+|[A-Z]+) *$/.test(value);
  const flag = MARKS[mark];
  if (name === "" || flag === undefined || !(VALUE.test(value) || isWord)) return null;
  const doubts = [
    ...(temperature === "0" ? [] : [`the device reports temperature ${temperature}`]),
    ...(last === "0" ? [] : [`the device marks the value with ${last}`]),
  ];
  return {
    ...deviceResult(name.trim(), value.replaceAll(" ", ""), unit, flag),
    notFinal: error === "0" ? null : `the device reports error ${error}`,
    doubt: doubts.join("; ") || null,
  };
}

/** Reads a line: name in 6 columns, mark 1, value 5, a blank, unit 7. */
function readResult(line: string): DeviceResult | null {
  const name = line.slice(0, 6).trimEnd();
  if (!/^\S/.test(name)) return null;
  const [, under = "", over = "", bound = ""] = BEYOND.exec(line.slice(6)) ?? [];
  if (isNumber(bound)) return deviceResult(name, `${under}${over}${bound.trim()}`, "", "");
  if (NO_VALUE.test(line.slice(6))) return deviceResult(name, line.slice(6), "", "");
  const value = line.slice(7, 12);
  const flag = MARKS[line.charAt(6)];
  return flag === undefined || !isNumber(value) || line[12] !== " "
    ? null
    : deviceResult(name, value, line.slice(13), flag);
}

/** Returns whether the value is right-aligned, without inner blanks or a second point. */
function isNumber(value: string): boolean {
  return /^ *\d+(\.\d+)?$/.test(value);
}

function deviceResult(name: string, value: string, unit: string, flag: string): DeviceResult {
  return { names: [name], value: value.trim(), unit: unit.trim(), range: "", flag, notFinal: null };
}
