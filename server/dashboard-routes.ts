import type { FastifyInstance } from "fastify";
import { type AuditTrail, auditRequests } from "./http/audit/audit-trail.ts";
import { parseJsonBodies } from "./http/json-body.ts";
import { refuseCrossSiteWrites } from "./dashboard/auth/same-origin.ts";
import { guardRoutes } from "./dashboard/auth/guard.ts";
import type { DashboardContext } from "./dashboard/context.ts";
import { eventRoutes } from "./dashboard/routes/events.ts";
import { manualStudyRoutes } from "./dashboard/routes/manual-study.ts";
import { previewRoutes } from "./dashboard/routes/previews.ts";
import { sessionRoutes } from "./dashboard/routes/session.ts";
import { todayRoutes } from "./dashboard/routes/today.ts";

/** Adds /clinic/v1, the dashboard's own API. It takes a session, never an API key. */
export async function dashboardRoutes(
  scope: FastifyInstance,
  { context, trail }: { context: DashboardContext; trail: AuditTrail },
): Promise<void> {
  // Answers hold patients' data, so that no cache keeps them.
  scope.addHook("onRequest", (_request, reply, done) => {
    reply.header("cache-control", "no-store");
    done();
  });
  auditRequests(scope, trail, context.now);
  refuseCrossSiteWrites(scope); // 403
  guardRoutes(scope, context); // 401, 403, 404
  parseJsonBodies(scope);
  sessionRoutes(scope, context);
  eventRoutes(scope, context);
  todayRoutes(scope, context);
  manualStudyRoutes(scope, context);
  previewRoutes(scope, context);
}
