import { DateTime } from "luxon";
import { flagReasonText } from "../../../shared/clinical/flag-reasons.ts";
import type { ReportQuery, StudyPage, StudyRow } from "../types/results/results.ts";
import { isStudyWord } from "../types/results/study-words.ts";
import type { CsvCell } from "../csv.ts";
import type { PdfContent, PdfDocument } from "./pdf.ts";
import { reportWord, type ReportWord } from "./report-text.ts";

// One study on paper and as a table for a spreadsheet.

/** Facts of a report in addition to the study. */
export interface ReportContext extends ReportQuery {
  readonly clinicName: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

type Words = (name: ReportWord) => string;

/** Describes the report of a study for `renderPdf`. */
export function studyReport(study: StudyPage, context: ReportContext): PdfDocument {
  const { language, clinicName } = context;
  const word = (name: ReportWord) => reportWord(language, name);
  const sources = sourceTexts(study.rows, word);
  const title = `${word("title")}: ${study.patient?.name ?? study.device_name}`;
  return {
    language,
    info: { title, creator: "Vetwire" },
    content: [
      { text: clinicName, style: "label" },
      { text: title, style: "title" },
      { columns: factColumns(study, context) },
      study.rows.length === 0 ? { text: word("noResults"), style: "heading" } : rowsTable(study, sources, word),
      ...(sources.length === 0
        ? []
        : [
            { text: word("sources"), style: "heading" },
            { ol: sources, style: "quiet" },
          ]),
      ...(study.comments.length === 0 ? [] : [{ text: word("comments"), style: "heading" }, { stack: study.comments }]),
      ...(study.notes.length === 0
        ? []
        : [
            { text: word("notes"), style: "heading" },
            { stack: study.notes.slice(0, NOTES_MAX).map((note) => note.slice(0, NOTE_CHARS_MAX)), style: "quiet" },
          ]),
    ],
    footer: (page, pages) => ({
      columns: [
        { text: `${study.fp} · ${word("printed")} ${timeText(new Date(context.now).toISOString(), context)}` },
        { text: `${word("page")} ${page}/${pages}`, alignment: "right", width: "auto" },
      ],
      style: ["quiet", "footer"],
    }),
  };
}

/** Bounds of the notes of a report. A device may send thousands of them. */
const NOTES_MAX = 100;
const NOTE_CHARS_MAX = 500;

function factColumns(study: StudyPage, context: ReportContext): PdfContent[] {
  const word = (name: ReportWord) => reportWord(context.language, name);
  const { patient } = study;
  const facts = (pairs: readonly (readonly [ReportWord, string | null])[]): PdfContent => ({
    stack: pairs.flatMap(([name, value]) =>
      value === null || value === "" ? [] : [{ text: [{ text: `${word(name)}: `, style: "label" }, value] }],
    ),
  });
  return [
    facts([
      ["patient", patient === null ? `${study.hint?.name ?? ""} (${word("noPatient")})`.trim() : patient.name],
      ["species", patient === null ? null : isStudyWord(patient.species) ? word(patient.species) : patient.species],
      ["breed", patient?.breed ?? null],
      ["sex", patient === null ? null : sexText(patient.sex, word)],
      ["born", patient?.date_of_birth ?? null],
      ["flaggedFor", study.flagged_for === null ? null : flaggedForText(study.flagged_for, word)],
    ]),
    facts([
      ["modality", word(study.modality)],
      ["device", study.device_name],
      ["sample", study.sample_ids.join(", ")],
      ["acquired", timeText(study.acquired_at, context)],
      ["received", timeText(study.received_at, context)],
      ["revision", String(study.revision)],
    ]),
  ];
}

/** The facts of the animal that the printed ranges and flags are for, if they were corrected since. */
function flaggedForText(
  { species, breed = null, sex, date_of_birth }: NonNullable<StudyPage["flagged_for"]>,
  word: Words,
) {
  const facts = [isStudyWord(species) ? word(species) : species, breed, sexText(sex, word), date_of_birth];
  return facts.filter((fact) => fact !== null).join(", ");
}

function sexText(sex: string | null, word: Words): string | null {
  const known = (["male", "female", "male_neutered", "female_spayed", "unknown"] as const).find((each) => each === sex);
  return known === undefined ? sex : word(known);
}

function rowsTable(study: StudyPage, sources: readonly string[], word: Words): PdfContent {
  const head = (["analyte", "value", "unit", "range", "flag", "deviceSays"] as const).map((name) => ({
    text: word(name),
    style: "label",
  }));
  return {
    table: {
      headerRows: 1,
      widths: ["*", "auto", "auto", "auto", "auto", "auto"],
      dontBreakRows: true,
      body: [head, ...study.rows.map((row) => rowCells(row, sources, word))],
    },
    layout: "lightHorizontalLines",
    style: "table",
  };
}

function rowCells(row: StudyRow, sources: readonly string[], word: Words): PdfContent[] {
  const isOutside = row.flag === "low" || row.flag === "high" || row.abnormal === true;
  const style = row.flag === "critical" ? "critical" : isOutside ? "outside" : "";
  const source = sources.indexOf(sourceText(row, word) ?? "") + 1;
  const origin = originWord(row);
  return [
    {
      text: [
        { text: row.analyte, style: "outside" },
        row.name === null ? "" : ` ${row.name}`,
        { text: origin === null ? "" : ` (${word(origin)})`, style: "quiet" },
        { text: row.comment === null ? "" : ` ${row.comment}`, style: "quiet" },
      ],
    },
    { text: row.value, style, alignment: "right" },
    { text: row.unit ?? "", noWrap: true },
    row.reference_range === null
      ? { text: word("noInterval"), style: "quiet" }
      : { text: [row.reference_range, { text: source === 0 ? "" : ` [${source}]`, style: "quiet" }] },
    {
      text: row.abnormal === true ? word("abnormal") : row.flag === null ? "" : word(flagWord(row)),
      style,
      noWrap: true,
    },
    { text: deviceText(row), style: "quiet" },
  ];
}

function originWord({ code_source }: StudyRow): ReportWord | null {
  return code_source === null ? null : code_source === "device" ? "ownCode" : "mappedCode";
}

function flagWord({ flag, side }: StudyRow): ReportWord {
  if (flag !== "critical" || side === null) return flag ?? "normal";
  return side === "low" ? "criticalLow" : "criticalHigh";
}

function deviceText({ device_range, device_flag }: StudyRow): string {
  return [device_range ?? "", device_flag ?? ""].filter((text) => text !== "").join(" ");
}

/** Returns each source of an interval once, in the order of the rows. */
function sourceTexts(rows: readonly StudyRow[], word: Words): string[] {
  return [...new Set(rows.flatMap((row) => sourceText(row, word) ?? []))];
}

function sourceText({ source }: StudyRow, word: Words): string | null {
  if (source === null) return null;
  return source.kind === "device"
    ? word("ofDevice")
    : source.kind === "clinic"
      ? word("ofClinic")
      : (source.title ?? source.id);
}

function timeText(instant: string, { zone, language }: ReportQuery): string {
  const time = DateTime.fromISO(instant, { zone }).setLocale(language);
  return `${time.toLocaleString({ dateStyle: "medium", timeStyle: "short" })} (${zone})`;
}

/** The heads of a study's CSV file. They are the API's names, so that a program reads every language alike. */
export const studyCsvHeads: readonly CsvCell[] = [
  ...["study_fp", "patient", "acquired_at", "device_name", "analyte", "name", "comparator_and_value", "unit"],
  ...["reference_range", "flag", "side", "device_range", "device_flag", "code_source", "reason", "comment", "abnormal"],
  ...["study_comments", "flagged_species"],
];

export function studyCsvRows(study: StudyPage): CsvCell[][] {
  const { fp, patient, acquired_at, device_name } = study;
  return study.rows.map((row) => [
    ...[fp, patient?.name ?? null, acquired_at, device_name, row.analyte, row.name],
    row.number !== null && row.value === String(row.number) ? row.number : row.value,
    ...[row.unit, row.reference_range, row.flag, row.side, row.device_range, row.device_flag, row.code_source],
    ...[
      row.reason && flagReasonText(row.reason, "en"),
      row.comment,
      row.abnormal === true ? "true" : null,
      study.comments.join(" | ") || null,
    ],
    study.flagged_for?.species ?? null,
  ]);
}
