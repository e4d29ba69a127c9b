import { statfsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Server as TlsServer } from "node:tls";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { lockFolder } from "../shared/files/folder-lock.ts";
import { placeWarning } from "../shared/files/folder-place.ts";
import { makePrivate } from "../shared/files/private-folder.ts";
import { portAdvice } from "../shared/files/rights-advice.ts";
import type { LogFileOptions } from "../shared/log/log-file.ts";
import { createLog } from "../shared/log/log.ts";
import { watchLog } from "../shared/log/long-log.ts";
import { currentProxy } from "../shared/network/client.ts";
import { isLoopback } from "../shared/network/network-address.ts";
import { readBackupState } from "../shared/platform/care/backup-state.ts";
import { oldestBackup } from "../shared/platform/care/oldest-backup.ts";
import { isRolledBack } from "../shared/platform/care/older-schema.ts";
import { settleRestore } from "../shared/platform/care/restore-steps.ts";
import type { ScheduledBackups } from "../shared/platform/care/scheduled-backup.ts";
import { stopOrder } from "../shared/platform/upgrade/parent.ts";
import { VERSION } from "../shared/files/program-files.ts";
import { errorCode, errorMessage } from "../shared/runtime/error-message.ts";
import { buildApp, renderDeliveries } from "./app.ts";
import type { SingleSignOn } from "./dashboard/context.ts";
import { createSetupCode } from "./dashboard/auth/setup-code.ts";
import { isPostgresUrl } from "./database/open.ts";
import { hasDataChecksums } from "./database/postgres.ts";
import { copySqliteToOwnSchema } from "./database/sqlite.ts";
import type { Store } from "./database/store.ts";
import { loadPepper } from "./http/auth/pepper.ts";
import { type Certificate, certificateWarning } from "./http/certificate.ts";
import { Drain } from "./http/drain.ts";
import { defaultLimits, type Limits } from "./http/rate-limit/rate-limiter.ts";
import { Network } from "./network/network.ts";
import { AUTHORITY_FILE, NETWORK_FILE } from "./network/setting-file.ts";
import { AlertWatch } from "./operations/alert-watch.ts";
import { Lease } from "./operations/lease.ts";
import { type FixedMailServer, MailServer } from "./operations/mail/mail-server.ts";
import { type MetricsAddress, type MetricsServer, serveMetrics } from "./operations/metrics-server.ts";
import { Metrics } from "./operations/metrics.ts";
import { RELEASES } from "./operations/release-folder.ts";
import { ReleaseWatch } from "./operations/release-watch.ts";
import { type Collector, SpanExport } from "./operations/span-export.ts";
import { serveUpgrades } from "./operations/serve-upgrades.ts";
import { openServedStore } from "./operations/served-store.ts";
import { DestinationDispatcher } from "./operations/destinations/dispatcher.ts";
import { pruneByPolicy } from "./records/erasure/retention.ts";
import { WebhookDispatcher } from "./operations/webhooks/dispatcher.ts";
import type { Machine } from "./records/alerts/alert-conditions.ts";
import { countKeys } from "./records/clinics/keys.ts";

// Composes the running server and holds it from its start to its end: data folder, database, application, ports, and what runs in
// addition to requests.

/** Time for requests under way after the signal to stop; connections that are open then are closed. */
const CLOSE_WAIT_MS = 5000;
/** A terminal and npm both pass on one Ctrl-C. A signal within this time is such a copy, not a second order. */
const SIGNAL_COPY_MS = 500;
/** The lock of the server that runs with a data folder. */
const RUNNING = "running.db";
const DATA_FILES = [
  ...["vetwire.db", "vetwire.db-wal", "vetwire.db-shm", "pepper", "setup-code", "lock.db", RUNNING, "backup.json"],
  ...[NETWORK_FILE, AUTHORITY_FILE],
];

