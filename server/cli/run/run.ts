import { Command, InvalidArgumentError } from "commander";
import type { Logger } from "pino";
import { isAddressRange } from "../../../shared/network/network-address.ts";
import type { Certificate } from "../../http/certificate.ts";
import type { Limits } from "../../http/rate-limit/rate-limiter.ts";
import type { MetricsAddress } from "../../operations/metrics-server.ts";
import { type DataOption, dataOption } from "../common/options.ts";
import { parseFeedUrl, readPublicKey } from "../common/release-options.ts";
import { storeLocation } from "../common/with-store.ts";
import { type AlertOptions, dashboardOf, mailServerOf, withAlertOptions } from "./alert-options.ts";
import { type CareOptions, careOptions, logFileOf, startBackups } from "./care-options.ts";
import { collectorOf } from "./collector.ts";
import { type OidcOptions, singleSignOnOf, withOidcOptions } from "./oidc-options.ts";

// The options of `run`. server.ts carries them out.

/** With the time for requests under way it stays below the 25 s after which service managers kill the process. */
const DRAIN_S_MAX = 15;

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
  .option("--operator-console", "serve /operator to operators, of operators add or of --oidc-roles (off by default)")
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
    "--fetch-releases <url>",
    "look each day for a new release of the agent at this address of latest.json (off by default)",
    parseFeedUrl,
  )
  .option(
    "--drain-seconds <seconds>",
    `serve that long after the signal to stop, while /readyz responds 503; at most ${DRAIN_S_MAX}`,
    parseDrain,
    0,
  )
  .addOption(dataOption())
  .action(run);
for (const option of careOptions()) runCommand.addOption(option);
withAlertOptions(runCommand);
withOidcOptions(runCommand);

interface RunOptions extends DataOption, AlertOptions, CareOptions, OidcOptions {
  readonly port: number;
  readonly host: string;
  readonly rateLimit: Partial<Limits>;
  readonly trustProxy: string[];
  readonly hideUnconnected?: boolean;
  readonly maxClinicStudies?: number;
  readonly operatorConsole?: boolean;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly allowPrivateWebhooks?: boolean;
  readonly metrics?: MetricsAddress;
  readonly fetchReleases?: URL;
  readonly drainSeconds: number;
}

async function run(options: RunOptions): Promise<void> {
  const { data } = options;
  const readCertificate = await certificateReader(options);
  const settings = {
    ...{ data, port: options.port, host: options.host, limits: options.rateLimit, trustProxy: options.trustProxy },
    concealUnconnected: options.hideUnconnected ?? false,
    clinicStudiesMax: options.maxClinicStudies ?? null,
    hasConsole: options.operatorConsole ?? false,
    allowPrivateWebhooks: options.allowPrivateWebhooks ?? false,
    readCertificate,
    mailServer: mailServerOf(options),
    singleSignOn: await singleSignOnOf(options),
    dashboard: dashboardOf(options),
    metrics: options.metrics ?? null,
    spansTo: collectorOf(process.env),
    releases: options.fetchReleases ? { from: options.fetchReleases, publicKey: readPublicKey(undefined) } : null,
    drainSeconds: options.drainSeconds,
    logFile: logFileOf(options),
    fixedBy: ["host", "tlsCert", "trustProxy"].flatMap(givenOption),
    location: () => storeLocation(data),
    startBackups: (logger: Logger) => startBackups(options, logger) ?? null,
  };
  // Loaded here, so that the help page and a wrong option appear immediately.
  const { runServer } = await import("../../server.ts");
  await runServer(settings);
}

/** The option of the command line, or of the service's file, as it was given; nothing for a default. */
function givenOption(name: string): string[] {
  const option = runCommand.options.find((each) => each.attributeName() === name);
  return runCommand.getOptionValueSource(name) === "cli" ? [option?.long ?? name] : [];
}

/** Returns what reads the certificate of the options; null without one. @throws Error for one option without the other */
async function certificateReader({ tlsCert, tlsKey }: RunOptions): Promise<(() => Certificate) | null> {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new Error("expected both --tls-cert and --tls-key, or neither");
  }
  const { readCertificate } = await import("../../http/certificate.ts");
  return () => readCertificate(tlsCert, tlsKey);
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
