import { DateTime } from "luxon";
import type { Language } from "../../../shared/api/language.ts";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { statisticsOf } from "../../../shared/clinical/control/statistics.ts";
import { ruleText, whyRulesText } from "../../../shared/clinical/control/words.ts";
import type { SeriesBody, ShownPoint, ShownViolation } from "../types/quality.ts";
import { controlChart } from "./control-chart.ts";
import { type ControlWord, controlWord } from "./control-words.ts";
import type { PdfContent, PdfDocument } from "./pdf.ts";
import { COLOURS } from "./report-marks.ts";

// The controls of one device in one month on paper, for an accreditation file.

export interface ControlMonth {
  readonly language: Language;
  /** IANA name. */
  readonly zone: string;
  readonly clinicName: string;
  readonly deviceId: string;
  readonly deviceName: string;
  /** The month such as 2026-11. */
  readonly month: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly now: number;
  /** Null without a schedule. */
  readonly everyDays: number | null;
  readonly series: readonly SeriesBody[];
}

type Words = (word: ControlWord, value?: string) => string;

/** Describes the report of a month for `renderPdf`. */
export function controlReport(month: ControlMonth): PdfDocument {
  const { language, zone, series } = month;
  const word: Words = (name, value) => controlWord(language, name, value);
  const title = word("title");
  const monthName = DateTime.fromISO(month.month, { zone }).setLocale(language).toFormat("LLLL yyyy");
  return {
    language,
    info: { title: `${title}: ${month.deviceName}, ${monthName}`, creator: "Vetwire" },
    content: [
      {
        columns: [
          { stack: [{ text: month.clinicName, style: "strong" }, factsOf(month, word)] },
          {
            stack: [
              { text: title, style: "title" },
              { text: monthName, style: "strong" },
              { text: `${word("reported")}: ${timeText(month.now, month)} (${zone})`, style: "quiet" },
            ],
            alignment: "right",
            width: 200,
          },
        ],
      },
      { canvas: [{ type: "rect", x: 0, y: 5, w: PAGE_WIDTH, h: 1.2, r: 0, color: COLOURS.accent }] },
      ...(series.length === 0
        ? [{ text: word("nothing"), margin: [0, 12, 0, 0] as const }]
        : [{ text: word("summary"), style: "heading" }, summaryTable(series, word, language)]),
      ...series.flatMap((body) => seriesPart(body, month, word)),
      ...eventPart(month, word),
      { text: `${word("reviewed")}: ______________________________`, margin: [0, 24, 0, 0] },
    ],
    footer: (page, pages) => ({
      columns: [
        { text: `${month.deviceName} · ${month.month}` },
        { text: `${word("page")} ${page}/${pages}`, alignment: "right", width: "auto" },
      ],
      style: ["quiet", "footer"],
    }),
  };
}

/** Width between the margins of A4, in points. */
const PAGE_WIDTH = 515;

function factsOf({ deviceId, deviceName, everyDays }: ControlMonth, word: Words): PdfContent {
  const schedule =
    everyDays === null ? word("noSchedule") : everyDays === 1 ? word("everyDay") : word("everyDays", String(everyDays));
  return {
    stack: [
      { text: `${word("device")}: ${[deviceId, deviceName].join(", ")}` },
      { text: `${word("schedule")}: ${schedule}`, style: "quiet" },
    ],
  };
}

function summaryTable(series: readonly SeriesBody[], word: Words, language: Language): PdfContent {
  const heads = ["analyte", "level", "lot", "target", "runs", "mean", "sd", "cv", "bias", "sigma", "rejected"] as const;
  const rows = series.map(({ series: { analyte, unit, level, lot }, target, statistics, points, violations }) => {
    const ofMonth = statisticsOf(points.flatMap(({ value, z }) => (z === null || value === null ? [] : [value])));
    const rejected = points.filter(({ verdict }) => verdict === "reject").length;
    const open = violations.filter(({ verdict, explained }) => verdict === "reject" && explained === null).length;
    return [
      [nameOf(analyte, language), unit].filter(Boolean).join(", "),
      ...[level, lot],
      target === null ? word("noTarget") : `${digits(target.mean)}\u00a0±\u00a0${digits(target.sd)}`,
      ...[String(points.length), digits(ofMonth?.mean), digits(ofMonth?.sd), digits(ofMonth?.cv)],
      ...[digits(statistics?.bias), digits(statistics?.sigma)],
      open === 0 ? String(rejected) : `${rejected} (${word("notExplained")})`,
    ];
  });
  const means = ["runs", "mean", "sd", "cv"];
  const headTexts = heads.map((head) => (means.includes(head) ? `${word(head)} ${word("ofMonth")}` : word(head)));
  return table(headTexts, rows, ["*", "auto", "auto", "auto", 34, 36, 32, 32, 30, 32, 58]);
}

function seriesPart(body: SeriesBody, month: ControlMonth, word: Words): PdfContent[] {
  const { series, points, target } = body;
  const { language } = month;
  const head = [nameOf(series.analyte, language), `${word("level")} ${series.level}`, `${word("lot")} ${series.lot}`];
  return [
    {
      stack: [
        { text: head.join(" · "), style: "heading" },
        { text: targetText(body, word), style: "quiet" },
        { text: rulesText(body, word, language), style: "quiet" },
        ...(target === null ? [] : [controlChart(points, target, month), { text: word("legend"), style: "quiet" }]),
      ],
      unbreakable: true,
      margin: [0, 14, 0, 2],
    },
    ...brokenPart(body, month, word),
    { text: word("list"), style: "label", margin: [0, 6, 0, 1] },
    runsTable(points, month, word),
  ];
}

