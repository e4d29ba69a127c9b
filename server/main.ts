import "../shared/runtime/node-version.ts";
import { closeSync, createWriteStream, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { pipeline } from "node:stream/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { Presets, SingleBar } from "cli-progress";
import { rangeText } from "../shared/clinical/clinic-ranges.ts";
import { readInstant } from "../shared/api/timestamp.ts";
import { createLog } from "../shared/runtime/log.ts";
import { printable, printableJson, printableLines } from "../shared/runtime/printable.ts";
import { makePrivate } from "../shared/runtime/private-folder.ts";
import { VERSION } from "../shared/runtime/version.ts";
import { buildApp } from "./app.ts";
import { type AuditFormat, auditFormats, auditLines } from "./cli/audit-log.ts";
import { createKey, type Permission, permissions, rollKey } from "./http/api-keys.ts";
import { addDeskCommands } from "./cli/unmatched.ts";
import { fpOption } from "./cli/fp-option.ts";
import { loadPepper } from "./http/pepper.ts";
import { ImportError, importFile, type Progress } from "./import/importer.ts";
import { defaultLimits, type Limits } from "./http/rate-limiter.ts";
import { readRanges } from "./import/clinic-ranges.ts";
import { requireRegularFile } from "./cli/regular-file.ts";
import { listRows } from "./store/audit.ts";
import { countUnmatched, exportEntities } from "./import/export.ts";
import {
  countKeys,
  findClinic,
  findKeyById,
  type KeyDescription,
  type KeyType,
  listKeys,
  revokeKey,
} from "./store/keys.ts";
import type { Session } from "./store/query.ts";
import { currentRanges, replaceRanges } from "./store/ranges.ts";
import { isPostgresUrl, openExistingStore, openStore } from "./store/open.ts";
import type { Store } from "./store/types.ts";

// The server's command line (house, section 5): builds and closes everything, and alone reads the environment.

interface Data {
  data: string;
}

interface RunOptions extends Data {
  port: number;
  host: string;
  limit: Partial<Limits>;
  trustProxy: string[];
  concealUnconnected?: boolean;
}

async function run({ data, port, host, limit, trustProxy, concealUnconnected = false }: RunOptions): Promise<void> {
  const logger = createLog({
    // A belt: nothing of ours logs headers.
    redact: ["req.headers", "headers", "*.authorization", '*["x-api-key"]'],
  });
  const stopSignal = new Promise<string>((resolve) => {
    for (const name of ["SIGINT", "SIGTERM"]) process.once(name, resolve);
  });
  const rights = makePrivate(data, DATA_FILES);
  if (rights.tightened.length > 0) {
    logger.warn({ files: rights.tightened.length }, "other users could read the data folder: not any more");
  }
  for (const reason of rights.failed) logger.warn({ reason }, "other users can read the data folder");
  const store = await openStore(placeOf(data));
  const pepper = await pepperOf(store, data);
  const limits = { ...defaultLimits, ...limit };
  const app = buildApp(store, { pepper, logger, limits, trustProxy, concealUnconnected });

  try {
    logger.info(`listening on ${await app.listen({ port, host })}`);
  } catch (error) {
    await store.close();
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new Error(`port ${port} of ${host} is in use, choose another with --port`, { cause: error });
    }
    throw error;
  }

  logger.info({ signal: await stopSignal }, "closing");
  // Requests under way are answered; one that hangs does not hold us.
  setTimeout(() => app.server.closeAllConnections(), CLOSE_WAIT_MS).unref();
  await app.close();
  await store.close();
}

const CLOSE_WAIT_MS = 5000;
const DATA_FILES = ["vetwire.db", "vetwire.db-wal", "vetwire.db-shm", "pepper"];

