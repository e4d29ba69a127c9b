import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { Nullable } from "../../../../shared/schema/schema.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { readRetention, storeRetention } from "../../../records/erasure/retention.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { RETENTION_MONTHS, type RetentionPolicy } from "../../types/settings/clinic-settings.ts";
import { actorOf } from "../commands.ts";

// How long the clinic keeps what has no end of its own.

const months = Type.Optional(Nullable(Type.Integer({ minimum: RETENTION_MONTHS.min, maximum: RETENTION_MONTHS.max })));
const retentionBody = bodyReader({ report_links: months, hints: months });

export function retentionRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  const url = "/clinic/v1/clinics/:clinic/settings/retention";
  app.get(
    url,
    { config: { access: "admin" } },
    async (request): Promise<RetentionPolicy> => readRetention(store, clinicOf(request).id),
  );
  app.put(url, { config: { access: "admin" } }, async (request) => {
    const changes: Partial<RetentionPolicy> = retentionBody(request.body);
    await store.transaction(async (session) => {
      const { id } = clinicOf(request);
      await storeRetention(session, id, { ...(await readRetention(session, id)), ...changes });
      await auditCommand(session, "retention change", [clinicOf(request).fp], actorOf(request, now()));
    });
    return {};
  });
}
