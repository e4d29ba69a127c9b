import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Logger, pino } from "pino";
import type { AlertTester, MailControl, SetupCode, SingleSignOn } from "./dashboard/context.ts";
import { AlertWatch } from "./operations/alert-watch.ts";
import { MailServer } from "./operations/mail/mail-server.ts";
import { ownerRoutes } from "./dashboard/routes/sharing/owner-routes.ts";
import { webFiles } from "./dashboard/web-files.ts";
import { dashboardRoutes } from "./dashboard-routes.ts";
import { AuditQueue } from "./records/audit/audit-queue.ts";
import { auditRequests, type AuditTrail, startAuditTrail } from "./http/audit-trail.ts";
import { type Authentication, authenticateRequests } from "./http/auth/authentication.ts";
import { authorizeRequests } from "./http/auth/authorization.ts";
import type { Certificate } from "./http/certificate.ts";
import { Drain } from "./http/drain.ts";
import { countCalls } from "./operator/api-calls.ts";
import type { Hosting } from "./operator/context.ts";
import { measureStorage } from "./operator/measuring.ts";
import { operatorRoutes } from "./operator/routes.ts";
import { ImportRunner } from "./import/jobs/import-runner.ts";
import { handleErrors } from "./http/error-handler.ts";
import { healthRoutes } from "./http/health.ts";
import { createHttpServer, defaultTimeouts, type HttpTimeouts } from "./http/http-server.ts";
import { createKeyLookup } from "./http/auth/key-lookup.ts";
import { createKeyUse } from "./http/auth/key-use.ts";
import { createPairingLimit } from "./http/auth/pairing-limit.ts";
import { memoryCounters } from "./http/rate-limit/memory-counters.ts";
import { collectOperations, READ_API, SYNC_API } from "./http/openapi/document.ts";
import { reportIgnoredParameters } from "./http/query-parameters.ts";
import { limitRequests } from "./http/rate-limit/rate-limit.ts";
import { defaultLimits, type Limits, RateLimiter } from "./http/rate-limit/rate-limiter.ts";
import { startRequestContext } from "./http/request-context.ts";
import { type CacheUse, cacheResponses } from "./http/response-cache/response-cache.ts";
import { refuseUnknownRoutes } from "./http/unknown-routes.ts";
import type { Metrics } from "./operations/metrics.ts";
import type { SpanExport } from "./operations/span-export.ts";
import { calendarRoutes } from "./api/calendar.ts";
import { changeRoutes } from "./api/events/changes.ts";
import { eventRoutes } from "./api/events/events.ts";
import { trailRoutes } from "./api/lab/trail.ts";
import { analyteRoutes } from "./api/lab/analytes.ts";
import { diagnosticRoutes } from "./api/lab/diagnostics.ts";
import { docsRoutes } from "./api/docs.ts";
import { agentRoutes } from "./api/agent/ingest.ts";
import { type PairingContext, pairingRoutes } from "./api/agent/pairing.ts";
import { inventoryRoutes } from "./api/inventory.ts";
import { patientRoutes } from "./api/patients.ts";
import type { RouteContext } from "./api/context.ts";
import { syncRoutes } from "./api/sync/sync.ts";
import { reportByKey } from "./dashboard/routes/sharing/report-by-key.ts";
import { soapRoutes } from "./api/soap.ts";
import { capabilityRoute, type FhirContext, fhirRoutes, nameRecords } from "./fhir/routes.ts";
import { originOf } from "./network/origin.ts";
import { type SharedCounters, storeCounters } from "./records/clinics/rate-limit-counters.ts";
import type { Render } from "./records/destinations/queue.ts";
import { renderHl7 } from "./records/destinations/hl7/render.ts";
import { renderCsv } from "./records/destinations/csv/render.ts";
import { studyReports } from "./dashboard/report/study-reports.ts";
import { SyncPoints } from "./records/changes/sync-point.ts";
import { SteadyTime } from "./database/steady-time.ts";
import type { Network } from "./network/network.ts";
import type { Store } from "./database/store.ts";