async function importCommand(path: string, { data, owner }: Data & { owner?: string }): Promise<void> {
  await withMadeStore(data, async (store) => {
    const ownerId = owner === undefined ? null : await clinicIdOf(store, owner);
    const bar = progressBar();
    try {
      const result = await importFile(store, path, bar.progress, Date.now, ownerId);
      bar.stop();
      const { shown: warnings = [], total = 0 } = result.warnings ?? {};
      for (const warning of warnings) warn(`warning: ${warning}`);
      if (total > warnings.length) warn(`and ${total - warnings.length} more warnings`);
      const counts = `${result.new} new, ${result.changed} changed, ${result.unchanged} unchanged`;
      say(`${path}: ${counts}${total === 0 ? "" : `, ${total} ${total === 1 ? "warning" : "warnings"}`}`);
    } catch (error) {
      bar.stop();
      if (!(error instanceof ImportError)) throw error;
      for (const { line, problem } of error.problems) warn(`line ${line}: ${problem}`);
      const more = error.total - error.problems.length;
      if (more > 0) warn(`and ${more} more`);
      throw new Error(`${path}: ${error.message}`, { cause: error });
    }
  });
}

async function exportCommand(path: string | undefined, { data }: Data): Promise<void> {
  // Under another name until it is whole: half an export must not be taken for one.
  const draft = `${path}.part`;
  if (path !== undefined) for (const file of [path, draft]) requireRegularFile(file);
  await withStore(data, (store) =>
    store.snapshot(async (session) => {
      await pipeline(inPieces(exportLines(session)), path === undefined ? process.stdout : createWriteStream(draft));
      if (path !== undefined) renameSync(draft, path);
      const unmatched = await countUnmatched(session);
      if (unmatched > 0) warn(`${unmatched} unmatched studies stay here, an import file has no line for them`);
    }),
  );
}

async function* exportLines(session: Session): AsyncGenerator<string> {
  for await (const entity of exportEntities(session)) yield `${JSON.stringify(entity)}\n`;
}

/** Lines in pieces of many, since a write to a file costs more than a line. */
async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = "";
  for await (const line of lines) {
    piece += line;
    if (piece.length < PIECE_LETTERS) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

const PIECE_LETTERS = 65_536;

async function importRangesCommand(
  path: string,
  { data, clinic, lowQuality = false }: Data & { clinic: string; lowQuality?: boolean },
): Promise<void> {
  const read = readRanges(readFileSync(path, "utf8"));
  if ("problems" in read) {
    for (const problem of read.problems) warn(problem);
    throw new Error(`${path}: ${read.problems.length} problems, nothing was imported`);
  }
  await withStore(data, async (store) => {
    const clinicId = await clinicIdOf(store, clinic);
    const content = { low_quality: lowQuality, rows: read.rows };
    const replaced = await store.transaction((session) => replaceRanges(session, clinicId, content, Date.now()));
    const what = replaced === null ? "unchanged" : `version ${replaced.version}`;
    say(`${path}: ${read.rows.length} rows, ${what}`);
  });
}

async function listRangesCommand({ data, clinic, json }: Data & { clinic: string; json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const ranges = await currentRanges(store, await clinicIdOf(store, clinic));
    if (json) return sayJson(ranges ?? null);
    if (ranges === undefined) return warn("the clinic has no intervals of its own");
    for (const row of ranges.rows) say(rangeText(row));
    const published = ranges.low_quality ? ", beside published ones of quality C and D" : "";
    warn(`version ${ranges.version}, ${ranges.rows.length} rows${published}`);
  });
}

async function exportRangesCommand(
  path: string | undefined,
  { data, clinic }: Data & { clinic: string },
): Promise<void> {
  await withStore(data, async (store) => {
    const ranges = await currentRanges(store, await clinicIdOf(store, clinic));
    const text = (ranges?.rows ?? []).map((row) => `${JSON.stringify(row)}\n`).join("");
    if (path === undefined) process.stdout.write(text);
    else writeFileSync(path, text);
  });
}

interface AuditOptions extends Data {
  since?: number;
  until?: number;
  clinic?: string;
  key?: string;
  format: AuditFormat;
}

async function auditCommand({ data, clinic, key, since, until, format }: AuditOptions): Promise<void> {
  await withStore(data, async (store) => {
    const rows = listRows(store, {
      since: since ?? 0,
      until: until ?? Number.MAX_SAFE_INTEGER,
      ...(clinic !== undefined && { clinicId: await clinicIdOf(store, clinic) }),
      ...(key !== undefined && { keyId: await keyIdOf(store, key) }),
    });
    await pipeline(inPieces(auditLines(rows, format)), process.stdout);
  });
}

