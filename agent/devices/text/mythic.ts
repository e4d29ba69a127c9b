import type { FoundEvent } from "../../report/device-event.ts";
import type { DeviceResult } from "../../report/report.ts";
import type { TextProfile, TextReading } from "../../protocols/text/profile.ts";

/**
 * Abbott CELL-DYN Emerald and Orphée Mythic 18 and 22, also Vet, hematology, TCP or serial. Sources: a log of one run of an
 * Emerald 22 AL, and notes on the makers' documents CP_M18_22 and 9159915. The log proves the lines, the check number, and the
 * units of UNIT 1 by their values. Older firmware, of a Mythic 18 Vet, writes header and word in one line. The codes of sex, the
 * flag D and the place of a calibrator's lot come from another program's parser. Unverified without a device: Vet models and their
 * words for the species, the dialogue, controls, the unit of PDW, other unit systems, and a device set to another order of day and
 * month.
 */
export const mythic: TextProfile = {
  id: "mythic",
  protocol: "text",
  link: { kind: "crc-lines" },
  device_name: "CELL-DYN Emerald or Mythic",
  modality: "HEMATOLOGY",
  charset: "utf8",
  read,
};

/** Units of UNIT 1, by name. A name that ends in % is a percentage in any system. */
const UNITS: ReadonlyMap<string, string> = new Map([
  ...["WBC", "LYM", "MON", "MID", "GRA", "NEU", "EOS", "BAS", "PLT"].map((name) => [name, "10^3/uL"] as const),
  ["RBC", "10^6/uL"],
  ["HGB", "g/dL"],
  ["MCHC", "g/dL"],
  ["HCT", "%"],
  ["RDW", "%"],
  ["PCT", "%"],
  ["MCV", "fL"],
  ["MPV", "fL"],
  ["MCH", "pg"],
  ["PDW", ""],
]);

/** Lines with a meaning of their own, or about the run: rack, tube, cycle, ward and physician. */
const HEAD = new Set([
  ...["DATE", "TIME", "MODE", "UNIT", "SID", "PID", "ID", "TYPE", "BIRTH", "SEX"],
  ...["SEQ", "TEST", "RTYPE", "RACK", "POS", "TUBE_TYPE", "PRESC", "LOCAT", "DRAW DATE", "DRAW TIME", "PREL", "CYCLE"],
]);
/** Lines of a control's run. */
const HEAD_OF_CONTROL = new Set(["LOT", "LEVEL"]);
/** Histograms and scatter plots. They stay in the stored message. */
const PICTURE = /(?:CURVE|THRESHOLDS?|MATRIX)$/;
/** Lines of words with any number of fields. */
const WORDS = /^(?:ALARMS|INFO|(?:.* )?COMMENTS?|INTERPRETIVE_.*)$/;
/** TYPE of a human model. On a Vet model it is the species. */
const HUMAN_TYPE = /^(?:STANDARD|MALE|FEMALE|MAN|WOMAN|ADULT|CHILD.*|NEW ?BORN|BABY|USER.*|\d*)$/i;
/** Fields of a result: name, value, suspicion, flag, and two limits or four. */
const [RESULT_FIELDS, FIELDS_WITH_PANIC] = [6, 8];

function read(text: string): TextReading {
  const lines = text.split(/[\r\n]+/).map((line) => line.split(";").map((field) => field.trim()));
  const { at, field } = nameOfFrame(lines);
  const [name = "", ...rest] = lines[at]?.slice(field) ?? [];
  if (name === "CALIBRATION") return { is: "not-for-patients", reason: "a calibration", events: [calibrationOf(rest)] };
  if (name === "STARTUP") {
    const reason = `a start-up check: ${rest.join(" ").trim()}`;
    return { is: "not-for-patients", reason, events: startOf(rest) };
  }
  if (name !== "RESULT") return { is: "problem", reason: "no line names the frame, expected RESULT" };
  return readRun((field > 0 ? lines[at] : lines[at - 1])?.[0] ?? "", lines.slice(at + 1));
}

/** `1;21/11/2026;07:30:00;K-77;01/05/2027;...`: date, time, and the calibrator's lot and expiry. */
function calibrationOf([, date = "", time = "", lot = "", expires = ""]: readonly string[]): FoundEvent {
  return { event: "calibration", at: clockOf(date, time), lot, expires: dateOf(expires) };
}

/** `21/11/2026;07:12:40;PASSED;...`: a check that did not pass is a fault too. */
function startOf([date = "", time = "", result = ""]: readonly string[]): FoundEvent[] {
  const at = clockOf(date, time);
  const failed: FoundEvent[] = /^fail/i.test(result) ? [{ event: "fault", at, subject: "STARTUP", text: result }] : [];
  return [{ event: "start", at, text: result }, ...failed];
}

