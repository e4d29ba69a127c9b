import { stringify } from "csv-stringify/sync";
import type { OruResult, OruStudy } from "../hl7/oru.ts";
import { type Cell, cellText, isoTime } from "./cells.ts";

// CSV of one study (RFC 4180): one result a row, UTF-8 with BOM. Pure: the bytes depend on the arguments alone.

export interface CsvStudy extends Pick<OruStudy, "fp" | "patient" | "placer" | "panel" | "acquiredAt" | "results"> {
  readonly revision: number;
  readonly microchip: string | null;
  readonly modality: string;
}

export interface CsvHeader {
  /** Time of this file. Of several files of a study the newest counts. */
  readonly at: number;
  readonly zone: string;
  /** The study was taken from this animal: none of its rows is true any more. */
  readonly isWithdrawn: boolean;
}

/** The columns, in their order for ever: a reader may go by position. New ones come last. */
const COLUMNS = [
  "study",
  "revision",
  "status",
  "issued_at",
  "acquired_at",
  "patient_number",
  "patient_name",
  "species",
  "microchip",
  "order",
  "panel",
  "modality",
  "device",
  "code",
  "name",
  "loinc",
  "value",
  "comparator",
  "value_text",
  "unit",
  "low",
  "high",
  "flag",
  "comment",
] as const;

type Row = Readonly<Partial<Record<(typeof COLUMNS)[number], Cell>>>;

/** Makes the file of a study. A study without results has one row, so that its file says so. */
export function csvOfStudy(study: CsvStudy, header: CsvHeader): Buffer {
  const common = commonCells(study, header);
  const results = study.results.length === 0 ? [{}] : study.results.map((result) => resultCells(result, header));
  const rows = results.map((result): Row => ({ ...common, ...result }));
  const cells = [COLUMNS, ...rows.map((row) => COLUMNS.map((column) => cellText(row[column])))];
  return Buffer.from(stringify(cells, { bom: true, record_delimiter: "windows" }));
}

/** The name of the file: of the destination, the study and its revision, and of no text that a person or a device wrote. */
export function csvFileName(slug: string, fp: string, revision: number, isWithdrawn: boolean): string {
  return `${safe(slug)}_${safe(fp)}_r${revision}${isWithdrawn ? "_withdrawn" : ""}.csv`;
}

function safe(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9-]/g, "_");
}

function commonCells(study: CsvStudy, { at, zone, isWithdrawn }: CsvHeader): Row {
  const { patient, microchip, placer, panel, modality } = study;
  return {
    study: { id: study.fp },
    revision: { number: String(study.revision) },
    status: { id: isWithdrawn ? "withdrawn" : "final" },
    issued_at: { id: isoTime(at, zone) },
    acquired_at: { id: isoTime(study.acquiredAt, zone) },
    patient_number: { text: patient.number },
    patient_name: { text: patient.name },
    species: { text: (patient.species.local ?? patient.species).code },
    microchip: { text: microchip ?? "" },
    order: { text: placer[0] ?? "" },
    panel: { text: panel.code },
    modality: { id: modality },
  };
}

function resultCells(result: OruResult, { zone }: CsvHeader): Row {
  const { low, high } = boundsIn(result.range);
  return {
    ...(result.analysedAt !== null && { acquired_at: { id: isoTime(result.analysedAt, zone) } }),
    device: { text: result.device ?? "" },
    code: { text: result.code },
    name: { text: result.name },
    loinc: { text: result.loinc ?? "" },
    ...valueCells(result.value),
    unit: { text: result.unit?.text ?? "" },
    low: { number: low },
    high: { number: high },
    flag: { id: result.flag ?? "" },
    comment: { text: result.notes.join(" ") },
  };
}

function valueCells(value: OruResult["value"]): Row {
  switch (value.type) {
    case "NM":
      return { value: { number: value.number } };
    case "SN": {
      const [comparator = "", number = "", separator = "", second = ""] = value.parts;
      if (separator === "") return { value: { number }, comparator: { id: comparator } };
      return { value_text: { text: `${number}${separator}${second}` } };
    }
    case "CWE":
      return { value_text: { text: value.printed } };
    case "ST":
      return { value_text: { text: value.text } };
    case "none":
      return { status: { id: value.isPending ? "pending" : "not measured" } };
  }
}

/** The bounds of `12-130`, `<15` and `>10`, with their digits. */
function boundsIn(range: string | null): { readonly low: string; readonly high: string } {
  const [, sign = "", first = "", second = ""] =
    /^([<>]?)(-?\d+(?:\.\d+)?)(?:-(-?\d+(?:\.\d+)?))?$/.exec(range ?? "") ?? [];
  if (sign === "<") return { low: "", high: first };
  return { low: first, high: second };
}
