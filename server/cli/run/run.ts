import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Server as TlsServer } from "node:tls";
import { Command, InvalidArgumentError } from "commander";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { settleRestore } from "../../../shared/platform/care/restore-steps.ts";
import { isRolledBack } from "../../../shared/platform/care/older-schema.ts";
import { currentProxy } from "../../../shared/network/client.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { placeWarning } from "../../../shared/files/folder-place.ts";
import { lockFolder } from "../../../shared/files/folder-lock.ts";
import { createLog } from "../../../shared/log/log.ts";
import { watchLog } from "../../../shared/log/long-log.ts";
import { makePrivate } from "../../../shared/files/private-folder.ts";
import { portAdvice } from "../../../shared/files/rights-advice.ts";
import { stopOrder } from "../../../shared/platform/upgrade/parent.ts";
import { AlertWatch } from "../../operations/alert-watch.ts";
import { createSetupCode } from "../../dashboard/auth/setup-code.ts";
import { type Certificate, certificateWarning, readCertificate } from "../../http/certificate.ts";
import { Drain } from "../../http/drain.ts";
import { isAddressRange, isLoopback } from "../../../shared/network/network-address.ts";
import { defaultLimits, type Limits } from "../../http/rate-limit/rate-limiter.ts";
import { type MetricsAddress, type MetricsServer, serveMetrics } from "../../operations/metrics-server.ts";
import { RELEASES } from "../../operations/release-folder.ts";
import { AUTHORITY_FILE, NETWORK_FILE } from "../../network/setting-file.ts";
import { Network } from "../../network/network.ts";
import { isPostgresUrl } from "../../database/open.ts";
import { hasDataChecksums } from "../../database/postgres.ts";
import { copySqliteToOwnSchema } from "../../database/sqlite.ts";
import { WebhookDispatcher } from "../../operations/webhooks/dispatcher.ts";
import { type AlertOptions, dashboardOf, mailerOf, readMachine, withAlertOptions } from "./alert-options.ts";
import { type CareOptions, careOptions, logFileOf, startBackups } from "./care-options.ts";
import { type DataOption, dataOption } from "../common/options.ts";
import { openServedStore } from "./served-store.ts";
import { serveUpgrades } from "./serve-upgrades.ts";
import { loadStorePepper, storeLocation } from "../common/with-store.ts";

/** Time for requests under way after the signal to stop; connections that are open then are closed. */
const CLOSE_WAIT_MS = 5000;
/** With CLOSE_WAIT_MS it stays below the 25 s after which service managers kill the process. */
const DRAIN_S_MAX = 15;
/** A terminal and npm both pass on one Ctrl-C. A signal within this time is such a copy, and no second order. */
const SIGNAL_COPY_MS = 500;
/** The lock of the server that runs with a data folder. */
const RUNNING = "running.db";
const DATA_FILES = [
  ...["vetwire.db", "vetwire.db-wal", "vetwire.db-shm", "pepper", "setup-code", "lock.db", RUNNING, "backup.json"],
  ...[NETWORK_FILE, AUTHORITY_FILE],
];

export const runCommand = new Command("run")
  .description("serve the API")
  .option("--port <port>", "port, 0 for any free one", parsePort, 8080)
  .option("--host <host>", "address to listen on", "127.0.0.1")
  .option(
    "--rate-limit <type=minute/hour>",
    "requests of each key of a type; repeatable (device=120/3000, address=600)",
    parseRateLimit,
    {},
  )
  .option(
    "--trust-proxy <address>",
    "a reverse proxy, or a range of them (10.0.0.0/8), whose X-Forwarded-For names the client; repeatable",
    parseProxies,
    [],
  )
  .option(
    "--hide-unconnected",
    "respond 404 in place of 403 for records of patients that the clinic is not connected to",
  )
  .option(
    "--max-clinic-studies <count>",
    "studies that a clinic may store; its agents keep new ones beyond it (no limit by default)",
    parseStudies,
  )
  .option("--tls-cert <file>", "certificate chain in PEM: serve https; needs --tls-key")
  .option("--tls-key <file>", "private key of the certificate in PEM")
  .option(
    "--allow-private-webhooks",
    "send webhooks to receivers in the local network too, over plain http if their URL says so",
  )
  .option(
    "--metrics <address>",
    "serve /metrics for Prometheus there: a port of 127.0.0.1, or host:port (off by default)",
    parseMetricsAddress,
  )
  .option(
    "--drain-seconds <seconds>",
    `serve that long after the signal to stop, while /readyz says 503; at most ${DRAIN_S_MAX}`,
    parseDrain,
    0,
  )
  .addOption(dataOption())
  .action(run);
for (const option of careOptions()) runCommand.addOption(option);
withAlertOptions(runCommand);

