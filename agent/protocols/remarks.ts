import { foldName, isAnalyteName } from "../../shared/clinical/analytes/analytes.ts";

// Words of a device that are not results: about the run, about control material, and about a value that it doubts.

/**
 * Names of rows by which a device describes its run or the patient, folded. A blood type is a result, unless a profile excludes
 * it.
 */
const RUN_ROW = new RegExp(
  [
    // `Take Mode`, `Mode of sampling`, `Print_BMP`, `Recheck flag`
    String.raw`(?:.*-)?mode|mode-of-.*|(?:auto-?)?print.*`,
    String.raw`(?:re-?check|re-?test|re-?run|repeat|review|audit|edit|upload|sent|send)(?:-(?:flag|mark|switch|status|mode))?`,
    String.raw`(?:ref\.?|reference|age|patient|population)-?(?:group|set|type)|(?:sample|sampling|specimen|tube)-type`,
    String.raw`(?:patient-|animal-|pet-)?(?:age|sex|gender|species|breed)(?:-?\(.*\)|-unit|-years?|-months?)?`,
    String.raw`(?:body-|patient-|animal-)?weight(?:-?\(.*\))?`,
    String.raw`(?:operator|user)(?:-(?:id|name))?|department(?:-name)?|(?:rack|position|tube|shelf)(?:-no\.?)?|(?:card-|reagent-)?lot(?:-(?:no|number))?`,
    String.raw`serial-number|sn|analyzer|software-version|test-duration|ambient-temperature`,
    String.raw`(?:charge|project|patient)-type|audit-?result`, // Mindray BC-700
  ]
    .map((pattern) => `^(?:${pattern})$`)
    .join("|"),
);

/** Names of pictures, whatever their type: `WBC Histogram. BMP`, `WBCHIST`, `SCAT_WDF.PNG`. */
const PICTURE = /histogram|scatter[\s_-]?(?:gram|plot)|hist$|[\s_.-](?:bmp|png|jpe?g|bitmap)$/i;

/** Returns whether a row is a picture or a curve, which stays in the message. */
export function isPicture(names: readonly string[]): boolean {
  return names.some((name) => name.length <= NAME_MAX && PICTURE.test(name)) && !names.some(isAnalyteName);
}

/** Whether a row has the patient's species. Its value is `General` on a human model. */
export function isSpeciesRow(names: readonly string[]): boolean {
  return names.some((name) => /^(?:ref\.?-?group|species|animal(?:-type)?)$/.test(foldName(name)));
}

/** Age and weight in LOINC, and Mindray's settings and histogram lines: `08001^Take Mode^99MRC`, `15001^...^99MRC`. */
const RUN_CODES = /^(?:3[01]525-0|21612-7|29553-5|3141-9|29463-7)(?:\^|$)|^(?:0\d{4}|15\d{3})\^[^^]*\^99MRC/;

/**
 * Returns whether a row describes the run or the patient: `code` is its code field as sent, `names` are its parts. `Repeat` with
 * the name of an analyte describes a result.
 */
export function isRunRow(code: string, names: readonly string[]): boolean {
  return RUN_CODES.test(code) || (names.some((name) => RUN_ROW.test(foldName(name))) && !names.some(isAnalyteName));
}

/** Quality control in words: `* QUALITY CONTROL REPORT *`. */
const QUALITY_CONTROL = /(?<!\p{L})quality[\s_-]*controls?(?!\p{L})/iu;

/**
 * Quality control and calibration in words, also of other languages. Control alone does not count: a patient may have that name.
 */
const CONTROL_WORDS = new RegExp(
  [
    QUALITY_CONTROL.source,
    String.raw`(?<![\p{L}\p{N}])(?:[IE]?QC|QCR|LQC)(?![\p{L}\p{N}])`, // an accession may be V36QC92
    String.raw`(?<!\p{L})calibrat(?:ion|or)s?(?!\p{L})`,
    String.raw`(?<!\p{L})control[\s_-]+(?:material|solution|serum|level)(?!\p{L})`,
    String.raw`(?<!\p{L})contr[oô]le?[\s_-]+(?:de[\s_-]+)?(?:la[\s_-]+)?(?:qualit|calidad)`,
    String.raw`qualit(?:ä|ae)tskontrolle|kalite[\s_-]*kontrol`,
  ].join("|"),
  "iu",
);

/** Returns whether a text means a calibration or a count without a sample, whose values are no control's. */
export function saysCalibration(text: string): boolean {
  return text.length <= NAME_MAX && (/(?<!\p{L})calibrat(?:ion|or)s?(?!\p{L})/iu.test(text) || isBackground(text));
}

/** Returns whether the name of a sample means a count without a sample: `Background`, `Background 2`. */
export function isBackground(name: string): boolean {
  return /^\s*back[\s_-]?ground(?:[\s_-]*(?:test|check|count|run))?[\s_-]*\d{0,6}\s*$/i.test(name);
}

/** A control's result in words: `LEVEL 1: IQC 1`. */
const CONTROL_VALUE =
  /(?<![\p{L}\p{N}])(?:level[\s_-]*\d+|[IE]?QC[\s_-]*\d+).*(?:(?<!\p{L})[IE]?QC(?!\p{L})|control)|^[IE]?QC[\s_-]*\d+$/iu;

/** Max characters of a text that may name a control: a search in a longer one could take minutes. */
const NAME_MAX = 1_000;

/** Returns whether the name of an order or test means quality control: `* QUALITY CONTROL REPORT *`, `IQC`. */
export function saysControl(name: string): boolean {
  return name.length <= NAME_MAX && (CONTROL_WORDS.test(name) || CONTROL_VALUE.test(name));
}

/** The heading of a control's report. `Quality control passed` describes a patient's run too. */
const CONTROL_HEADING = /^\W*quality[\s_-]*controls?(?:\W*$|[\s_-]+report(?!\p{L}))/iu;

/** Returns whether a text of a maker, which may also describe a patient's run, is the heading of a control's report. */
export function isControlReport(text: string): boolean {
  return text.length <= NAME_MAX && CONTROL_HEADING.test(text);
}

/** Returns whether a row is the result of a control, by the name of its test or by its value. */
export function isControlRow(names: readonly string[], value: string): boolean {
  return names.some(saysControl) || (value.length <= NAME_MAX && CONTROL_VALUE.test(value));
}

/** Notes that state a fact: `Interpretation=Normal`, `Slope^1.000`, `Instrument Flag H`, or a word that repeats the flag. */
const FACT =
  /^[-+]?\d+[.,]\d+(?:\s|$)|^[^=]{1,80}=\s*\S|^[\p{L}\p{N} _().%/-]{1,40}[\^:]\s*[-+]?\d|^[\p{L} ]{2,40} [-+]?\d[\d.,]*$|^(?:instrument flag|flag norm_range[hl]?)(?:\s+\S)?$|^(?:ok|okay|pass(?:ed)?|normal|valid|none|no error|high|low|abnormal|final|negative|positive)\.?$/iu;

/** Returns the notes on a value that doubt it: words, not numbers or facts. A mark alone, such as `*`, is a flag. */
export function doubtsIn(notes: readonly string[]): string[] {
  return notes.filter((note) => /\p{L}{2}/u.test(note) && !FACT.test(note.trim()));
}