export interface AppOptions {
  /** The secret of the key digests. */
  pepper: Buffer;
  logger?: Logger;
  /** Milliseconds since 1970. */
  now?: () => number;
  limits?: Limits;
  /** Rate-limit counters. By default in the database if other servers share it, otherwise in memory. */
  counters?: SharedCounters;
  /** Addresses and CIDR ranges of reverse proxies. X-Forwarded-For is read from these alone, and from those of `network`. */
  trustProxy?: readonly string[];
  /** How other machines reach the server. By default only a test does. */
  network?: Network | null;
  /** Responds 404 instead of 403 for a record of a patient without a connection to the clinic. */
  concealUnconnected?: boolean;
  /** Studies that a clinic may store. Unlimited by default. */
  clinicStudiesMax?: number | null;
  /** Lets the first admin set up the dashboard. */
  setupCode?: SetupCode | undefined;
  /** Lets users sign in through a provider, too. By default passwords alone sign in. */
  singleSignOn?: SingleSignOn | null;
  /** Allows webhooks to receivers in the local network. */
  allowPrivateWebhooks?: boolean;
  timeouts?: HttpTimeouts;
  /** Undefined for plain HTTP. */
  certificate?: Certificate | undefined;
  /** Sends the test messages of Settings, Notifications. By default there is no mail server. */
  alerts?: AlertTester;
  /** The mail server. By default the one that the dashboard set. */
  mail?: MailControl;
  /** The folder with the releases of the agent. Without it, no agent is upgraded from here. */
  releaseFolder?: string | null;
  /** Returns the time of the oldest backup that the server knows. By default it knows of none. */
  oldestBackup?: () => string | null;
  /** The console of the server's operator. By default there is none. */
  hosting?: Hosting | null;
  /** Measures the requests. By default nothing does. */
  metrics?: Metrics | undefined;
  /** Sends a span of each request to a collector. By default nothing does. */
  spans?: SpanExport | undefined;
  /** Announces to requests that the server is about to stop. */
  drain?: Drain;
}

/** Builds the HTTP interface of a store. It does not listen. */
export function buildApp(
  store: Store,
  {
    pepper,
    logger = pino({ enabled: false }),
    now = Date.now,
    limits = defaultLimits,
    counters = store.shared ? storeCounters(store) : memoryCounters(),
    trustProxy = [],
    network = null,
    concealUnconnected = false,
    clinicStudiesMax = null,
    setupCode,
    singleSignOn = null,
    allowPrivateWebhooks = false,
    timeouts = defaultTimeouts,
    certificate,
    alerts = new AlertWatch({ store, now, logger }),
    mail = new MailServer({ session: store, pepper, fixed: () => null }),
    releaseFolder = null,
    oldestBackup = () => null,
    hosting = null,
    metrics,
    spans,
    drain = new Drain(),
  }: AppOptions,
): FastifyInstance {
  const app = createHttpServer({ logger, timeouts, trustProxy: network?.trusts ?? trustProxy, certificate });
  reportDamage(store, logger);
  const operations = collectOperations(app, READ_API);
  const syncOperations = collectOperations(app, SYNC_API);
  const audit = new AuditQueue(store, logger, now, new SteadyTime({ wall: now }));
  const cache = { hits: 0, misses: 0, bytes: 0 };
  const trail = startAuditTrail(app, audit);
  const limiter = new RateLimiter(limits, counters);
  const keys = { findKey: createKeyLookup(store, pepper), noteUse: createKeyUse(app, store, logger), now };
  const quota = { studiesMax: clinicStudiesMax, deferred: 0 };
  const syncPoints = new SyncPoints(store);
  const render = renderDeliveries(store, now);
  const context = { store, now, concealUnconnected, quota, syncPoints, releaseFolder, render, drain };

  // The hooks of a request run in the order of registration: first those of the app, then those of the route's scope.
  startRequestContext(app, drain);
  spans?.watch(app);
  metrics?.watch(app, { store, audit, cache, drain, quota, network });
  refuseUnknownRoutes(app); // 404, 405
  reportIgnoredParameters(app);
  handleErrors(app, logger);

  const guards = { trail, keys, limiter, cache, now };
  app.register((api) => readApi(api, guards, context));
  const forFhir = { ...context, originOf: (request: FastifyRequest) => originOf(request, network) };
  app.register((fhir) => fhirApi(fhir, guards, forFhir));
  app.register(async (statement) => capabilityRoute(statement, forFhir));
  app.register((agent) => agentApi(agent, guards, context));
  app.register((sync) => syncApi(sync, guards, context));
  const countTry = createPairingLimit(counters);
  app.register((pairs) => servePairing(pairs, trail, { store, now, pepper, network, countTry }));
  const forDashboard = {
    ...{ store, now, logger, pepper, counters, limiter, setupCode, singleSignOn },
    ...{ allowPrivateWebhooks, alerts, mail, releaseFolder, oldestBackup, network },
    imports: runImports(app, { store, now, logger }),
  };
  app.register(dashboardRoutes, { trail, context: forDashboard });
  if (hosting !== null) serveConsole(app, { trail, context: { ...forDashboard, ...hosting } });
  app.register((links) => ownerRoutes(links, forDashboard));
  app.register((pages) => webFiles(pages, { hasConsole: hosting !== null }));
  app.register((docs) => docsRoutes(docs, READ_API, operations, limits));
  app.register((docs) => docsRoutes(docs, SYNC_API, syncOperations, limits));
  healthRoutes(app, store, drain);
  return app;
}