export interface ServerSettings {
  readonly data: string;
  /** Returns the data folder, or the URL of PostgreSQL. @throws Error for another URL */
  readonly location: () => string;
  readonly port: number;
  readonly host: string;
  /** Limits that replace the default ones. */
  readonly limits: Partial<Limits>;
  /** Addresses and ranges of reverse proxies. */
  readonly trustProxy: readonly string[];
  readonly concealUnconnected: boolean;
  readonly clinicStudiesMax: number | null;
  /** Whether the console of the server's operator is served. */
  readonly hasConsole: boolean;
  readonly allowPrivateWebhooks: boolean;
  /** Reads the certificate and its key; null for plain http. It is called again at SIGHUP. */
  readonly readCertificate: (() => Certificate) | null;
  /** The mail server of the options; null without one. */
  readonly mailServer: FixedMailServer | null;
  /** Signs users in through a provider; null for passwords alone. */
  readonly singleSignOn: SingleSignOn | null;
  /** The address of the dashboard for links; null if it is unknown. */
  readonly dashboard: string | null;
  readonly metrics: MetricsAddress | null;
  /** Where the releases of the agent are fetched each day, and the key that signs them; null for nowhere. */
  /** The collector that gets spans, an OTLP endpoint; null for none. */
  readonly spansTo: Collector | null;
  readonly releases: { readonly from: URL; readonly publicKey: string } | null;
  readonly drainSeconds: number;
  readonly logFile: LogFileOptions | null;
  /** Options that set what the screen of the network would set. */
  readonly fixedBy: readonly string[];
  readonly startBackups: (logger: Logger) => ScheduledBackups | null;
}

/** Runs a server until a signal to stop, or the order to make place for a new version. @throws Error with the remedy */
export async function runServer(settings: ServerSettings): Promise<void> {
  const { data, port, host } = settings;
  const certificate = settings.readCertificate?.();
  // A second line of defence: no log call of the server has headers.
  const redact = ["req.headers", "headers", "*.authorization", '*["x-api-key"]'];
  const logger = createLog({ redact }, { file: settings.logFile });
  const backups = settings.startBackups(logger);
  const stopSignal = stopOrder();
  const location = openDataFolder(settings, logger);
  const store = await openServedStore({ location, port, host, certificate, logger }, stopSignal);
  if (store === null) {
    await backups?.stop();
    return;
  }
  watchDatabase(location, data, logger);
  const parts = await compose(store, settings, { location, certificate, logger });
  const metricsServer = await listen(parts, settings, store, logger);
  logProxy(logger);
  parts.lease.start();
  parts.webhooks.start();
  parts.destinations.start();
  parts.alerts.start();
  parts.releases?.start();

  const upgrades = serveUpgrades(parts.app, data, location, logger);
  const upgrade = upgrades.ordered.then(() => "upgrade");
  const cause = await Promise.race([stopSignal, upgrade]);
  endAtNextSignal(logger);
  upgrades.stop();
  parts.drain.begin();
  if (settings.drainSeconds > 0) {
    logger.info(
      { signal: cause, seconds: settings.drainSeconds },
      "draining: /readyz responds 503, requests are served",
    );
    await sleep(settings.drainSeconds * 1000);
  }
  logger.info({ signal: cause }, "closing");
  await backups?.stop();
  await close(parts);
  metricsServer?.close();
  await store.close();
}

/** Closes the data folder to others and locks it. @returns the location of the database, ready to be opened */
function openDataFolder({ data, location }: ServerSettings, logger: Logger): string {
  const rights = makePrivate(data, DATA_FILES);
  if (rights.tightened.length > 0) {
    logger.warn(
      { files: rights.tightened.length },
      "other users could read the data folder: the server closed it to them",
    );
  }
  for (const reason of rights.failed) logger.warn({ reason }, "other users can read the data folder");
  const place = placeWarning(data);
  if (place !== null) logger.warn({ code: place.code }, place.sentence);
  // It would overwrite the set-up code, and both would send the alerts and webhooks.
  lockFolder(data, `another server is running with ${data}: end it first, or choose another --data`, "alone", RUNNING);
  const database = location();
  if (!isPostgresUrl(database)) {
    settleRestore(data);
    lockFolder(data, `a restore is running with ${data}: wait for its end`, "shared");
    if (isRolledBack()) copySqliteToOwnSchema(data);
  }
  return database;
}

/** Warns of what an engine does not: pages without a checksum, a log that grows. */
function watchDatabase(location: string, data: string, logger: Logger): void {
  if (isPostgresUrl(location)) void warnOfUnchecked(location, logger);
  else
    watchLog(join(data, "vetwire.db"), ({ code, bytes, fault, remedy }) => logger.warn({ code, bytes, remedy }, fault));
}