function targetText({ target, series }: SeriesBody, word: Words): string {
  const basis = {
    ...{ sheet: word("sheet"), device: word("ofDevice"), own: word("own", String(target?.runs ?? "")) },
    provisional: word("provisional", String(target?.runs ?? "")),
  };
  const unit = series.unit === null ? "" : ` ${series.unit}`;
  return [
    ...(target === null
      ? [word("noTarget")]
      : [`${word("target")}: ${digits(target.mean)} ± ${digits(target.sd)}${unit}`, basis[target.basis]]),
    ...(target?.by == null ? [] : [word("setBy", target.by)]),
    ...(series.material === null ? [] : [series.material]),
    ...(series.expires === null ? [] : [`${word("expires")} ${series.expires}`]),
  ].join(" · ");
}

function rulesText({ rules: { choice, why, by } }: SeriesBody, word: Words, language: Language): string {
  const of = (action: "warn" | "reject") =>
    Object.entries(choice)
      .filter(([, does]) => does === action)
      .map(([rule]) => rule)
      .join(", ");
  const [rejects, warns] = [of("reject"), of("warn")];
  return [
    `${word("rules")}: ${[
      ...(rejects === "" ? [] : [`${rejects} ${word("rejects")}`]),
      ...(warns === "" ? [] : [`${warns} ${word("warns")}`]),
    ].join("; ")}`,
    [whyRulesText(why, language), by].filter(Boolean).join(", "),
  ].join(" · ");
}

function brokenPart({ violations }: SeriesBody, month: ControlMonth, word: Words): PdfContent[] {
  if (violations.length === 0) return [];
  const rows = violations.map((violation) => {
    const { at, rule, verdict, points, patients } = violation;
    return [
      timeText(Date.parse(at), month),
      `${rule}: ${ruleText(rule, month.language)} (${word(verdict)})`,
      points.join("; "),
      String(patients),
      doneText(violation, month, word),
    ];
  });
  const heads = (["time", "rule", "values", "patients", "done"] as const).map((head) => word(head));
  return [{ text: word("broken"), style: "label", margin: [0, 6, 0, 1] }, table(heads, rows, [78, "*", 80, 46, 150])];
}

/** Writes what was done about a broken rule, or that a rejection is not explained. */
function doneText({ verdict, explained }: ShownViolation, month: ControlMonth, word: Words): string {
  if (explained !== null) return `${explained.text} (${explained.by}, ${timeText(Date.parse(explained.at), month)})`;
  return verdict === "reject" ? word("notExplained") : "";
}

function runsTable(points: readonly ShownPoint[], month: ControlMonth, word: Words): PdfContent {
  const rows = points.map((point) => [
    ...[timeText(Date.parse(point.at), month), point.text, digits(point.z)],
    [point.verdict === null ? word("notJudged") : word(point.verdict), point.rules.join(", ")]
      .filter(Boolean)
      .join(": "),
    remarkOf(point, word),
  ]);
  return table([word("time"), word("value"), "z", word("verdict"), word("remark")], rows, [90, 60, 34, 120, "*"]);
}

function remarkOf({ excluded, typed_by, comment }: ShownPoint, word: Words): string {
  return [
    ...(excluded === null ? [] : [`${word("excluded", excluded.reason)} (${excluded.by})`]),
    ...(typed_by === null ? [] : [word("typedBy", typed_by)]),
    ...(comment === null ? [] : [comment]),
  ].join(" · ");
}

/** The events of the device. Each series has them, so that one of them is listed once. */
function eventPart(month: ControlMonth, word: Words): PdfContent[] {
  const events = new Map(month.series.flatMap((body) => body.events.map((event) => [event.id, event])));
  if (events.size === 0) return [];
  const rows = [...events.values()]
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
    .map(({ at, event, subject, lot, expires, text, by }) => [
      timeText(Date.parse(at), month),
      word(event === "lot" ? "lotChange" : event),
      [subject, lot && `${word("lot")} ${lot}`, expires && `${word("expires")} ${expires}`].filter(Boolean).join(", "),
      [text, by].filter(Boolean).join(" · "),
    ]);
  const heads = [word("time"), word("events"), word("lot"), word("remark")];
  return [{ text: word("events"), style: "heading", margin: [0, 14, 0, 2] }, table(heads, rows, [90, 100, "*", "*"])];
}

function table(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  widths: readonly (string | number)[],
): PdfContent {
  const head = heads.map((text) => ({ text, style: "label", fillColor: COLOURS.headGround }));
  return {
    table: {
      headerRows: 1,
      widths,
      dontBreakRows: true,
      body: [head, ...rows.map((cells) => cells.map((text) => ({ text })))],
    },
    layout: "results",
  };
}

function nameOf(code: string, language: Language): string {
  const analyte = analyteByCode(code);
  return (language === "tr" ? analyte?.name_tr : analyte?.name) ?? code;
}

/** Writes a statistic with three significant digits, and a whole number in full. */
function digits(value: number | null | undefined): string {
  if (value == null) return "–";
  return Math.abs(value) >= 100 ? value.toFixed(1) : String(Number(value.toPrecision(3)));
}

function timeText(at: number, { zone, language }: Pick<ControlMonth, "zone" | "language">): string {
  const time = DateTime.fromMillis(at, { zone }).setLocale(language);
  return time.toLocaleString({ dateStyle: "medium", timeStyle: "short" }).replaceAll("\u202f", "\u00a0");
}
