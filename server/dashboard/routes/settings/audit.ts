import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AuditAnswer } from "../../types/settings/audit.ts";
import { instant, readParameters, text, wholeNumber } from "../../../http/query-parameters.ts";
import { type AuditDescription, requestColumns } from "../../../records/audit/audit.ts";
import { type AuditSearch, searchAudit, searchWholeAudit } from "../../../records/users/audit-search.ts";
import { clinicOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";
import { csvLine } from "../../csv.ts";

// The audit of the clinic: requests with its keys, and what its users did in it.

const filters = {
  since: instant("Only entries from then on."),
  until: instant("Only entries before then."),
  user: text("Part of a user's name."),
  key: text("Id of a key."),
  text: text("Part of method and route."),
  fp: text("Fp of a record."),
};

const parameters = { ...filters, before: wholeNumber("Only entries older than this one.") };

export function auditRoutes(app: FastifyInstance, { store }: DashboardContext): void {
  app.get(
    "/clinic/v1/clinics/:clinic/audit",
    { config: { access: "admin", parameters } },
    async (request): Promise<AuditAnswer> => {
      const { before } = readParameters(request, { before: parameters.before });
      const { rows, next } = await searchAudit(store, searchOf(request), before ?? undefined);
      return { entries: rows.map(({ clinic_fp: _clinic, request_id: _id, ...entry }) => entry), next };
    },
  );
  app.get(
    "/clinic/v1/clinics/:clinic/audit.csv",
    { config: { access: "admin", parameters: filters } },
    (request, reply) =>
      reply
        .headers({
          "content-type": "text/csv; charset=utf-8",
          "content-disposition": 'attachment; filename="audit.csv"',
        })
        .send(Readable.from(csvLines(searchWholeAudit(store, searchOf(request))))),
  );
}

function searchOf(request: FastifyRequest): AuditSearch {
  const { since, until, user, key, text: words, fp } = readParameters(request, filters);
  return {
    clinicId: clinicOf(request).id,
    since: since ?? 0,
    until: until ?? Number.MAX_SAFE_INTEGER,
    user: user?.trim() ?? "",
    key: key?.trim() ?? "",
    text: words?.trim() ?? "",
    fp: fp?.trim() ?? "",
  };
}

const columns = ["at", "user", ...requestColumns] as const;

async function* csvLines(rows: AsyncIterable<AuditDescription>): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const row of rows) yield csvLine(columns.map((column) => row[column]));
}