/** Without checksums PostgreSQL serves a page that the disk changed. The checksum of a study covers its results alone. */
async function warnOfUnchecked(url: string, logger: Logger): Promise<void> {
  // After a lost connection the next start looks again.
  if (await hasDataChecksums(url).catch(() => true)) return;
  logger.warn(
    "PostgreSQL has no data checksums, so a page that the disk changed stays unnoticed: stop PostgreSQL, run pg_checksums --enable, and start it",
  );
}

interface Parts {
  readonly app: FastifyInstance;
  readonly network: Network;
  readonly lease: Lease;
  readonly alerts: AlertWatch;
  readonly webhooks: WebhookDispatcher;
  readonly destinations: DestinationDispatcher;
  readonly metrics: Metrics | undefined;
  readonly spans: SpanExport | undefined;
  readonly releases: ReleaseWatch | null;
  readonly drain: Drain;
  readonly setupCode: Awaited<ReturnType<typeof createSetupCode>>;
}

/** Makes the parts of a server. None of them runs yet. */
async function compose(
  store: Store,
  settings: ServerSettings,
  { location, certificate, logger }: { location: string; certificate: Certificate | undefined; logger: Logger },
): Promise<Parts> {
  const { data, host, mailServer, dashboard, allowPrivateWebhooks, readCertificate } = settings;
  let served = certificate;
  const setupCode = await createSetupCode(store, data);
  const pepper = loadPepper(data, (await countKeys(store)) > 0);
  const mail = new MailServer({ session: store, pepper, fixed: () => mailServer });
  const lease = new Lease(store, { logger });
  const alerts = new AlertWatch({
    ...{ store, logger, dashboard, lease, now: Date.now },
    senders: { sendMail: mail.send, webhooks: { allowPrivate: allowPrivateWebhooks } },
    machine: () => readMachine(data, location),
  });
  const metrics = settings.metrics === null ? undefined : new Metrics();
  const spans = settings.spansTo === null ? undefined : new SpanExport(settings.spansTo, logger);
  const drain = new Drain();
  const network = new Network({
    ...{ folder: data, logger, now: Date.now, host, proxies: settings.trustProxy },
    mainCertificate: () => served,
    fixedBy: settings.fixedBy,
    publicUrl: dashboard && new URL(dashboard).origin,
  });
  const app = buildApp(store, {
    ...{ metrics, spans, drain, alerts, mail, logger, network, setupCode, certificate, allowPrivateWebhooks, pepper },
    limits: { ...defaultLimits, ...settings.limits },
    singleSignOn: settings.singleSignOn,
    concealUnconnected: settings.concealUnconnected,
    clinicStudiesMax: settings.clinicStudiesMax,
    releaseFolder: join(data, RELEASES),
    oldestBackup: () => oldestBackup(data),
    hosting: settings.hasConsole ? { backups: () => readBackupState(data), isLeader: () => lease.isHeld } : null,
  });
  if (certificate !== undefined && readCertificate !== null) {
    watchCertificate(readCertificate, certificate, app, logger, (renewed) => {
      served = renewed;
    });
  }
  const webhooks = new WebhookDispatcher(store, {
    ...{ logger, lease, allowPrivate: allowPrivateWebhooks },
    attempted: ({ status, ...step }) => spans?.add({ ...step, ...spanOfWebhook(status) }),
    async prune(now) {
      const removed = await pruneByPolicy(store, now);
      if (Object.values(removed).some((rows) => rows > 0))
        logger.info({ removed }, "removed what clinics keep no longer");
    },
  });
  const render = renderDeliveries(store, Date.now);
  const destinations = new DestinationDispatcher(store, { logger, lease, render, allowPrivate: allowPrivateWebhooks });
  const releases = watchReleases(settings, logger);
  metrics?.watchPeriodic(lease, alerts);
  return { app, network, lease, alerts, webhooks, destinations, metrics, spans, releases, drain, setupCode };
}

/** Its receiver stays unnamed, since the address of one may name a person. */
function spanOfWebhook(status: number | null) {
  const attributes = { "http.request.method": "POST", ...(status !== null && { "http.response.status_code": status }) };
  return { name: "POST webhook", kind: "client" as const, attributes };
}

