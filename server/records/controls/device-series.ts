import type { SeriesBody } from "../../dashboard/types/quality.ts";
import { query, type Session } from "../../database/query.ts";
import { readSeries } from "./series-page.ts";
import type { SeriesRow } from "./series.ts";

/** Reads the series of a device that have values in a time, one by one. */
export async function* seriesOfDevice(
  session: Session,
  asked: {
    readonly clinicId: number;
    readonly deviceId: string;
    readonly timeZone: string | null;
    readonly now: number;
    /** Milliseconds since 1970; `to` is included. */
    readonly from: number;
    readonly to: number;
  },
): AsyncGenerator<SeriesBody> {
  for (const row of await session.all(measured, asked)) yield readSeries(session, row, asked);
}

const measured = query((db, p: { clinicId: number; deviceId: string; from: number; to: number }) =>
  db
    .selectFrom("control_series as series")
    .select(["series.id", "series.device_id", "series.analyte", "series.unit", "series.material", "series.level"])
    .select(["series.lot", "series.expires", "series.runs", "series.counted", "series.mean", "series.sd"])
    .select(["series.last_at", "series.recent_at", "series.full_at", "series.full_mean", "series.full_sd"])
    .where("series.clinic_id", "=", p.clinicId)
    .where("series.device_id", "=", p.deviceId)
    .where((where) =>
      where.exists(
        where
          .selectFrom("control_value")
          .select("control_value.id")
          .whereRef("control_value.series_id", "=", "series.id")
          .where("control_value.measured_at", ">=", p.from)
          .where("control_value.measured_at", "<=", p.to),
      ),
    )
    .orderBy("series.analyte")
    .orderBy("series.level")
    .orderBy("series.id")
    .$castTo<SeriesRow>(),
);
