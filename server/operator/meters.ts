import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { csvLine } from "../dashboard/csv.ts";
import { monthOf, readMeters } from "../records/hosting/meters.ts";
import type { OperatorContext } from "./context.ts";

// The use of each clinic is a CSV file for the bill.

const columns = [
  ...(["fp", "name", "studies", "studies_this_month", "devices"] as const),
  ...(["api_calls_this_month", "storage_bytes"] as const),
] as const;

export function meterRoutes(app: FastifyInstance, { store, now }: OperatorContext): void {
  app.get("/operator/v1/meters.csv", { config: { access: "signed in" } }, async (_request, reply) => {
    const rows = await store.snapshot((session) => readMeters(session, { now: now() }));
    const lines = rows.map((row) => csvLine(columns.map((column) => row[column])));
    const file = `meters-${monthOf(now())}.csv`;
    return reply
      .headers({
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${file}"`,
      })
      .send(Readable.from([csvLine(columns), ...lines]));
  });
}