interface KeyOptions extends Data {
  out?: string;
  clinic: string;
  name: string;
  permissions: Permission[];
  type: KeyType;
  expires?: number;
}

async function createKeyCommand({ data, clinic, expires, out, ...described }: KeyOptions): Promise<void> {
  await withMadeStore(data, async (store) => {
    const clinicId = await clinicIdOf(store, clinic);
    const now = Date.now();
    const expiresAt = expires === undefined ? null : now + expires;
    const make = async () => createKey(store, await pepperOf(store, data), { ...described, clinicId, now, expiresAt });
    if (out === undefined) return say(await make());
    // Before the key: one that cannot be written down is not made.
    const file = openSync(out, "wx", 0o600);
    try {
      writeFileSync(file, `${await make()}\n`);
    } catch (error) {
      rmSync(out);
      throw error;
    } finally {
      closeSync(file);
    }
    warn(`the key is in ${out}, which its owner alone can read`);
  });
}

async function listKeysCommand({ data, clinic, json }: Data & { clinic: string; json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const keys = await listKeys(store, await clinicIdOf(store, clinic));
    if (json) sayJson(keys);
    else for (const key of keys) say(describeKey(key));
  });
}

async function revokeKeyCommand(id: string, { data }: Data): Promise<void> {
  await withStore(data, async (store) => {
    const found = await store.transaction((session) => revokeKey(session, id, Date.now()));
    if (!found) throw new Error(`key ${id} does not exist, expected an id that keys list shows`);
    say(`${id} is revoked`);
  });
}

interface RollOptions extends Data {
  grace: number;
  expires?: number;
}

async function rollKeyCommand(publicId: string, { data, grace, expires }: RollOptions): Promise<void> {
  await withStore(data, async (store) => {
    const now = Date.now();
    const rolled = await rollKey(store, await pepperOf(store, data), {
      publicId,
      graceMs: grace,
      now,
      ...(expires !== undefined && { expiresAt: now + expires }),
    });
    say(rolled.key);
    // Beside the key, which a script reads: when a person has to be done.
    const until = rolled.expiresAt === null ? "never expires" : `expires ${new Date(rolled.expiresAt).toISOString()}`;
    warn(`${publicId} expires ${new Date(rolled.oldExpiresAt).toISOString()}, the new key ${until}`);
  });
}

function describeKey(key: KeyDescription): string {
  const used = key.last_used_at ? `last used ${key.last_used_at}` : "never used";
  return [key.id, key.key, key.type, stateOf(key), used, key.permissions.join(","), key.name].join("  ");
}

function stateOf({ revoked_at, expires_at }: KeyDescription): string {
  if (revoked_at !== null) return `revoked ${revoked_at}`;
  if (expires_at === null) return "active";
  return Date.parse(expires_at) > Date.now() ? `expires ${expires_at}` : `expired ${expires_at}`;
}

async function clinicIdOf(store: Store, fp: string): Promise<number> {
  const clinic = await findClinic(store, fp);
  if (clinic === undefined) throw new Error(`clinic ${fp} does not exist, expected the fp of an imported clinic`);
  return clinic.id;
}

async function keyIdOf(store: Store, publicId: string): Promise<number> {
  const key = await findKeyById(store, publicId);
  if (key === undefined) throw new Error(`key ${publicId} does not exist, expected an id that keys list shows`);
  return key.id;
}

/** For a command that reads or changes what is there. @throws when there is no database */
async function withStore(data: string, work: (store: Store) => Promise<void>): Promise<void> {
  await withOpened(await openExistingStore(placeOf(data)), work);
}

/** For a command that begins a database where there is none. */
async function withMadeStore(data: string, work: (store: Store) => Promise<void>): Promise<void> {
  await withOpened(await openStore(placeOf(data)), work);
}

