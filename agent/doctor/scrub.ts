import net from "node:net";
import os from "node:os";
import type Database from "better-sqlite3";
import { currentProxy } from "../../shared/network/client.ts";
import type { PushedStudy } from "../../shared/api/study.ts";
import { urlOfDestination } from "../config/values/destination.ts";
import type { Config } from "../config/values/schema.ts";
import { readSpool } from "../spool/access.ts";
import { LOCAL_PATHS } from "../runtime/local-paths.ts";
import { isLoopback } from "../../shared/network/network-address.ts";
import { parseAddress } from "../transport/address.ts";

// Takes names, numbers of samples, keys and paths out of texts that leave the clinic.

/** Replaces what must not leave the clinic. `strict` also replaces every word that may be a name. */
export interface Scrubber {
  text(text: string): string;
  strict(text: string): string;
  /** Returns the name of a device by its place in the configuration. Its id may hold the name of a person. */
  device(id: string): string;
}

/** Min characters of a name that is searched. A shorter one would take letters out of every sentence. */
const NAME_CHARS_MIN = 2;
/** Words that may be the id of a device. */
const DEVICE_IDS = /[a-z0-9][a-z0-9-]*/g;
const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
/** Lowercase words, and the words of the protocols. */
const PLAIN = /^(?:[a-z]+|ASTM|HL7|DICOM|POCT1|TLS|HTTP|ACK|NAK|ENQ|EOT|MLLP|C|AE)$/;

/** Creates the scrubber for a configuration, and for the patients, owners and samples in its spool. */
export function createScrubber(config: Config | null): Scrubber {
  const names = config === null ? new Set<string>() : namesInSpool(config.data);
  const machine = new Set(machineWords(config).flatMap(wordsOf));
  const ids = (config?.devices ?? []).map(({ id }) => id);
  const device = (id: string) => `device-${ids.includes(id) ? ids.indexOf(id) + 1 : "removed"}`;
  const text = (given: string) =>
    given
      .replaceAll(DEVICE_IDS, (word) => (ids.includes(word) ? device(word) : word))
      .replaceAll(/sk_[a-z]+_\S+/g, "<key>")
      .replaceAll(LOCAL_PATHS, "<path>")
      .replaceAll(/"[^"]*"/g, '"<text>"')
      .replaceAll(/\d{6,}/g, "<number>")
      .replaceAll(WORDS, (word) => {
        const folded = fold(word);
        return names.has(folded) ? "<name>" : machine.has(folded) ? "<machine>" : word;
      });
  const places = new Set(ids.map((_, index) => String(index + 1)));
  return {
    text,
    strict: (given) => text(given).replaceAll(WORDS, (word) => (PLAIN.test(word) || places.has(word) ? word : "X")),
    device,
  };
}

function fold(word: string): string {
  return word.toLocaleLowerCase("tr");
}

/** The words of a name in both foldings: the dotted and the dotless i differ in Turkish alone. */
function wordsOf(text: string): string[] {
  const words = text.match(WORDS) ?? [];
  return words.filter(({ length }) => length >= NAME_CHARS_MIN).flatMap((word) => [fold(word), word.toLowerCase()]);
}

/** The user, the machine, and the hosts by name. A network address identifies nobody. */
function machineWords(config: Config | null): string[] {
  const own = [os.userInfo().username, os.hostname()].filter((name) => name !== "root" && name !== "localhost");
  if (config === null) return own;
  const hosts = [
    ...[config.server.url, ...config.destinations.map(urlOfDestination)].flatMap(hostsOnTheWay),
    ...config.devices.flatMap(({ connection: { dial } }) => parseAddress(dial ?? "")?.host ?? []),
  ];
  return [...own, ...hosts.filter((host) => net.isIP(host) === 0 && !isLoopback(host))];
}

/** The host of a target, and that of its proxy. */
function hostsOnTheWay(target: string | null): string[] {
  if (target === null) return [];
  const url = new URL(target);
  try {
    return [url.hostname, currentProxy(url)?.url.hostname ?? url.hostname];
  } catch {
    return [url.hostname]; // a wrong setting is shown nowhere
  }
}

function namesInSpool(data: string): Set<string> {
  try {
    return readSpool(
      data,
      (db) => new Set([...directoryTexts(db), ...registryTexts(db), ...studyTexts(db)].flatMap(wordsOf)),
    );
  } catch {
    return new Set(); // without a spool there are no names
  }
}

function directoryTexts(db: Database.Database): string[] {
  const identifiers = db.prepare("SELECT identifier FROM identifier").pluck().all() as string[];
  const accessions = db.prepare("SELECT accession FROM test_order").pluck().all() as string[];
  const patients = db.prepare("SELECT body FROM patient").pluck().all() as string[];
  const names = patients.flatMap((body) => textsUnder(JSON.parse(body) as unknown, /name|owner|external_ids/));
  return [...identifiers, ...accessions, ...names];
}

/** The animals and owners that practice software sent. */
function registryTexts(db: Database.Database): string[] {
  const bodies = db.prepare("SELECT body FROM registry_change").pluck().all() as string[];
  return bodies.flatMap((body) => textsUnder(JSON.parse(body) as unknown, /./));
}

function studyTexts(db: Database.Database): string[] {
  const bodies = db.prepare("SELECT body FROM study").pluck().all() as string[];
  return bodies.flatMap((body) => {
    const { patient_hint: hint, source } = JSON.parse(body) as PushedStudy;
    const { identifier, name, owner, other = [] } = hint;
    const texts = other.map(({ text }) => text);
    return [identifier, name, owner, ...texts, ...(source.sample_ids ?? [])].filter((text) => text !== null);
  });
}

/** Returns the texts under the keys that match, at any depth. */
function textsUnder(value: unknown, key: RegExp, isUnder = false): string[] {
  if (typeof value === "string") return isUnder ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => textsUnder(inner, key, isUnder || key.test(name)));
}
