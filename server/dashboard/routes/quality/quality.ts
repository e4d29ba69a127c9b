import type { FastifyInstance } from "fastify";
import { readParameters, text } from "../../../http/query-parameters.ts";
import { Moment } from "../../../operations/alerts/moment.ts";
import { readHeardAgents } from "../../../records/agents/devices.ts";
import { devicesInUse } from "../../../records/controls/needs.ts";
import { readQuality } from "../../../records/controls/overview.ts";
import { readSeries } from "../../../records/controls/series-page.ts";
import { clinicOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";
import type { QualityBody, SeriesBody } from "../../types/quality.ts";
import { qualityCommands } from "./commands.ts";
import { qualityFiles } from "./files.ts";
import { dayStart, QUALITY_URL as URL, seriesOf } from "./shapes.ts";
import { qualityTargets } from "./targets.ts";

// Quality control: the devices with their controls, and one series.

const DAY_MS = 86_400_000;
/** Days of a chart without a chosen time. */
const SHOWN_DAYS = 90;

const parameters = { from: text("First day, such as 2026-11-01."), to: text("Last day.") };

export function qualityRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { store, now } = context;
  app.get(URL, { config: { access: "reader" } }, async (request): Promise<QualityBody> => {
    const { id: clinicId, timeZone } = clinicOf(request);
    const clock = now();
    const quality = await readQuality(store, { clinicId, timeZone, now: clock });
    const { agents } = await readHeardAgents(store, { clinicId, timeZone, moment: new Moment(clock) });
    const inUse = await devicesInUse(store, quality, { clinicId, agents, now: clock });
    const outOfUse = quality.devices.filter((device) => !inUse.includes(device));
    return { ...quality, out_of_use: outOfUse.map(({ device_id }) => device_id) };
  });
  app.get(
    `${URL}/series/:series`,
    { config: { access: "reader", parameters } },
    async (request): Promise<SeriesBody> => {
      const { from, to } = readParameters(request, parameters);
      const { id: clinicId, timeZone } = clinicOf(request);
      const row = await seriesOf(store, request);
      const clock = now();
      return readSeries(store, row, {
        ...{ clinicId, timeZone, now: clock },
        from: from === null ? clock - SHOWN_DAYS * DAY_MS : dayStart(request, from, "from"),
        to: to === null ? clock + DAY_MS : dayStart(request, to, "to") + DAY_MS - 1,
      });
    },
  );
  qualityCommands(app, context);
  qualityTargets(app, context);
  qualityFiles(app, context);
}
