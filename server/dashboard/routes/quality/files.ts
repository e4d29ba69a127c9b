import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { DateTime } from "luxon";
import { choice, invalid, readParameters, text } from "../../../http/query-parameters.ts";
import { findClinicName } from "../../../records/clinics/clinics.ts";
import { seriesOfDevice } from "../../../records/controls/device-series.ts";
import { lastRun } from "../../../records/controls/overview.ts";
import { readSettings } from "../../../records/controls/settings.ts";
import { clinicOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";
import { type CsvCell, csvLine } from "../../csv.ts";
import { attachment } from "../../report/file-name.ts";
import { PdfThread } from "../../report/pdf-thread.ts";
import type { SeriesBody } from "../../types/quality.ts";
import { dayStart, QUALITY_URL as URL } from "./shapes.ts";

// The controls of a device as files: the report of a month as PDF, and its values as CSV.

const DAY_MS = 86_400_000;
/** Days of a table without a chosen time. */
const TABLE_DAYS = 90;

const device = text("Id of the device.");
const reportParameters = {
  device,
  month: text("The month, such as 2026-11. By default this one."),
  language: choice(["en", "tr"], "Language of the report. By default the clinic's."),
};
const tableParameters = { device, from: text("First day, such as 2026-11-01."), to: text("Last day.") };

export function qualityFiles(app: FastifyInstance, context: DashboardContext): void {
  reportRoute(app, context);
  tableRoute(app, context);
}

function reportRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  const pdfs = new PdfThread();
  app.get(
    `${URL}/report.pdf`,
    { config: { access: "reader", parameters: reportParameters } },
    async (request, reply) => {
      const given = readParameters(request, reportParameters);
      const deviceId = deviceOf(given.device);
      const { id: clinicId, timeZone, language } = clinicOf(request);
      const zone = timeZone ?? "UTC";
      const { month, from, to } = monthOf(given.month, zone, now());
      const series: SeriesBody[] = [];
      const asked = { clinicId, deviceId, timeZone, now: now(), from, to };
      for await (const body of seriesOfDevice(store, asked)) series.push(body);
      const { schedules } = await readSettings(store, clinicId);
      const controls = {
        ...{ language: given.language ?? language ?? "en", zone, month, from, to, now: now(), deviceId, series },
        clinicName: await findClinicName(store, clinicId),
        deviceName: (await store.first(lastRun, { clinicId, deviceId }))?.device_name ?? deviceId,
        everyDays: schedules.get(deviceId)?.value ?? null,
      };
      const content = await pdfs.make({ controls });
      return sendFile(reply, "application/pdf", `${fileName(deviceId)} ${month}.pdf`, content);
    },
  );
}

function tableRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(`${URL}/runs.csv`, { config: { access: "reader", parameters: tableParameters } }, async (request, reply) => {
    const given = readParameters(request, tableParameters);
    const deviceId = deviceOf(given.device);
    const { id: clinicId, timeZone } = clinicOf(request);
    const clock = now();
    const time = {
      from: given.from === null ? clock - TABLE_DAYS * DAY_MS : dayStart(request, given.from, "from"),
      to: given.to === null ? clock + DAY_MS : dayStart(request, given.to, "to") + DAY_MS - 1,
    };
    const series = seriesOfDevice(store, { clinicId, deviceId, timeZone, now: clock, ...time });
    return sendFile(
      reply,
      "text/csv; charset=utf-8",
      `${fileName(deviceId)} controls.csv`,
      Readable.from(lines(series)),
    );
  });
}

function deviceOf(given: string | null): string {
  if (given === null || given === "") throw invalid("device", "", "the id of a device");
  return given;
}

/** The first and the last millisecond of a month of the clinic. */
function monthOf(given: string | null, zone: string, now: number): { month: string; from: number; to: number } {
  const start =
    given === null ? DateTime.fromMillis(now, { zone }).startOf("month") : DateTime.fromISO(given, { zone });
  if (!start.isValid || (given !== null && !/^\d{4}-\d\d$/.test(given)))
    throw invalid("month", given ?? "", "a month such as 2026-11");
  return { month: start.toFormat("yyyy-MM"), from: start.toMillis(), to: start.endOf("month").toMillis() };
}

/** Other characters are a path, a quote or a control character on some system. */
function fileName(deviceId: string): string {
  return deviceId.replaceAll(/[^\p{L}\p{N} _-]+/gu, " ").trim();
}

function sendFile(reply: FastifyReply, type: string, name: string, content: Buffer | Readable): FastifyReply {
  return reply.type(type).header("content-disposition", attachment(name)).send(content);
}

/** The heads are the API's names, so that a program reads every language alike. */
const heads: readonly CsvCell[] = [
  ...["device_id", "analyte", "unit", "material", "level", "lot", "expires", "measured_at", "text", "value", "z"],
  ...["verdict", "rules", "excluded_by", "excluded_reason", "typed_by", "comment"],
];

async function* lines(all: AsyncIterable<SeriesBody>): AsyncGenerator<string> {
  yield csvLine(heads);
  for await (const { series, points } of all) {
    const { device_id, analyte, unit, material, level, lot, expires } = series;
    for (const { at, text: printed, value, z, verdict, rules, excluded, typed_by, comment } of points) {
      yield csvLine([
        ...[device_id, analyte, unit, material, level, lot, expires, at, printed, value, z, verdict, rules.join(" ")],
        ...[excluded?.by ?? null, excluded?.reason ?? null, typed_by, comment],
      ]);
    }
  }
}
