import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { DATE_PATTERN, Nullable, TIMESTAMP_PATTERN } from "../../../../shared/schema/schema.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";
import { isRealDate } from "../../../../shared/schema/timestamp.ts";
import { ApiError } from "../../../http/errors.ts";
import { invalid } from "../../../http/query-parameters.ts";
import type { Session } from "../../../database/query.ts";
import { type ChangedControls, findSeries, type SeriesRow } from "../../../records/controls/series.ts";
import { remarkStudies } from "../../../records/quality-marks/remark-studies.ts";
import { clinicOf } from "../../auth/guard.ts";
import { startOfDay } from "../../types/wall-time.ts";

// Parts that the routes of quality control share.

export const QUALITY_URL = "/clinic/v1/clinics/:clinic/quality";

export const filledText = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: textForm("\\S", "text that is not blank") });

export const Day = Type.String({ pattern: DATE_PATTERN });
export const Time = Type.String({ pattern: TIMESTAMP_PATTERN });
/** An optional text is null, not empty. */
export const optional = (maxLength: number) => Nullable(filledText(maxLength));

/** Device, analyte and unit, as the fields of a series name them. */
export const seriesNames = {
  device_id: filledText(64),
  material: optional(100),
  level: filledText(32),
  lot: filledText(64),
  expires: Nullable(Day),
};

/** @returns the first instant of a day of the clinic @throws ApiError for a day that does not exist */
export function dayStart(request: FastifyRequest, day: string, name: string): number {
  // Clocks of the time zones know no year of fewer digits.
  if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(day) || !isRealDate(day)) throw invalid(name, day, "a day such as 2026-11-21");
  return startOfDay(day, clinicOf(request).timeZone ?? "UTC");
}

/** Marks the studies that were measured beside changed controls. It ends each write of controls. */
export async function markStudies(
  session: Session,
  request: FastifyRequest,
  changed: readonly ChangedControls[],
  now: number,
): Promise<void> {
  await remarkStudies(session, clinicOf(request).id, changed, now);
}

/** @throws 404 for a series of another clinic, as for a missing one */
export async function seriesOf(session: Session, request: FastifyRequest): Promise<SeriesRow> {
  const { series: id } = request.params as { series: string };
  const series = await findSeries(session, clinicOf(request).id, id);
  if (series === undefined) throw new ApiError("RECORD.NOT_FOUND", "This series");
  return series;
}
