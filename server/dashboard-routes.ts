import { guardRoutes } from "./dashboard/auth/guard.ts";
import { refuseCrossSiteWrites } from "./dashboard/auth/same-origin.ts";
import type { DashboardContext } from "./dashboard/context.ts";
import { oidcLogout, oidcRoutes } from "./dashboard/oidc/routes.ts";
import { animalRoutes } from "./dashboard/routes/registry/animals.ts";
import { erasureRoutes } from "./dashboard/routes/registry/erasure.ts";
import { mergeRoutes } from "./dashboard/routes/registry/merge.ts";
import { ownerRoutes } from "./dashboard/routes/registry/owners.ts";
import { accountRoutes } from "./dashboard/routes/settings/account.ts";
import { agentDevicesRoutes } from "./dashboard/routes/settings/agent-devices.ts";
import { ownProfileRoutes } from "./dashboard/routes/own-profiles.ts";
import { auditRoutes } from "./dashboard/routes/settings/audit.ts";
import { calendarRoutes } from "./dashboard/routes/records/calendar.ts";
import { clinicSettingsRoutes } from "./dashboard/routes/settings/clinic-settings.ts";
import { codeRoutes } from "./dashboard/routes/records/codes.ts";
import { connectionRoutes } from "./dashboard/routes/records/connections.ts";
import { destinationRoutes } from "./dashboard/routes/destinations.ts";
import { deviceRoutes } from "./dashboard/routes/devices.ts";
import { eventRoutes } from "./dashboard/routes/events.ts";
import { fileImportRoutes } from "./dashboard/routes/records/file-import.ts";
import { keyRoutes } from "./dashboard/routes/settings/keys.ts";
import { manualStudyRoutes } from "./dashboard/routes/records/manual-study.ts";
import { mailServerRoutes } from "./dashboard/routes/settings/mail-server.ts";
import { networkRoutes } from "./dashboard/routes/settings/network.ts";
import { notificationRoutes } from "./dashboard/routes/settings/notifications.ts";
import { orderRoutes } from "./dashboard/routes/records/orders.ts";
import { patientRoutes } from "./dashboard/routes/records/patients.ts";
import { previewRoutes } from "./dashboard/routes/records/previews.ts";
import { qualityRoutes } from "./dashboard/routes/quality/quality.ts";
import { followUpRoutes } from "./dashboard/routes/follow-up.ts";
import { limitRoutes } from "./dashboard/routes/settings/limits.ts";
import { ownIntervalRoutes } from "./dashboard/routes/settings/own-intervals.ts";
import { rangeRoutes } from "./dashboard/routes/settings/ranges.ts";
import { recordRoutes } from "./dashboard/routes/records/records.ts";
import { resultRoutes } from "./dashboard/routes/records/results.ts";
import { retentionRoutes } from "./dashboard/routes/registry/retention.ts";
import { reportRoutes } from "./dashboard/routes/settings/report.ts";
import { studyCommandRoutes } from "./dashboard/routes/records/study-commands.ts";
import { rolloutRoutes } from "./dashboard/routes/settings/rollout.ts";
import { sharingRoutes } from "./dashboard/routes/sharing/sharing-routes.ts";
import { sessionRoutes } from "./dashboard/routes/session.ts";
import { stockRoutes } from "./dashboard/routes/records/stock.ts";
import { unmatchedRoutes } from "./dashboard/routes/records/unmatched.ts";
import { todayRoutes } from "./dashboard/routes/records/today.ts";
import { userRoutes } from "./dashboard/routes/settings/users.ts";
import { webhookRoutes } from "./dashboard/routes/settings/webhooks.ts";
import { writeOnce } from "./dashboard/routes/write-once.ts";
import { type AuditTrail, auditRequests } from "./http/audit-trail.ts";
import { PatientLists } from "./records/patients/patient-list.ts";
import { parseJsonBodies } from "./http/json-body.ts";
import type { FastifyInstance } from "fastify";

/** Adds /clinic/v1, the dashboard's own API. It takes a session, never an API key. */
export async function dashboardRoutes(
  scope: FastifyInstance,
  { context: given, trail }: { context: DashboardContext; trail: AuditTrail },
): Promise<void> {
  // Responses hold patients' data, so no cache may keep them.
  scope.addHook("onRequest", (_request, reply, done) => {
    reply.header("cache-control", "no-store");
    done();
  });
  auditRequests(scope, trail, given.now);
  guardRoutes(scope, given); // 401, 403, 404
  refuseCrossSiteWrites(scope); // 403, after the guard, so that the audit names the user
  parseJsonBodies(scope);
  const context = { ...given, store: writeOnce(scope, given) };
  sessionRoutes(scope, context);
  oidcRoutes(scope, context, "clinic");
  oidcLogout(scope, context);
  eventRoutes(scope, context);
  const lists = new PatientLists(context.store);
  patientRoutes(scope, context, lists);
  animalRoutes(scope, context, lists);
  ownerRoutes(scope, context);
  erasureRoutes(scope, context);
  mergeRoutes(scope, context, lists);
  connectionRoutes(scope, context);
  fileImportRoutes(scope, context);
  keyRoutes(scope, context);
  auditRoutes(scope, context);
  rangeRoutes(scope, context);
  limitRoutes(scope, context);
  ownIntervalRoutes(scope, context);
  accountRoutes(scope, context);
  userRoutes(scope, context);
  clinicSettingsRoutes(scope, context);
  resultRoutes(scope, context);
  studyCommandRoutes(scope, context);
  reportRoutes(scope, context);
  retentionRoutes(scope, context);
  unmatchedRoutes(scope, context);
  recordRoutes(scope, context);
  calendarRoutes(scope, context);
  orderRoutes(scope, context);
  stockRoutes(scope, context);
  deviceRoutes(scope, context);
  agentDevicesRoutes(scope, context);
  ownProfileRoutes(scope, context);
  rolloutRoutes(scope, context);
  todayRoutes(scope, context);
  followUpRoutes(scope, context);
  codeRoutes(scope, context);
  manualStudyRoutes(scope, context);
  qualityRoutes(scope, context);
  previewRoutes(scope, context);
  webhookRoutes(scope, context);
  destinationRoutes(scope, context);
  notificationRoutes(scope, context);
  networkRoutes(scope, context);
  mailServerRoutes(scope, context);
  sharingRoutes(scope, context);
}
