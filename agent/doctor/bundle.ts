import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import { strToU8, zipSync } from "fflate";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { VERSION } from "../../shared/files/program-files.ts";
import type { Config, DeviceConfig } from "../config/values/schema.ts";
import { countImages } from "../imaging/catalogue.ts";
import { readSpool } from "../spool/access.ts";
import { readStatus } from "../spool/queries/status.ts";
import { parseAddress } from "../transport/address.ts";
import { isLoopback } from "../../shared/network/network-address.ts";
import { type DoctorContext, readFacts } from "./check/check.ts";
import type { TitledFinding } from "../page/types/doctor.ts";
import { createScrubber, type Scrubber } from "./scrub.ts";

// The file for the support: findings, configuration, versions, counts, last log lines. It has no name of a patient or an owner,
// no key, no number of a sample, no path, no id and no byte of a device. What is not known to be harmless is left out.

/** Bytes of the log's end. */
const LOG_BYTES = 256 * 1024;

export function makeBundle(context: DoctorContext, found: readonly TitledFinding[]): Uint8Array {
  const { config } = readFacts(context);
  const scrubber = createScrubber(config);
  const log = config === null ? [] : lastLines(config).flatMap((line) => scrubbedLine(line, scrubber));
  return zipSync({
    "findings.json": json(found.map((finding) => scrubbedFinding(finding, scrubber))),
    "configuration.json": json(config === null ? null : redacted(config, scrubber)),
    "versions.json": json(versions()),
    "counts.json": json(config === null ? null : counts(config, scrubber)),
    ...(log.length === 0 ? {} : { "log.ndjson": strToU8(log.map((line) => `${line}\n`).join("")) }),
  });
}

function json(value: unknown): Uint8Array {
  return strToU8(`${JSON.stringify(value, null, 2)}\n`);
}

/** Writes a new file that only this user can read. @throws if it exists */
export function writeBundle(file: string, bytes: Uint8Array): void {
  if (fs.existsSync(file)) throw new Error(`${file} exists already: name another file with --bundle`);
  fs.writeFileSync(file, bytes, { mode: 0o600, flag: "wx" });
}

function scrubbedFinding(
  { check, id, status, sentence, remedy, forSupport = sentence }: TitledFinding,
  scrubber: Scrubber,
) {
  const words = { sentence: scrubber.text(forSupport), remedy: remedy === null ? null : scrubber.text(remedy) };
  return { check, id, status, ...words };
}

function redacted(
  { server, proxy, noProxy, ca, timeZone, matchPatientsByName, status, devices, destinations, images }: Config,
  scrubber: Scrubber,
) {
  const { protocol, hostname, port } = new URL(server.url);
  return {
    server: { url: `${protocol}//${maskedHost(hostname)}${port === "" ? "" : `:${port}`}` },
    network: { proxy: proxy !== undefined, noProxy: noProxy?.length, ca: ca !== undefined },
    timeZone,
    matchPatientsByName,
    status,
    devices: devices.map((device) => redactedDevice(device, scrubber)),
    destinations: destinations.map(({ way }) => ({ way })),
    images,
  };
}

/** Free texts, files and AE titles become true, lists of them their length. */
function redactedDevice(device: DeviceConfig, scrubber: Scrubber) {
  const { id, profile, connection, timeZone, charset, ackMode, allow, matchBySampleId, quietSeconds, modality } =
    device;
  const { serial, listen, dial, replyConnection } = connection;
  return {
    id: scrubber.device(id),
    profile,
    serial: serial && { ...serial, path: maskedPort(serial.path) },
    listen: maskedAddress(listen),
    dial: maskedAddress(dial),
    replies: replyConnection && {
      listen: maskedAddress(replyConnection.listen),
      dial: maskedAddress(replyConnection.dial),
    },
    tls: device.tls && Object.keys(device.tls),
    allow: allow?.length,
    timeZone,
    charset,
    ackMode,
    matchBySampleId,
    quietSeconds,
    modality,
    codes: device.codes && Object.keys(device.codes).length,
    controls: device.controls?.length,
    has: (["model", "operatorListFile", "aeTitle", "callingAeTitles", "commitmentScp"] as const).filter(
      (key) => device[key] !== undefined,
    ),
  };
}

function maskedAddress(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const address = parseAddress(text);
  return address === null ? "<address>" : `${maskedHost(address.host)}:${address.port}`;
}

function maskedHost(host: string): string {
  return net.isIP(host.replace(/^\[(.*)\]$/, "$1")) !== 0 || isLoopback(host) ? host : "<name>";
}

function maskedPort(file: string): string {
  return /^(\/dev\/|COM\d)/.test(file) ? file : "<path>";
}

function versions() {
  const db = new Database(":memory:");
  const sqlite = db.prepare("SELECT sqlite_version()").pluck().get();
  db.close();
  const { platform, arch, version } = process;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { vetwire: VERSION, node: version, platform, arch, release: os.release(), sqlite, time_zone: timeZone };
}

function counts({ data }: Config, scrubber: Scrubber): object {
  try {
    const { status, images } = readSpool(data, (db) => ({ status: readStatus(db, data), images: countImages(db) }));
    const { running, devices, outbox, directory, clock } = status;
    return {
      running,
      devices: devices.map(({ id, state, since, last_message_at, last_bytes_at, counts: messages, counters }) => ({
        id: scrubber.device(id),
        state,
        since,
        last_message_at,
        last_bytes_at,
        messages,
        counters,
      })),
      outbox,
      directory,
      clock,
      images: images && { kept: images.kept, bytes: images.bytes, removed: images.removed },
      database_bytes: fs.statSync(path.join(data, "spool.db")).size,
    };
  } catch (error) {
    return { unreadable: error instanceof Error ? error.name : errorMessage(error) };
  }
}

/** Reads the end of the log file. Without one the service manager has the lines. */
function lastLines({ log }: Config): string[] {
  if (log === null || !fs.existsSync(log.file)) return [];
  return fs.readFileSync(log.file).subarray(-LOG_BYTES).toString().split("\n");
}

/** Keeps the harmless fields of a line. Another line, such as the first one that is cut, is left out. */
function scrubbedLine(line: string, scrubber: Scrubber): string[] {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return [];
  }
  const { time, level, stage, device, kind, msg } = fields;
  const word = (value: unknown) => (typeof value === "string" ? scrubber.strict(value) : undefined);
  const at =
    typeof time === "number" || (typeof time === "string" && !Number.isNaN(Date.parse(time))) ? time : undefined;
  const shown = { time: at, level: Number(level) || undefined, stage: word(stage), device: word(device) };
  return [JSON.stringify({ ...shown, kind: word(kind), msg: word(msg) })];
}