async function withOpened(store: Store, work: (store: Store) => Promise<void>): Promise<void> {
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

/** The PostgreSQL of DATABASE_URL, else the SQLite of the data folder. The pepper is in the folder either way. */
function placeOf(data: string): string {
  const url = process.env["DATABASE_URL"];
  if (url === undefined) return data;
  if (!isPostgresUrl(url)) throw new Error("DATABASE_URL is no postgres:// URL: mend it, or unset it to use SQLite");
  return url;
}

async function pepperOf(store: Store, data: string): Promise<Buffer> {
  return loadPepper(data, (await countKeys(store)) > 0);
}

/** A bar where a person looks on, a line for every tenth elsewhere. */
function progressBar(): { progress: Progress; stop: () => void } {
  if (process.stderr.isTTY) {
    const format = "{bar} {percentage}%  {rate} MB/s  {eta_formatted} left";
    const bar = new SingleBar({ stream: process.stderr, format }, Presets.shades_classic);
    const begun = performance.now();
    let started = false;
    return {
      progress(read, total) {
        const rate = (read / 1000 / Math.max(1, performance.now() - begun)).toFixed(1);
        if (started) bar.update(read, { rate });
        else bar.start(total, read, { rate });
        started = true;
      },
      stop: () => bar.stop(),
    };
  }
  let tenth = 0;
  return {
    progress(read, total) {
      const reached = Math.floor((10 * read) / total);
      if (reached > tenth) warn(`${10 * reached} %`);
      tenth = Math.max(tenth, reached);
    },
    stop: () => undefined,
  };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("expected 0 to 65535");
}

function parsePermissions(text: string): Permission[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.filter((name) => !permissions.some((permission) => permission === name));
  if (unknown.length > 0) {
    throw new InvalidArgumentError(`${unknown.join(", ")} unknown, expected some of ${permissions.join(", ")}`);
  }
  return names as Permission[];
}

/** `device=120/3000`: requests a minute and an hour of the keys of a type, or of all agents with `ingest`; `address=600`: a minute, without a valid key. */
function parseLimit(text: string, limits: Partial<Limits>): Partial<Limits> {
  const [, type, minute, hour] =
    /^(integration|device|partner|ingest)=([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text) ?? [];
  if (type !== undefined) return { ...limits, [type]: { minute: Number(minute), hour: Number(hour) } };
  const [, address] = /^address=([1-9]\d{0,8})$/.exec(text) ?? [];
  if (address === undefined) throw new InvalidArgumentError("expected such as device=120/3000, or address=600");
  return { ...limits, addressMinute: Number(address) };
}

/** An address, or a range of them such as 10.0.0.0/8. */
function parseRange(text: string, ranges: string[]): string[] {
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  const bitsMax = version === 6 ? 128 : 32;
  const isRange = bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= bitsMax);
  if (version === 0 || !isRange || rest.length > 0) {
    throw new InvalidArgumentError("expected an address or a range, such as 127.0.0.1 or 10.0.0.0/8");
  }
  return [...ranges, text];
}

const HOUR_MS = 3_600_000;

function parsePeriod(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})(h|d)$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError("expected hours or days, such as 12h or 90d");
  return Number(count) * (unit === "d" ? 24 * HOUR_MS : HOUR_MS);
}

/** A period up to now, or an instant; milliseconds since 1970. */
function parseTime(text: string): number {
  if (/^\d+[hd]$/.test(text)) return Date.now() - parsePeriod(text);
  const instant = readInstant(text);
  if (instant !== null) return instant;
  throw new InvalidArgumentError("expected hours or days ago, such as 24h, or a time such as 2026-11-21T09:30:00Z");
}

/** Prints one line. */
function say(line: string): void {
  process.stdout.write(`${printable(line)}\n`);
}

function sayJson(value: unknown): void {
  process.stdout.write(`${printableJson(value)}\n`);
}

function warn(text: string): void {
  process.stderr.write(`${printableLines(text)}\n`);
}

const dataOption = () => new Option("--data <dir>", "data folder").default("./data/server");

const program = new Command("server").description("Vetwire server: the read API and what feeds it").version(VERSION);

