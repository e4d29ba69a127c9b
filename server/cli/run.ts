import { isIP } from "node:net";
import path from "node:path";
import { Server as TlsServer } from "node:tls";
import { Command, InvalidArgumentError } from "commander";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { settleRestore } from "../../shared/care/restore-steps.ts";
import { DEFAULT_KEEP, DEFAULT_TIME, TIME_OF_DAY } from "../../shared/care/schedule.ts";
import { type ScheduledBackups, scheduleBackups } from "../../shared/care/scheduled-backup.ts";
import { parsePositiveInteger } from "../../shared/cli/options.ts";
import { lossSentence } from "../../shared/runtime/commit-mark.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { lockFolder } from "../../shared/runtime/folder-lock.ts";
import { createLog } from "../../shared/runtime/log.ts";
import { DEFAULT_LOG, type LogFileOptions } from "../../shared/runtime/log-file.ts";
import { makePrivate } from "../../shared/runtime/private-folder.ts";
import { createSetupCode } from "../dashboard/auth/setup-code.ts";
import { type Certificate, certificateWarning, readCertificate } from "../http/certificate.ts";
import { isLoopback } from "../http/network-address.ts";
import { defaultLimits, type Limits } from "../http/rate-limit/rate-limiter.ts";
import { isPostgresUrl, openStore } from "../store/database/open.ts";
import { WebhookDispatcher } from "../webhooks/dispatcher.ts";
import { backupSource } from "./backup-source.ts";
import { type DataOption, dataOption } from "./options.ts";
import { loadStorePepper, storeLocation } from "./with-store.ts";

/** Time for requests under way after the signal to stop; connections that are open then are closed. */
const CLOSE_WAIT_MS = 5000;
const DATA_FILES = [
  "vetwire.db",
  "vetwire.db-wal",
  "vetwire.db-shm",
  "vetwire.mark",
  "pepper",
  "setup-code",
  "lock.db",
  "backup.json",
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
  .option("--tls-cert <file>", "certificate chain in PEM: serve https; needs --tls-key")
  .option("--tls-key <file>", "private key of the certificate in PEM")
  .option(
    "--allow-private-webhooks",
    "send webhooks to receivers in the local network too, over plain http if their URL says so",
  )
  .option("--backup-dir <dir>", "make a backup there each day, best on another disk")
  .option("--backup-at <time>", "time of the backup on this machine's clock", parseTimeOfDay, DEFAULT_TIME)
  .option("--backup-keep <count>", "number of backups that stay", parsePositiveInteger, DEFAULT_KEEP)
  .option("--log-file <file>", "write the log there too; six files of 10 MB at most")
  .addOption(dataOption())
  .action(run);

interface RunOptions extends DataOption {
  readonly port: number;
  readonly host: string;
  readonly rateLimit: Partial<Limits>;
  readonly trustProxy: string[];
  readonly hideUnconnected?: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly allowPrivateWebhooks?: boolean;
  readonly backupDir?: string;
  readonly backupAt: string;
  readonly backupKeep: number;
  readonly logFile?: string;
}

async function run(options: RunOptions): Promise<void> {
  const { data, port, host, rateLimit, trustProxy, hideUnconnected = false, allowPrivateWebhooks = false } = options;
  const certificate = certificateOf(options);
  if (options.backupDir !== undefined) backupSource(data); // throws on PostgreSQL
  // A second line of defence: no log call of the server has headers.
  const redact = ["req.headers", "headers", "*.authorization", '*["x-api-key"]'];
  const logger = createLog({ redact }, { file: logFileOf(options) });
  const stopSignal = new Promise<string>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"]) process.once(name, resolve);
  });
  const rights = makePrivate(data, DATA_FILES);
  if (rights.tightened.length > 0) {
    logger.warn(
      { files: rights.tightened.length },
      "other users could read the data folder: the server closed it to them",
    );
  }
  for (const reason of rights.failed) logger.warn({ reason }, "other users can read the data folder");
  const location = storeLocation(data);
  if (!isPostgresUrl(location)) {
    settleRestore(data);
    lockFolder(data, `a restore is running with ${data}: wait for its end`, "shared");
  }
  const store = await openStore(location);
  if (store.loss !== null) logger.error(store.loss, lossSentence(store.loss));
  const pepper = await loadStorePepper(store, data);
  const limits = { ...defaultLimits, ...rateLimit };
  const setupCode = await createSetupCode(store, data);
  const concealUnconnected = hideUnconnected;
  // Loaded when it is needed: the help page and a wrong option appear at once.
  const { buildApp } = await import("../app.ts");
  const app = buildApp(store, {
    pepper,
    logger,
    limits,
    trustProxy,
    setupCode,
    concealUnconnected,
    certificate,
    allowPrivateWebhooks,
  });
  if (certificate !== undefined) watchCertificate(options, certificate, app, logger);

  try {
    const address = await app.listen({ port, host });
    logger.info(`listening on ${address}`);
    if (certificate === undefined && !isLoopback(host) && trustProxy.length === 0) {
      logger.warn(
        "this server speaks plain http beyond this machine: others in the network can read passwords and results. " +
          "Use --tls-cert and --tls-key, or a reverse proxy with --trust-proxy",
      );
    }
    if (setupCode !== undefined) {
      logger.info(
        `set up the dashboard at ${address}/dashboard with the code ${setupCode.code}, also in ${setupCode.file}`,
      );
    }
  } catch (error) {
    await store.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new Error(`port ${port} of ${host} is in use, choose another with --port`, { cause: error });
    }
    throw error;
  }

  const webhooks = new WebhookDispatcher(store, { logger, allowPrivate: allowPrivateWebhooks });
  webhooks.start();

  const backups = startBackups(options, logger);
  logger.info({ signal: await stopSignal }, "closing");
  await backups?.stop();
  setTimeout(() => app.server.closeAllConnections(), CLOSE_WAIT_MS).unref();
  await app.close();
  await webhooks.stop();
  await store.close();
}