interface RunOptions extends DataOption, AlertOptions, CareOptions {
  readonly port: number;
  readonly host: string;
  readonly rateLimit: Partial<Limits>;
  readonly trustProxy: string[];
  readonly hideUnconnected?: boolean;
  readonly maxClinicStudies?: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly allowPrivateWebhooks?: boolean;
  readonly metrics?: MetricsAddress;
  readonly drainSeconds: number;
}

/** Without checksums PostgreSQL serves a page that the disk changed. The checksum of a study covers its results alone. */
async function warnOfUnchecked(url: string, logger: Logger): Promise<void> {
  // After a lost connection the next start looks again.
  if (await hasDataChecksums(url).catch(() => true)) return;
  logger.warn(
    "PostgreSQL has no data checksums, so a page that the disk changed stays unnoticed: stop PostgreSQL, run pg_checksums --enable, and start it",
  );
}

async function run(options: RunOptions): Promise<void> {
  const { data, port, host, rateLimit, trustProxy, hideUnconnected = false, allowPrivateWebhooks = false } = options;
  const certificate = certificateOf(options);
  let served = certificate;
  const [sendMail, dashboard] = [mailerOf(options), dashboardOf(options)];
  // A second line of defence: no log call of the server has headers.
  const redact = ["req.headers", "headers", "*.authorization", '*["x-api-key"]'];
  const logger = createLog({ redact }, { file: logFileOf(options) });
  const backups = startBackups(options, logger);
  const stopSignal = stopOrder();
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
  const location = storeLocation(data);
  if (!isPostgresUrl(location)) {
    settleRestore(data);
    lockFolder(data, `a restore is running with ${data}: wait for its end`, "shared");
    if (isRolledBack()) copySqliteToOwnSchema(data);
  }
  const listening = { port, host, certificate, logger };
  const opening = { ...listening, location };
  const store = await openServedStore(opening, stopSignal);
  if (store === null) {
    await backups?.stop();
    return;
  }
  if (isPostgresUrl(location)) void warnOfUnchecked(location, logger);
  else
    watchLog(join(data, "vetwire.db"), ({ code, bytes, fault, remedy }) => logger.warn({ code, bytes, remedy }, fault));
  const pepper = await loadStorePepper(store, data);
  const limits = { ...defaultLimits, ...rateLimit };
  const setupCode = await createSetupCode(store, data);
  const concealUnconnected = hideUnconnected;
  const alerts = new AlertWatch({
    ...{ store, logger, dashboard, now: Date.now },
    senders: { sendMail, webhooks: { allowPrivate: allowPrivateWebhooks } },
    machine: () => readMachine(data, location),
  });
  // Loaded when they are needed: the help page and a wrong option appear at once.
  const { buildApp } = await import("../../app.ts");
  const metrics = options.metrics && new (await import("../../operations/metrics.ts")).Metrics();
  const drain = new Drain();
  const network = new Network({
    ...{ folder: data, logger, now: Date.now, host, proxies: trustProxy },
    mainCertificate: () => served,
    fixedBy: ["host", "tlsCert", "trustProxy"].flatMap(givenOption),
    publicUrl: dashboard && new URL(dashboard).origin,
  });
  const app = buildApp(store, {
    metrics,
    drain,
    alerts,
    pepper,
    logger,
    limits,
    network,
    setupCode,
    concealUnconnected,
    clinicStudiesMax: options.maxClinicStudies ?? null,
    certificate,
    allowPrivateWebhooks,
    releaseFolder: join(data, RELEASES),
  });
  if (certificate !== undefined) {
    watchCertificate(options, certificate, app, logger, (renewed) => {
      served = renewed;
    });
  }

  let metricsServer: MetricsServer | undefined;
  try {
    if (options.metrics !== undefined && metrics !== undefined) {
      metricsServer = await serveMetrics(options.metrics, metrics);
      logger.info(`metrics at ${metricsServer.url}`);
      if (!isLoopback(options.metrics.host)) {
        logger.warn("others in the network can read the metrics: they hold counts and routes, and no patient data");
      }
    }
    const address = await app.listen({ port, host });
    logger.info(`listening on ${address}`);
    await network.start(app, setupCode === undefined);
    if (certificate === undefined && !isLoopback(host) && trustProxy.length === 0) {
      logger.warn(
        "this server speaks plain http beyond this machine: others in the network can read passwords and results. " +
          "Use --tls-cert and --tls-key, or a reverse proxy with --trust-proxy",
      );
    }
    if (setupCode !== undefined) {
      // Others may read a log.
      logger.info(`set up the dashboard at ${address}/dashboard with the code in ${setupCode.file}`);
    }
  } catch (error) {
    metricsServer?.close();
    await store.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new Error(`port ${port} of ${host} is in use, choose another with --port`, { cause: error });
    }
    if (code === "EACCES") throw new Error(portAdvice(port, "server"), { cause: error });
    throw error;
  }

  const webhooks = new WebhookDispatcher(store, { logger, allowPrivate: allowPrivateWebhooks });
  logProxy(logger);
  webhooks.start();
  alerts.start();

  const upgrades = serveUpgrades(app, data, location, logger);
  const upgrade = upgrades.ordered.then(() => "upgrade");
  const cause = await Promise.race([stopSignal, upgrade]);
  endAtNextSignal(logger);
  upgrades.stop();
  drain.begin();
  if (options.drainSeconds > 0) {
    logger.info({ signal: cause, seconds: options.drainSeconds }, "draining: /readyz says 503, requests are served");
    await sleep(options.drainSeconds * 1000);
  }
  logger.info({ signal: cause }, "closing");
  await backups?.stop();
  setTimeout(() => app.server.closeAllConnections(), CLOSE_WAIT_MS).unref();
  await Promise.all([app.close(), network.stop()]);
  await Promise.all([webhooks.stop(), alerts.stop()]);
  metricsServer?.close();
  await store.close();
}