function clockOf(date: string, time: string): string {
  return `${dateOf(date)}${time.replaceAll(":", "")}`;
}

/** Finds the word that names the frame: in a line of its own after the header, or in the header of older firmware. */
function nameOfFrame(lines: readonly (readonly string[])[]): { readonly at: number; readonly field: number } {
  const fields = lines
    .slice(0, 2)
    .map((line) => line.findIndex((text) => /^(?:RESULT|CALIBRATION|STARTUP)$/.test(text)));
  const at = fields.findIndex((field) => field >= 0);
  return { at, field: fields[at] ?? 0 };
}

function readRun(model: string, lines: readonly (readonly string[])[]): TextReading {
  const head = new Map<string, string>();
  const comments: string[] = [];
  const rows: (readonly string[])[] = [];
  const isControl = lines.some(([name, mode]) => name === "MODE" && mode === "QC");
  for (const line of lines) {
    const [name = "", ...fields] = line;
    const words = fields.filter(Boolean).join(", ");
    if (PICTURE.test(name)) continue;
    if (HEAD.has(name) || (isControl && HEAD_OF_CONTROL.has(name))) head.set(name, fields[0] ?? "");
    else if (!WORDS.test(name) && (line.length >= RESULT_FIELDS || UNITS.has(name))) rows.push(line);
    else if (words !== "") comments.push(`${name}: ${words}`);
  }
  const given = (name: string) => head.get(name) ?? "";
  const [mode, unit, type] = [given("MODE"), given("UNIT"), given("TYPE")];
  if (mode === "") return { is: "problem", reason: "no MODE, and only a run with MODE;NORMAL is a patient's" };
  const reason = `not a patient's run (MODE is ${mode})`;
  if (mode !== "NORMAL" && mode !== "QC") return { is: "not-for-patients", reason };
  const isHuman = HUMAN_TYPE.test(type);
  const sample = {
    identifier: given("PID"),
    ...namesOf(given("ID")),
    species: isHuman ? "" : type,
    specimen: given("SID"),
    measuredAt: clockOf(given("DATE"), given("TIME")),
    sex: { "1": "M", "2": "F" }[given("SEX")] ?? "",
    dateOfBirth: dateOf(given("BIRTH")),
    results: rows.map((row) => resultOf(row, unit === "1")),
    comments: [...(isHuman && type !== "" ? [`TYPE: ${type}`] : []), ...comments],
    notes: unit === "1" ? [] : [`the unit system is ${unit || "not named"}, and only the units of system 1 are known`],
    ...(model === "" ? {} : { device_name: model }),
  };
  const control = { reason, lot: given("LOT"), level: given("LEVEL") };
  return { is: "sample", sample, ...(mode === "QC" ? { control } : {}) };
}

/** `LAST^FIRST` is owner and animal; a single name is the animal's. */
function namesOf(id: string): { readonly name: string; readonly owner: string } {
  const [last = "", first = ""] = id.split("^").map((part) => part.trim());
  return first === "" ? { name: last, owner: "" } : { name: first, owner: last };
}

/**
 * Reads `dd/mm/yyyy` or `yyyy/mm/dd`, also with dashes or points, as `YYYYMMDD`.
 * @returns another text without them, for the note
 */
function dateOf(text: string): string {
  const [, day, month, year] = /^(\d\d)[-/.](\d\d)[-/.](\d{4})$/.exec(text) ?? [];
  return year === undefined ? text.replace(/[-/.]/g, "") : `${year}${month}${day}`;
}

function resultOf(row: readonly string[], isUnitKnown: boolean): DeviceResult {
  const [name = "", value = "", suspicion = "", flag = "", ...limits] = row;
  const [low = "", high = ""] = row.length >= FIELDS_WITH_PANIC ? limits.slice(1) : limits;
  return {
    names: [name],
    value,
    unit: name.endsWith("%") ? "%" : isUnitKnown ? (UNITS.get(name) ?? "") : "",
    range: low === "" || high === "" ? "" : `${low}-${high}`,
    flag,
    notFinal: noValueReason(value),
    doubt: suspicion === "" ? null : `the device suspects the value (${suspicion})`,
  };
}

/** Returns why a row has no value; null for a value. */
function noValueReason(value: string): string | null {
  if (/^\++$/.test(value)) return `above the measuring range (${value})`;
  return /^(?:-+|\.+)$/.test(value) ? `not measured (${value})` : null;
}
