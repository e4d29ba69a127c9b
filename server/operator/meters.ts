import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { csvLine } from "../dashboard/csv.ts";
import { monthOf, readAllMeters } from "../records/hosting/meters.ts";
import type { OperatorContext } from "./context.ts";

// The use of each clinic is a CSV file for the bill.

const columns = [
  ...(["fp", "name", "studies", "studies_this_month", "devices"] as const),
  ...(["api_calls_this_month", "storage_bytes"] as const),
] as const;

export function meterRoutes(app: FastifyInstance, { store, now }: OperatorContext): void {
  app.get("/operator/v1/meters.csv", { config: { access: "signed in" } }, async (_request, reply) => {
    const file = `meters-${monthOf(now())}.csv`;
    return reply
      .headers({
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${file}"`,
      })
      .send(Readable.from(meterLines(store, now())));
  });
}

async function* meterLines(store: OperatorContext["store"], now: number): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const row of readAllMeters(store, now)) yield csvLine(columns.map((column) => row[column]));
}