async function servePairing(scope: FastifyInstance, trail: AuditTrail, context: PairingContext): Promise<void> {
  auditRequests(scope, trail, context.now);
  pairingRoutes(scope, context);
}

/** Writes each damaged record to the log, with what to do. */
function reportDamage(store: Store, logger: Logger): void {
  store.damaged.report = ({ message, table, subject }, count) =>
    logger.error({ table, fp: subject, damaged: count }, `${message}; restore it from a backup, or send it again`);
}

/** Makes the bytes for destinations. */
export function renderDeliveries(store: Store, now: () => number): Render {
  const messages = renderHl7(store, now, studyReports(store, now));
  const files = renderCsv(store, now);
  return (asked) => (asked.destination.kind === "csv" ? files : messages)(asked);
}

/** Adds the console of the server's operator, and counts what it meters. */
function serveConsole(
  app: FastifyInstance,
  served: Parameters<typeof operatorRoutes>[1] & { context: { logger: Logger } },
) {
  countCalls(app, served.context);
  measureStorage(app, served.context);
  app.register(operatorRoutes, served);
}

/** Runs imports of files while the app is open: those that wait, also of a server that was killed. */
function runImports(app: FastifyInstance, options: ConstructorParameters<typeof ImportRunner>[0]): ImportRunner {
  const runner = new ImportRunner(options);
  app.addHook("onListen", async () => runner.start());
  app.addHook("onClose", async () => runner.stop());
  return runner;
}

/** The services that the hooks of a request with a key need. */
interface Guards {
  readonly trail: AuditTrail;
  readonly keys: Authentication;
  readonly limiter: RateLimiter;
  readonly cache: CacheUse;
  readonly now: () => number;
}

async function readApi(api: FastifyInstance, { trail, keys, limiter, cache, now }: Guards, context: RouteContext) {
  auditRequests(api, trail, now);
  authenticateRequests(api, keys);
  cacheResponses(api, limiter, now, cache); // 200 and 304 from memory, once the request is admitted
  limitRequests(api, limiter, now); // 429
  authorizeRequests(api); // 401, 403
  patientRoutes(api, context);
  soapRoutes(api, context);
  analyteRoutes(api);
  diagnosticRoutes(api, context);
  trailRoutes(api, context);
  reportByKey(api, context);
  calendarRoutes(api, context);
  inventoryRoutes(api, context);
  changeRoutes(api, context);
  eventRoutes(api, context);
}

async function fhirApi(fhir: FastifyInstance, { trail, keys, limiter, now }: Guards, context: FhirContext) {
  auditRequests(fhir, trail, now);
  nameRecords(fhir);
  authenticateRequests(fhir, keys);
  limitRequests(fhir, limiter, now);
  authorizeRequests(fhir);
  fhirRoutes(fhir, context);
}

async function agentApi(agent: FastifyInstance, { trail, keys, limiter, now }: Guards, context: RouteContext) {
  auditRequests(agent, trail, now);
  authenticateRequests(agent, keys);
  limitRequests(agent, limiter, now);
  authorizeRequests(agent);
  agentRoutes(agent, context);
}

async function syncApi(sync: FastifyInstance, { trail, keys, limiter, now }: Guards, context: RouteContext) {
  auditRequests(sync, trail, now);
  authenticateRequests(sync, keys);
  limitRequests(sync, limiter, now);
  authorizeRequests(sync);
  syncRoutes(sync, context);
}
