import { DateTime } from "luxon";
import type { Language } from "../../../shared/api/language.ts";
import { doubtText, remarkText } from "../../../shared/clinical/device-words/device-words.ts";
import { isFailure, isReleased, qualityOf, studyQualityText } from "../../../shared/clinical/control/study-quality.ts";
import { flagReasonText } from "../../../shared/clinical/flag-reasons.ts";
import { whyText } from "../../../shared/clinical/passport/why-words.ts";
import type { ReportContext, ReportedStudy } from "../types/results/report.ts";
import { commentText, notReportedText } from "../types/results/sample-indices.ts";
import type { ReportQuery, StudyPage, StudyRemark, StudyRow } from "../types/results/results.ts";
import { isOfImages, isStudyWord } from "../types/results/study-words.ts";
import type { CsvCell } from "../csv.ts";
import { ageText } from "./age.ts";
import type { PdfContent, PdfDocument, PdfNode } from "./pdf.ts";
import { COLOURS, flagMark, rangeBar, BAR_WIDTH } from "./report-marks.ts";
import { reportWord, type ReportWord } from "./report-text.ts";

// One study on paper, for the owner of the animal, and as a table for a spreadsheet. Notes of the agent are in neither.

type Words = (name: ReportWord) => string;

/** Describes the report of a study for `renderPdf`. */
export function studyReport(study: ReportedStudy, context: ReportContext): PdfDocument {
  const { language, clinicName } = context;
  const word = (name: ReportWord) => reportWord(language, name);
  const sources = sourceTexts(study.rows, word);
  const title = word(isOfImages(study.modality) ? "ofImages" : "title");
  return {
    language,
    info: { title: `${title}: ${study.patient?.name ?? study.device_name}`, creator: "Vetwire" },
    content: [
      {
        columns: [
          ...(context.logo === null ? [] : [{ image: context.logo, fit: [90, 40] as const, width: 98 }]),
          {
            stack: [
              { text: clinicName, style: "strong" },
              { text: [context.address, context.phone].filter(Boolean).join(" · "), style: "quiet" },
            ],
          },
          {
            stack: [
              { text: title, style: "title" },
              {
                text: `${word("reported")}: ${timeText(new Date(context.now).toISOString(), context)}`,
                style: "quiet",
              },
            ],
            alignment: "right",
            width: 190,
          },
        ],
      },
      { canvas: [{ type: "rect", x: 0, y: 5, w: PAGE_WIDTH, h: 1.2, r: 0, color: COLOURS.accent }] },
      { columns: factColumns(study, context), columnGap: 14, margin: [0, 9, 0, 2] },
      ...(study.remark === null ? [] : [remarkOf(study.remark, word)]),
      { text: word(study.modality), style: "heading" },
      study.rows.length === 0 ? word("noResults") : rowsTable(study, sources, context),
      ...(study.rows.length === 0 ? [] : [legend(study.rows, context)]),
      { columns: [{ stack: belowTable(study, sources, context) }, ...signatures(study.remark)], columnGap: 14 },
    ],
    footer: (page, pages) => ({
      columns: [
        { text: [...study.sample_ids, study.fp].join(" · ") },
        { text: `${word("page")} ${page}/${pages}`, alignment: "right", width: "auto" },
      ],
      style: ["quiet", "footer"],
    }),
  };
}

/**
 * The state of the device's controls when it measured the study, in one sentence, and who released it with which reason. A warning is
 * for the vet, who reads it beside the results: one control in twenty is a little off by chance, which an owner cannot weigh.
 */
function controlLines({ quality, acquired_at }: ReportedStudy, context: ReportContext): string[] {
  const { zone, language } = context;
  const day = DateTime.fromISO(acquired_at, { zone });
  const timeOf = (ms: number) => {
    const time = DateTime.fromMillis(ms, { zone }).setLocale(language);
    const short = time.hasSame(day, "day") ? DateTime.TIME_SIMPLE : DateTime.DATETIME_MED;
    return time.toLocaleString(short).replaceAll("\u202f", "\u00a0");
  };
  if (quality === null) return [];
  const marks = quality.marks.filter((mark) => isFailure(mark) || mark.quality !== "warning");
  const text = studyQualityText({ marks }, timeOf, language);
  if (text === null) return [];
  const { released } = quality;
  if (released === undefined || !isReleased(quality)) return [text];
  const at = timeText(new Date(released.at).toISOString(), context);
  return [text, `${reportWord(language, "released")}: ${released.by}, ${at}. ${released.reason}`];
}

