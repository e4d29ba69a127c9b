import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { type CsvCell, csvLine } from "../dashboard/csv.ts";
import { QUOTA_METERS } from "../dashboard/types/operator.ts";
import { type MeteredClinic, monthOf, readAllMeters } from "../records/hosting/meters.ts";
import type { OperatorContext } from "./context.ts";

// The use of each clinic is a CSV file for the bill.

const columns = [
  ...(["fp", "name", "studies", "studies_this_month", "devices"] as const),
  ...(["api_calls_this_month", "storage_bytes", "studies_max"] as const),
] as const;
const heads = [...columns, ...QUOTA_METERS.map((meter) => `${meter}_quota`), "over_quota"];

function cellsOf(clinic: MeteredClinic): CsvCell[] {
  const quotas = QUOTA_METERS.map((meter) => clinic.quotas[meter]);
  return [...columns.map((column) => clinic[column]), ...quotas, clinic.over_quota.join(" ")];
}

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
  yield csvLine(heads);
  for await (const clinic of readAllMeters(store, now)) yield csvLine(cellsOf(clinic));
}