/** Tells whoever runs the server how webhooks leave, since no page shows the environment. */
function logProxy(logger: Logger): void {
  try {
    const proxy = currentProxy(new URL("https://receiver.example"));
    if (proxy !== null) logger.info(`webhooks leave through the proxy ${proxy.name} (${proxy.source})`);
  } catch (error) {
    logger.warn({ reason: errorMessage(error) }, "no webhook can leave");
  }
}

/** Ends the process at once at a further signal to stop. Stored data is durable; audit rows of the last half second are lost. */
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

/** The option of the command line, or of the service's file, as it was given; nothing for a default. */
function givenOption(name: string): string[] {
  const option = runCommand.options.find((each) => each.attributeName() === name);
  return runCommand.getOptionValueSource(name) === "cli" ? [option?.long ?? name] : [];
}

/** Reads the certificate of the options; undefined without one. @throws Error for one option without the other */
function certificateOf({ tlsCert, tlsKey }: RunOptions): Certificate | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new Error("expected both --tls-cert and --tls-key, or neither");
  }
  return readCertificate(tlsCert, tlsKey);
}

/** Warns of a certificate that ends, and reads a renewed one at SIGHUP, without closing a connection. */
function watchCertificate(
  options: RunOptions,
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
      const renewed = readCertificate(options.tlsCert ?? "", options.tlsKey ?? "");
      if (server instanceof TlsServer) server.setSecureContext(renewed);
      use(renewed);
      logger.info("the certificate was read again");
      warn(renewed);
    } catch (error) {
      logger.error({ reason: errorMessage(error) }, "the certificate cannot be read again: the last one stays in use");
    }
  });
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("expected 0 to 65535");
}

/** Parses `host:port`, `[v6]:port`, or a port of 127.0.0.1. */
function parseMetricsAddress(text: string): MetricsAddress {
  const [, v6, name, port = ""] = /^(?:(?:\[([\da-f:]+)\]|([^:\s[\]]+)):)?(\d{1,5})$/i.exec(text) ?? [];
  if (port !== "" && Number(port) <= 65_535) return { host: v6 ?? name ?? "127.0.0.1", port: Number(port) };
  throw new InvalidArgumentError("expected a port of this machine or host:port, such as 127.0.0.1:9090");
}

function parseStudies(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a number of studies, such as 100000");
}

function parseDrain(text: string): number {
  const seconds = Number(text);
  if (/^\d{1,2}$/.test(text) && seconds <= DRAIN_S_MAX) return seconds;
  throw new InvalidArgumentError(`expected 0 to ${DRAIN_S_MAX} seconds`);
}

/**
 * Adds one rate limit. `device=120/3000` are requests a minute and an hour of each key of a type, `ingest=...` those of the
 * pushes of all agents. `address=600` are requests a minute without a valid key.
 */
function parseRateLimit(text: string, limits: Partial<Limits>): Partial<Limits> {
  const [, type, minute, hour] =
    /^(integration|device|partner|ingest)=([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text) ?? [];
  if (type !== undefined) return { ...limits, [type]: { minute: Number(minute), hour: Number(hour) } };
  const [, address] = /^address=([1-9]\d{0,8})$/.exec(text) ?? [];
  if (address === undefined) throw new InvalidArgumentError("expected such as device=120/3000, or address=600");
  return { ...limits, addressMinute: Number(address) };
}

/** Adds an address, or a range of addresses such as 10.0.0.0/8. */
function parseProxies(text: string, proxies: readonly string[]): string[] {
  if (!isAddressRange(text)) {
    throw new InvalidArgumentError("expected an address or a range, such as 127.0.0.1 or 10.0.0.0/8");
  }
  return [...proxies, text];
}