/** Lists all that the table cannot show: the device's controls, tests without a result, the analyzer's words on the sample, sources of the intervals. */
function belowTable(study: ReportedStudy, sources: readonly string[], context: ReportContext): PdfContent[] {
  const { language } = context;
  const word = (name: ReportWord) => reportWord(language, name);
  const gaps = study.not_reported.map((gap) => `${gap.analyte}: ${notReportedText(gap, language)}`);
  const comments = study.comments.map((comment) => commentText(comment, language));
  const section = (title: ReportWord, lines: readonly string[]): PdfContent[] =>
    lines.length === 0
      ? []
      : [
          { text: word(title), style: "heading" },
          { stack: lines, style: "quiet" },
        ];
  return [
    ...section("control", controlLines(study, context)),
    ...section("notReported", gaps),
    ...section("comments", comments),
    ...(sources.length === 0 ? [] : [originOfRows(study.rows, sources, context)]),
  ];
}

/** Width between the margins of A4, in points. */
const PAGE_WIDTH = 515;

/** The animal, its owner and the sample side by side. */
function factColumns(study: ReportedStudy, context: ReportContext): PdfContent[] {
  const word = (name: ReportWord) => reportWord(context.language, name);
  const { patient, hint } = study;
  const column = (label: ReportWord, strong: string, lines: readonly (string | null | undefined)[]): PdfContent => ({
    stack: [
      { text: word(label), style: "label" },
      { text: strong, style: "strong" },
      ...lines.filter((line) => line != null && line !== "").map((line) => ({ text: line ?? "" })),
    ],
  });
  const born = patient?.date_of_birth ?? null;
  const species = patient === null ? null : isStudyWord(patient.species) ? word(patient.species) : patient.species;
  const kind = species && `${species.slice(0, 1).toLocaleUpperCase(context.language)}${species.slice(1)}`;
  const animal = [kind, patient?.breed, patient === null ? null : sexText(patient.sex, word)].filter(Boolean);
  const { flagged_for: flagged } = study;
  const { owner } = context;
  return [
    column("patient", patient?.name ?? (hint?.name || "—"), [
      patient === null ? word("noPatient") : animal.join(", "),
      born === null ? null : ageText(born, study.acquired_at, context),
      flagged === null ? null : `${word("flaggedFor")}: ${flaggedForText(flagged, word)}`,
    ]),
    ...(owner === null ? [] : [column("owner", owner.name, [owner.phone])]),
    column("sample", study.sample_ids.join(", ") || "—", [
      `${word("acquired")}: ${timeText(study.acquired_at, context)}`,
      `${word("device")}: ${study.device_name}`,
      study.order === null ? null : `${word("order")}: ${study.order.placer_number ?? study.order.fp}`,
      study.revision > 1 ? `${word("revision")} ${study.revision}` : null,
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

/** The words of the vet, before the tables that prove them. */
function remarkOf({ text }: StudyRemark, word: Words): PdfContent {
  const stack = [{ text: word("fromVet"), style: "outside" }, { text }];
  return {
    table: { headerRows: 0, widths: ["*"], dontBreakRows: false, body: [[{ stack, fillColor: COLOURS.remarkGround }]] },
    layout: "remark",
    margin: [0, 8, 0, 0],
  };
}

/** Draws the name of the person who signs the remark, below a line for the pen. */
function signatures(remark: StudyRemark | null): PdfContent[] {
  if (remark === null) return [];
  const line = { type: "rect", x: 0, y: 0, w: SIGNATURE_WIDTH, h: 0.7, r: 0, color: COLOURS.pen } as const;
  return [{ stack: [{ canvas: [line] }, remark.by], width: SIGNATURE_WIDTH, margin: [0, 26, 0, 0] }];
}

const SIGNATURE_WIDTH = 156;

function rowsTable(study: ReportedStudy, sources: readonly string[], context: ReportContext): PdfContent {
  const word = (name: ReportWord) => reportWord(context.language, name);
  const hasBefore = study.rows.some((row) => beforeText(row, context) !== "");
  const heads = [word("analyte"), word("value"), "", "", word("range"), ...(hasBefore ? [word("before")] : [])];
  const head = heads.map((text, column) => ({
    text,
    style: "label",
    fillColor: COLOURS.headGround,
    ...(column === 1 ? ({ alignment: "right" } as const) : {}),
  }));
  return {
    table: {
      headerRows: 1,
      widths: ["*", 72, 66, BAR_WIDTH, 70, ...(hasBefore ? [60] : [])],
      // pdfmake drops an unbroken row that is higher than a page.
      dontBreakRows: study.rows.every(isLow),
      body: [head, ...study.rows.map((row) => rowCells(row, sources, { context, word, hasBefore }))],
    },
    layout: "results",
  };
}

/** Characters of a cell that surely fit on a page. */
const CELL_CHARS_MAX = 500;

function isLow({ value, name, reference_range }: StudyRow): boolean {
  return [value, name, reference_range].every((text) => (text?.length ?? 0) <= CELL_CHARS_MAX && !text?.includes("\n"));
}

function rowCells(
  row: StudyRow,
  sources: readonly string[],
  { context, word, hasBefore }: { context: ReportContext; word: Words; hasBefore: boolean },
): PdfContent[] {
  const { language } = context;
  const isOutside = row.abnormal === true || (row.flag !== null && row.flag !== "normal");
  const source = sources.indexOf(sourceText(row, word) ?? "") + 1;
  const origin = originWord(row);
  const name = (language === "tr" ? row.name_tr : null) ?? row.name;
  const ground = row.flag === "critical" ? { fillColor: COLOURS.criticalGround } : {};
  const cells: PdfNode[] = [
    {
      text: [
        { text: row.analyte, style: "outside" },
        { text: name === null ? "" : ` ${name}`, style: "quiet" },
        { text: origin === null ? "" : ` (${word(origin)})`, style: "quiet" },
      ],
    },
    {
      text: [
        { text: row.value, style: isOutside ? "outside" : "" },
        { text: ` ${row.unit ?? ""}${row.comment === null ? "" : " ?"}`.trimEnd(), style: "quiet" },
      ],
      alignment: "right",
    },
    isOutside ? flagMark(row, word(row.abnormal === true ? "abnormal" : flagWord(row))) : { text: "" },
    row.number === null || (row.low === null && row.high === null)
      ? { text: "" }
      : { canvas: rangeBar(row, row.number, ringOf(row)) },
    row.reference_range === null
      ? { text: word("noInterval"), style: "quiet" }
      : { text: [row.reference_range, { text: source === 0 ? "" : ` [${source}]`, style: "quiet" }] },
    ...(hasBefore ? [{ text: beforeText(row, context), style: "quiet" }] : []),
  ];
  return cells.map((cell) => ({ ...cell, ...ground }));
}

/** The place of the previous value on the bar; null if the two do not compare. */
function ringOf({ before }: StudyRow): number | null {
  return before?.number ?? null;
}

/**
 * The previous value and its day; with its unit if that differs, and its name if it is another one of the substance, as UREA beside
 * BUN. An owner would compare what does not compare, so that it is left out.
 */
function beforeText({ before, unit }: StudyRow, { zone, language }: ReportContext): string {
  if (before === undefined || (before.change !== null && "code" in before.change)) return "";
  const day = DateTime.fromISO(before.acquired_at, { zone }).setLocale(language);
  const isAlike = before.unit === unit && before.analyte === undefined;
  const value = isAlike ? before.value : [before.analyte, before.value, before.unit].filter(Boolean).join(" ");
  return `${value} (${day.toLocaleString({ day: "numeric", month: "numeric", year: "2-digit" })})`;
}

/** The words under the table: of the bar, and of the ring and the mark of doubt, with its reasons, if a row has them. */
function legend(rows: readonly StudyRow[], { language }: ReportContext): PdfContent {
  const doubts = rows.flatMap(({ analyte, comment }) =>
    comment === null ? [] : [`${analyte}: ${doubtText(comment, language)}.`],
  );
  const hasRing = rows.some((row) => row.number !== null && ringOf(row) !== null);
  const words: ReportWord[] = ["barMeans", ...(hasRing ? (["ringMeans"] as const) : []), "boldMeans"];
  if (doubts.length > 0) words.push("doubted");
  return {
    text: `${words.map((each) => reportWord(language, each)).join(" ")}\n${doubts.join(" ")}`.trimEnd(),
    style: "quiet",
    margin: [0, 4, 0, 0],
  };
}

function originWord({ code_source }: StudyRow): ReportWord | null {
  return code_source === null ? null : code_source === "device" ? "ownCode" : "mappedCode";
}

function flagWord({ flag, side }: StudyRow): ReportWord {
  if (flag !== "critical" || side === null) return flag ?? "normal";
  return side === "low" ? "criticalLow" : "criticalHigh";
}

/** Returns each source of an interval once, in the order of the rows. */
function sourceTexts(rows: readonly StudyRow[], word: Words): string[] {
  return [...new Set(rows.flatMap((row) => sourceText(row, word) ?? []))];
}

/** Names the sources of the intervals beside why they apply, so that both take the height of one. */
function originOfRows(rows: readonly StudyRow[], sources: readonly string[], context: ReportContext): PdfContent {
  const word = (name: ReportWord) => reportWord(context.language, name);
  const part = (label: ReportWord, content: PdfContent) => ({
    stack: [{ text: word(label), style: "label" }, content],
  });
  const why = whyOfRows(rows, context);
  return {
    columns: [
      { ...part("sources", { ol: sources, style: "quiet" }), ...(why.length === 0 ? {} : { width: 170 }) },
      ...(why.length === 0 ? [] : [part("why", { stack: why, style: "quiet" })]),
    ],
    columnGap: 14,
    margin: [0, 5, 0, 0],
  };
}

/** Names why the intervals apply, once for all analytes of one reason. That of most needs no names. */
function whyOfRows(rows: readonly StudyRow[], { language }: ReportContext): string[] {
  const analytes = new Map<string, string[]>();
  for (const { why, analyte } of rows) {
    if (why.length === 0) continue;
    const text = whyText(why, language);
    analytes.set(text, [...(analytes.get(text) ?? []), analyte]);
  }
  const groups = [...analytes].toSorted(([, one], [, other]) => one.length - other.length);
  return groups.map(([text, names], index) => {
    if (index < groups.length - 1) return `${names.join(", ")}: ${text}`;
    return groups.length === 1 ? text : `${reportWord(language, "others")}: ${text}`;
  });
}

function sourceText({ source }: StudyRow, word: Words): string | null {
  if (source === null) return null;
  if (source.kind === "device") return word("ofDevice");
  return source.kind === "clinic" ? word("ofClinic") : (source.title ?? source.id);
}

function timeText(instant: string, { zone, language }: ReportQuery): string {
  const time = DateTime.fromISO(instant, { zone }).setLocale(language);
  // The font of the paper lacks the narrow blank that precedes PM.
  return `${time.toLocaleString({ dateStyle: "medium", timeStyle: "short" }).replaceAll("\u202f", "\u00a0")} (${zone})`;
}

/** The heads of a study's CSV file. They are the API's names, so that a program reads every language alike. */
export const studyCsvHeads: readonly CsvCell[] = [
  ...["study_fp", "patient", "acquired_at", "device_name", "analyte", "name", "comparator_and_value", "unit"],
  ...["reference_range", "flag", "side", "device_range", "device_flag", "code_source", "reason", "comment", "abnormal"],
  ...["study_comments", "flagged_species", "sample_ids", "order", "interval_source", "interval_why"],
  ...["sent_value", "sent_unit", "sent_reference_range", "quality"],
];

/** Returns the lines of a study. Heads, flags and codes are the API's; sentences for people are in the language. */
export function studyCsvRows(study: StudyPage, language: Language): CsvCell[][] {
  const { fp, patient, acquired_at, device_name } = study;
  const samples = study.sample_ids.join(" ");
  const answered = study.order === null ? null : (study.order.placer_number ?? study.order.fp);
  const comments = study.comments.map((comment) => remarkText(comment, language)).join(" | ") || null;
  const gaps = study.not_reported.map((gap) => [
    ...[fp, patient?.name ?? null, acquired_at, device_name, gap.analyte, null, null],
    ...Array.from({ length: 7 }, () => null),
    ...[notReportedText(gap, language), null, null, comments],
    ...[study.flagged_for?.species ?? null, samples || null, answered],
  ]);
  const rows = study.rows.map((row): CsvCell[] => [
    ...[fp, patient?.name ?? null, acquired_at, device_name, row.analyte, row.name],
    row.number === null ? row.value : numberCell(row.value),
    ...[row.unit, row.reference_range, row.flag, row.side, row.device_range, row.device_flag, row.code_source],
    ...[
      row.reason && flagReasonText(row.reason, language),
      row.comment && doubtText(row.comment, language),
      row.abnormal === true ? "true" : null,
      comments,
    ],
    ...[study.flagged_for?.species ?? null, samples || null, answered],
    ...[
      sourceText(row, (name) => reportWord(language, name)),
      row.why.length === 0 ? null : whyText(row.why, language),
    ],
    ...[row.number === null ? row.sent.value : numberCell(row.sent.value), row.sent.unit, row.sent.reference_range],
    study.quality && qualityOf(study.quality, row.analyte),
  ]);
  return [...rows, ...gaps];
}

/** Text keeps the digits of 7.0. A negative text would be a formula. */
function numberCell(text: string): CsvCell {
  return text.startsWith("-") ? Number(text) : text;
}