program
  .command("run")
  .description("serve the API")
  .option("--port <port>", "port, 0 for any free one", parsePort, 8080)
  .option("--host <host>", "address to listen on", "127.0.0.1")
  .option(
    "--limit <type=minute/hour>",
    "requests of each key of a type; repeatable (device=120/3000, address=600)",
    parseLimit,
    {},
  )
  .option(
    "--trust-proxy <address>",
    "a reverse proxy, or a range of them (10.0.0.0/8), whose X-Forwarded-For names the client; repeatable",
    parseRange,
    [],
  )
  .option(
    "--conceal-unconnected",
    "answer 404 in place of 403 for records of patients that the clinic is not connected to",
  )
  .addOption(dataOption())
  .action(run);

program
  .command("import <file>")
  .description("import an NDJSON file, all or nothing; card numbers on several patients of a clinic are warned of")
  .option("--owner <fp>", "the clinic whose SOAP records the file may give to another clinic")
  .addOption(dataOption())
  .action(importCommand);

program
  .command("export [file]")
  .description("write all entities as an NDJSON file that import takes, or to stdout")
  .addOption(dataOption())
  .action(exportCommand);

program
  .command("audit")
  .description("print who asked for what, oldest first")
  .option("--since <time>", "from then on, such as 24h ago or 2026-11-21T09:30:00Z", parseTime)
  .option("--until <time>", "before then", parseTime)
  .option("--clinic <fp>", "with the keys of a clinic", fpOption("clinic"))
  .addOption(new Option("--key <id>", "with a key").conflicts("clinic"))
  .addOption(new Option("--format <format>", "how to write it").choices(auditFormats).default("text"))
  .addOption(dataOption())
  .action(auditCommand);

const ranges = program.command("ranges").description("reference intervals of a clinic's own");

ranges
  .command("import <file>")
  .description("put an NDJSON file's rows in the place of all that the clinic has")
  .requiredOption("--clinic <fp>", "whose they are", fpOption("clinic"))
  .option("--low-quality", "let published intervals of quality C and D hold too")
  .addOption(dataOption())
  .action(importRangesCommand);

ranges
  .command("list")
  .description("list the rows in use and their version")
  .requiredOption("--clinic <fp>", "whose they are", fpOption("clinic"))
  .option("--json", "as JSON")
  .addOption(dataOption())
  .action(listRangesCommand);

ranges
  .command("export [file]")
  .description("write the rows as a file that import takes, or to stdout")
  .requiredOption("--clinic <fp>", "whose they are", fpOption("clinic"))
  .addOption(dataOption())
  .action(exportRangesCommand);

addDeskCommands(program, { withStore, say, sayJson, warn, dataOption, clinicIdOf });

const keys = program.command("keys").description("API keys of the clinics");

keys
  .command("create")
  .description("make a key and print it, once")
  .requiredOption("--clinic <fp>", "clinic of the key", fpOption("clinic"))
  .requiredOption("--name <name>", "what the key is for")
  .requiredOption("--permissions <list>", `some of ${permissions.join(", ")}`, parsePermissions)
  .addOption(
    new Option("--type <type>", "who holds it").choices(["integration", "device", "partner"]).default("integration"),
  )
  .option("--expires <period>", "such as 90d", parsePeriod)
  .option(
    "--out <file>",
    "write the key there, for its owner alone to read, in place of printing it; the file must be new",
  )
  .addOption(dataOption())
  .action(createKeyCommand);

keys
  .command("list")
  .description("list a clinic's keys")
  .requiredOption("--clinic <fp>", "clinic of the keys", fpOption("clinic"))
  .option("--json", "as JSON")
  .addOption(dataOption())
  .action(listKeysCommand);

keys.command("revoke <id>").description("revoke a key at once").addOption(dataOption()).action(revokeKeyCommand);

keys
  .command("roll <id>")
  .description("make a key that replaces one, and print it, once; the old one ends after the grace")
  .requiredOption("--grace <period>", "how long the old key goes on, such as 24h", parsePeriod)
  .option("--expires <period>", "of the new key; else it ends when the old one was to end", parsePeriod)
  .addOption(dataOption())
  .action(rollKeyCommand);

try {
  await program.parseAsync();
} catch (error) {
  // `audit | head` has seen enough.
  if ((error as NodeJS.ErrnoException).code !== "EPIPE") {
    warn((error as Error).message);
    process.exitCode = 1;
  }
}
