import type { FastifyInstance } from "fastify";
import { refuseCrossSiteWrites } from "../dashboard/auth/same-origin.ts";
import { oidcRoutes } from "../dashboard/oidc/routes.ts";
import { accountRoutes } from "../dashboard/routes/settings/account.ts";
import { type AuditTrail, auditRequests } from "../http/audit-trail.ts";
import { parseJsonBodies } from "../http/json-body.ts";
import { announcementRoutes } from "./announcement.ts";
import { clinicRoutes } from "./clinics.ts";
import { commandRoutes } from "./commands.ts";
import type { OperatorContext } from "./context.ts";
import { exportRoute } from "./export.ts";
import { guardConsole } from "./guard.ts";
import { meterRoutes } from "./meters.ts";
import { rolloutRoutes } from "./rollout.ts";
import { sessionRoutes } from "./session.ts";

/** Adds /operator/v1, the API of the operator's console: states and counts of the clinics. It takes a session of an operator alone. */
export async function operatorRoutes(
  scope: FastifyInstance,
  { context, trail }: { context: OperatorContext; trail: AuditTrail },
): Promise<void> {
  scope.addHook("onRequest", (_request, reply, done) => {
    reply.header("cache-control", "no-store");
    done();
  });
  auditRequests(scope, trail, context.now);
  guardConsole(scope, context); // 401
  refuseCrossSiteWrites(scope); // 403
  parseJsonBodies(scope);
  sessionRoutes(scope, context);
  oidcRoutes(scope, context, "operator");
  accountRoutes(scope, context, "operator");
  clinicRoutes(scope, context);
  commandRoutes(scope, context);
  meterRoutes(scope, context);
  exportRoute(scope, context);
  announcementRoutes(scope, context);
  rolloutRoutes(scope, context);
}
