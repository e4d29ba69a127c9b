import { isIP } from "node:net";
import { Command, InvalidArgumentError } from "commander";
import { lossSentence } from "../../shared/runtime/commit-mark.ts";
import { createLog } from "../../shared/runtime/log.ts";
import { makePrivate } from "../../shared/runtime/private-folder.ts";
import { buildApp } from "../app.ts";
import { createSetupCode } from "../dashboard/auth/setup-code.ts";
import { defaultLimits, type Limits } from "../http/rate-limit/rate-limiter.ts";
import { openStore } from "../store/database/open.ts";
import { type DataOption, dataOption } from "./options.ts";
import { loadStorePepper, storeLocation } from "./with-store.ts";

/** Time for requests under way after the signal to stop; connections that are open then are closed. */
const CLOSE_WAIT_MS = 5000;
const DATA_FILES = ["vetwire.db", "vetwire.db-wal", "vetwire.db-shm", "vetwire.mark", "pepper", "setup-code"];

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
  .addOption(dataOption())
  .action(run);

interface RunOptions extends DataOption {
  readonly port: number;
  readonly host: string;
  readonly rateLimit: Partial<Limits>;
  readonly trustProxy: string[];
  readonly hideUnconnected?: boolean;
}

async function run({ data, port, host, rateLimit, trustProxy, hideUnconnected = false }: RunOptions): Promise<void> {
  const logger = createLog({
    // A second line of defence: no log call of the server has headers.
    redact: ["req.headers", "headers", "*.authorization", '*["x-api-key"]'],
  });
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
  const store = await openStore(storeLocation(data));
  if (store.loss !== null) logger.error(store.loss, lossSentence(store.loss));
  const pepper = await loadStorePepper(store, data);
  const limits = { ...defaultLimits, ...rateLimit };
  const setupCode = await createSetupCode(store, data);
  const app = buildApp(store, { pepper, logger, limits, trustProxy, setupCode, concealUnconnected: hideUnconnected });

  try {
    const address = await app.listen({ port, host });
    logger.info(`listening on ${address}`);
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

  logger.info({ signal: await stopSignal }, "closing");
  setTimeout(() => app.server.closeAllConnections(), CLOSE_WAIT_MS).unref();
  await app.close();
  await store.close();
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