function watchReleases({ releases, data }: ServerSettings, logger: Logger): ReleaseWatch | null {
  if (releases === null) return null;
  return new ReleaseWatch({ ...releases, folder: join(data, RELEASES), version: VERSION, platforms: null }, logger);
}

/** Opens the ports, those of the metrics first. @returns the server of the metrics @throws Error with the remedy */
async function listen(
  { app, network, metrics, setupCode }: Parts,
  settings: ServerSettings,
  store: Store,
  logger: Logger,
): Promise<MetricsServer | undefined> {
  const { port, host } = settings;
  let metricsServer: MetricsServer | undefined;
  try {
    if (settings.metrics !== null && metrics !== undefined) {
      metricsServer = await serveMetrics(settings.metrics, metrics);
      logger.info(`metrics at ${metricsServer.url}`);
      if (!isLoopback(settings.metrics.host)) {
        logger.warn("others in the network can read the metrics: they hold counts and routes, and no patient data");
      }
    }
    const address = await app.listen({ port, host });
    logger.info(`listening on ${address}`);
    await network.start(app, setupCode === undefined);
    if (settings.readCertificate === null && !isLoopback(host) && settings.trustProxy.length === 0) {
      logger.warn(
        "this server speaks plain http beyond this machine: others in the network can read passwords and results. " +
          "Use --tls-cert and --tls-key, or a reverse proxy with --trust-proxy",
      );
    }
    if (setupCode !== undefined) {
      // Others may read a log.
      logger.info(`set up the dashboard at ${address}/dashboard with the code in ${setupCode.file}`);
    }
    return metricsServer;
  } catch (error) {
    metricsServer?.close();
    await store.close();
    const code = errorCode(error);
    if (code === "EADDRINUSE") {
      throw new Error(`port ${port} of ${host} is in use, choose another with --port`, { cause: error });
    }
    if (code === "EACCES") throw new Error(portAdvice(port, "server"), { cause: error });
    throw error;
  }
}

/** Ends the requests under way, then what sends, and lets another server take the periodic work. */
async function close({ app, network, lease, webhooks, destinations, alerts, spans, releases }: Parts): Promise<void> {
  setTimeout(() => app.server.closeAllConnections(), CLOSE_WAIT_MS).unref();
  await Promise.all([app.close(), network.stop()]);
  await Promise.all([webhooks.stop(), destinations.stop(), alerts.stop(), releases?.stop()]);
  await Promise.all([spans?.stop(), lease.stop()]);
}

/** Reads the facts of this machine for its alerts. */
async function readMachine(data: string, location: string): Promise<Machine> {
  const { bavail, bsize } = statfsSync(data);
  const freeBytes = isPostgresUrl(location) ? null : bavail * bsize;
  return { name: hostname(), freeBytes, lastBackup: readBackupState(data)?.last ?? null };
}

/** Logs how webhooks leave, since no page shows the environment. */
function logProxy(logger: Logger): void {
  try {
    const proxy = currentProxy(new URL("https://receiver.example"));
    if (proxy !== null) logger.info(`webhooks leave through the proxy ${proxy.name} (${proxy.source})`);
  } catch (error) {
    logger.warn({ reason: errorMessage(error) }, "no webhook can leave");
  }
}

/** Ends the process immediately at a further signal to stop. Stored data is durable; audit rows of the last half second are lost. */
function endAtNextSignal(logger: Logger): void {
  const from = performance.now() + SIGNAL_COPY_MS;
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => {
      if (performance.now() < from) return;
      logger.warn({ signal }, "ended by a second signal");
      process.exit(1);
    });
  }
}

/** Warns of a certificate that ends, and reads a renewed one at SIGHUP, without closing a connection. */
function watchCertificate(
  read: () => Certificate,
  first: Certificate,
  { server }: FastifyInstance,
  logger: Logger,
  use: (renewed: Certificate) => void,
): void {
  const warn = (certificate: Certificate) => {
    const warning = certificateWarning(certificate, Date.now());
    if (warning !== null) logger.warn(warning);
  };
  warn(first);
  process.on("SIGHUP", () => {
    try {
      const renewed = read();
      if (server instanceof TlsServer) server.setSecureContext(renewed);
      use(renewed);
      logger.info("the certificate was read again");
      warn(renewed);
    } catch (error) {
      logger.error({ reason: errorMessage(error) }, "the certificate cannot be read again: the last one stays in use");
    }
  });
}
