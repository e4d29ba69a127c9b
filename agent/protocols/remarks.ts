import { foldName } from "../../shared/clinical/analytes.ts";

// Words of a device that are not results: about the run, about control material, and about a value that it doubts.

/** Names of rows by which a counter describes its run, folded. The catalogue knows none of them. */
const RUN_ROWS: ReadonlySet<string> = new Set(
  [
    ...[
      "Mode",
      "Take",
      "Blood",
      "Test",
      "Sampling",
      "Sample",
      "Analysis",
      "Work",
      "Low",
      "Count",
      "Measuring",
      "Tube",
    ].map((word) => (word === "Mode" ? word : `${word} Mode`)),
    ...[
      "Measurement Mode",
      "Dilution Mode",
      "Predilute Mode",
      "Aspiration Mode",
      "Sampling Type",
      "Sample Type",
      "Tube Type",
    ],
    ...["Ref Group", "Ref. Group", "Reference Group", "Age Group", "Patient Group", "Patient Type", "Blood Type"],
    ...[
      "Age",
      "Age Unit",
      "Patient Age",
      "Sex",
      "Gender",
      "Species",
      "Breed",
      "Weight",
      "Body Weight",
      "Patient Weight",
    ],
    ...["Recheck", "Recheck flag", "Recheck mark", "Rerun", "Rerun flag", "Repeat flag", "Retest flag", "Review flag"],
    ...[
      "Print",
      "Print flag",
      "Print_BMP",
      "Printed",
      "Print count",
      "Auto Print",
      "Upload flag",
      "Sent flag",
      "Edit flag",
    ],
    ...["Operator", "Operator ID", "User ID", "Department", "Department name", "Test duration", "Ambient Temperature"],
    ...[
      "Rack",
      "Position",
      "Lot",
      "Lot No",
      "Lot Number",
      "Card Lot",
      "Reagent Lot",
      "Serial Number",
      "Software Version",
    ],
  ].map(foldName),
);

/** Age and weight in LOINC, and Mindray's settings and histogram lines: `08001^Take Mode^99MRC`, `15001^...^99MRC`. */
const RUN_CODES = /^(?:3[01]525-0|21612-7|29553-5|3141-9|29463-7)(?:\^|$)|^(?:0\d{4}|15\d{3})\^[^^]*\^99MRC/;

/** Returns whether a row describes the run or the patient: `code` is its code field as sent, `names` are its parts. */
export function isRunRow(code: string, names: readonly string[]): boolean {
  return RUN_CODES.test(code) || names.some((name) => RUN_ROWS.has(foldName(name)));
}

/** Quality control and calibration in words, also of other languages. A patient may be named Control, so that alone is none. */
const CONTROL_WORDS = new RegExp(
  [
    String.raw`(?<!\p{L})quality[\s_-]*controls?(?!\p{L})`,
    String.raw`(?<!\p{L})(?:[IE]?QC|QCR|LQC)(?!\p{L})`,
    String.raw`(?<!\p{L})calibrat(?:ion|or)s?(?!\p{L})`,
    String.raw`(?<!\p{L})control[\s_-]+(?:material|solution|serum|level)(?!\p{L})`,
    String.raw`(?<!\p{L})contr[oô]le?[\s_-]+(?:de[\s_-]+)?(?:la[\s_-]+)?(?:qualit|calidad)`,
    String.raw`qualit(?:ä|ae)tskontrolle|kalite[\s_-]*kontrol`,
  ].join("|"),
  "iu",
);

/** A control's result in words: `LEVEL 1: IQC 1`. */
const CONTROL_VALUE =
  /(?<!\p{L})(?:level[\s_-]*\d+|[IE]?QC[\s_-]*\d+).*(?:(?<!\p{L})[IE]?QC(?!\p{L})|control)|^[IE]?QC[\s_-]*\d+$/iu;

/** Returns whether the name of an order or of a test says that it is quality control: `* QUALITY CONTROL REPORT *`, `IQC`. */
export function saysControl(name: string): boolean {
  return CONTROL_WORDS.test(name) || CONTROL_VALUE.test(name);
}

/** Returns whether a row is the result of a control, by the name of its test or by its value. */
export function isControlRow(names: readonly string[], value: string): boolean {
  return names.some(saysControl) || CONTROL_VALUE.test(value);
}

/** Notes that state a fact: `Interpretation=Normal`, `Slope^1.000`, `Instrument Flag H`, or a word that repeats the flag. */
const FACT =
  /^[^=]{1,80}=\s*\S|^[\p{L}\p{N} _().%/-]{1,40}[\^:]\s*[-+]?\d|^[\p{L} ]{2,40} [-+]?\d[\d.,]*$|^(?:instrument flag|flag norm_range[hl]?)(?:\s+\S)?$|^(?:ok|okay|pass(?:ed)?|normal|valid|none|no error|high|low|abnormal|final|negative|positive)\.?$/iu;

/** Returns the notes on a value that doubt it: words, not numbers or facts. A mark alone, such as `*`, is a flag. */
export function doubtsIn(notes: readonly string[]): string[] {
  return notes.filter((note) => /\p{L}{2}/u.test(note) && !FACT.test(note.trim()));
}