function logFileOf({ logFile }: RunOptions): LogFileOptions | null {
  if (logFile === undefined) return null;
  return { file: path.resolve(logFile), bytesMax: DEFAULT_LOG.megabytes * 1e6, keep: DEFAULT_LOG.keep };
}

/** Starts the daily backups, if --backup-dir names a folder for them. */
function startBackups(options: RunOptions, logger: Logger): ScheduledBackups | undefined {
  const { data, backupDir, backupAt: at, backupKeep: keep } = options;
  if (backupDir === undefined) return undefined;
  return scheduleBackups(
    { folder: path.resolve(backupDir), at, keep },
    () => backupSource(data),
    (attempt) => {
      const { file, bytes, seconds, error } = attempt;
      if (error === null) logger.info({ file, bytes, seconds }, "a backup was made");
      else logger.error({ reason: error }, "the backup failed");
    },
  );
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
function watchCertificate(options: RunOptions, first: Certificate, { server }: FastifyInstance, logger: Logger): void {
  const warn = (certificate: Certificate) => {
    const warning = certificateWarning(certificate, Date.now());
    if (warning !== null) logger.warn(warning);
  };
  warn(first);
  process.on("SIGHUP", () => {
    try {
      const renewed = readCertificate(options.tlsCert ?? "", options.tlsKey ?? "");
      if (server instanceof TlsServer) server.setSecureContext(renewed);
      logger.info("the certificate was read again");
      warn(renewed);
    } catch (error) {
      logger.error({ reason: errorMessage(error) }, "the certificate cannot be read again: the last one stays in use");
    }
  });
}

function parseTimeOfDay(text: string): string {
  if (new RegExp(TIME_OF_DAY).test(text)) return text;
  throw new InvalidArgumentError("expected hours and minutes, such as 03:30");
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("expected 0 to 65535");
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
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  const bitsMax = version === 6 ? 128 : 32;
  const isRange = bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= bitsMax);
  if (version === 0 || !isRange || rest.length > 0) {
    throw new InvalidArgumentError("expected an address or a range, such as 127.0.0.1 or 10.0.0.0/8");
  }
  return [...proxies, text];
}
