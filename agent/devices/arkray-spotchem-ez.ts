import type { DeviceResult } from "../report/report.ts";
import type { TextProfile, TextReading } from "../protocols/proprietary/profile.ts";

/**
 * Arkray SPOTCHEM EZ SP-4430, chemistry, serial, one-way, without checksum. Source: a real capture of one MULTI block, and
 * a description of a real SINGLE line behind ETB. Unverified: the mark for low, OVER, rows without a value, and the head
 * of a SINGLE slide that runs alone.
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
/** `" MULTI:PANEL-V"`. The line of a SINGLE slide behind other slides begins at column 0. Its rows belong to their sample. */
const PANEL = /^ |^SINGLE:/;

/** Mark before a value: above or below the device's own range. */
export const MARKS: Readonly<Record<string, string>> = { " ": "", "\x1e": "H", "\x1f": "L" };

function read(text: string): TextReading {
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
