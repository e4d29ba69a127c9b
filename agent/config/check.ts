import path from "node:path";
import type { Static, TSchema } from "typebox";
import { type Document, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument, visit } from "yaml";
import { OwnProfiles } from "../devices/own/own-profiles.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { faults, shown } from "../../shared/schema/problems.ts";
import { DEFAULT_KEEP, DEFAULT_TIME } from "../../shared/platform/care/schedule.ts";
import type { Encryption, ObjectTarget } from "../imaging/archive/s3/object-target.ts";
import { DEFAULT_LOG } from "../../shared/log/log-file.ts";
import { parseAddress } from "../transport/address.ts";
import type { Destination } from "./values/destination.ts";
import type { ImageLimits } from "./values/image-limits.ts";
import { asResultDestination } from "./values/read-result-destination.ts";
import { furtherProblems } from "./further-problems.ts";
import { lineAt } from "../runtime/yaml-lines.ts";
import { type LocatedProblem, locate } from "./line-numbers.ts";
import { profileFaults } from "./profile-faults.ts";
import { resolveNetworkFiles } from "./network.ts";
import {
  type BackupSchema,
  type BucketSchema,
  type DestinationSchema,
  type ImagesSchema,
  type Config,
  type ConfigFile,
  ConfigSchema,
  type LogSchema,
} from "./values/schema.ts";
import { resolveTlsFiles } from "./values/tls-files.ts";

// Checks agent.yaml. The schema is the type and most of the checks. A run finds all problems, each with its line.

export interface ConfigProblem extends LocatedProblem {
  readonly line: number;
}

/** The configuration, or all its problems in the order of their lines. */
export type ConfigResult = { readonly config: Config } | { readonly problems: readonly ConfigProblem[] };

const validator = compileLater(ConfigSchema);

/** Checks the text of a configuration. Relative paths in it start at `folder`. */
export function checkConfig(text: string, folder: string): ConfigResult {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: (one, other) => keyText(one) === keyText(other),
  });
  const found: ConfigProblem[] = document.errors.map(({ pos, message }) => ({
    line: lines.linePos(pos[0]).line,
    steps: [],
    message,
    code: "SYNTAX",
  }));
  found.push(...lostCharacters(document, lines));
  if (found.length > 0) return { problems: found };

  keepKeysAsWritten(document);
  const { status, devices, destinations } = ConfigSchema.properties;
  for (const [name, schema] of Object.entries({ status, devices, destinations })) {
    keepTextAsWritten(document.get(name), schema);
  }
  const values = valuesOf(document);
  if (values === null) return { problems: [{ line: 1, steps: [], message: TOO_MANY_ALIASES }] };
  const { raw, ignored } = withoutIgnored(values.root);
  const lineOf = (steps: readonly string[]) => lineAt(document.contents, steps, lines);
  const own = new OwnProfiles(path.resolve(folder, dataOf(raw)));
  const located = (problem: LocatedProblem) => ({ line: lineOf(problem.steps), ...problem });
  found.push(...[...faults(validator, raw).map(locate), ...furtherProblems(raw, folder, own)].map(located));
  if (found.length > 0) return { problems: found.toSorted((a, b) => a.line - b.line) };

  const valid = raw as ConfigFile;
  const inFolder = (name: string) => path.resolve(folder, name);
  return {
    config: {
      ...valid,
      ...resolveNetworkFiles(valid, folder),
      data: inFolder(valid.data),
      server: { ...valid.server, keyFile: inFolder(valid.server.keyFile) },
      devices: valid.devices.map((device) => ({
        ...device,
        ...(device.tls === undefined ? {} : { tls: resolveTlsFiles(folder, device.tls) }),
        ...(device.operatorListFile === undefined ? {} : { operatorListFile: inFolder(device.operatorListFile) }),
      })),
      status: valid.status === undefined ? null : parseAddress(valid.status.listen),
      destinations: (valid.destinations ?? [])
        .filter(({ kind }) => kind === undefined)
        .map((destination) => asDestination(destination, inFolder)),
      resultDestinations: (valid.destinations ?? [])
        .filter(({ kind }) => kind !== undefined)
        .map((destination) => asResultDestination(destination, inFolder)),
      images: asLimits(valid.images ?? {}),
      backup: valid.backup === undefined ? null : asSchedule(valid.backup, inFolder),
      log: valid.log === undefined ? null : asLogFile(valid.log, inFolder),
      ignored,
      profileFaults: profileFaults(valid.devices, own).map(located),
    },
  };
}

/** The data folder as written; empty if it is not a text. */
function dataOf(raw: unknown): string {
  const data = typeof raw === "object" && raw !== null && "data" in raw ? raw.data : "";
  return typeof data === "string" ? data : "";
}

/**
 * Finds the texts that lost a character because the file is not UTF-8: a folder of that name is another one. Comments may lose some.
 * A text with NUL ends there for the system.
 */
function lostCharacters(document: Document, lines: LineCounter): ConfigProblem[] {
  const found: ConfigProblem[] = [];
  visit(document, {
    Scalar: (_, { value, range }) => {
      if (typeof value !== "string" || !/[\0\ufffd]/.test(value)) return;
      const line = range == null ? 1 : lines.linePos(range[0]).line;
      const message = value.includes("\0")
        ? `${shown(value)} has a character of code 0, which no name of a file can have`
        : `"${value}" is not UTF-8, expected the file in UTF-8: save it so, or as "Unicode"`;
      found.push({ line, steps: [], message });
    },
  });
  return found;
}

const TOO_MANY_ALIASES = "the file repeats parts by aliases (*name) too often, expected each device written out";

/** Reads the values. @returns null if aliases repeat so much that a few lines would fill the memory */
function valuesOf(document: Document): { readonly root: unknown } | null {
  try {
    return { root: document.toJS() };
  } catch (error) {
    // The library knows no other error of this step.
    if (error instanceof ReferenceError) return null;
    throw error;
  }
}

/** Takes out what earlier versions read, so that an upgrade does not stop the agent of an unattended PC. */
function withoutIgnored(root: unknown): { readonly raw: unknown; readonly ignored: string[] } {
  if (typeof root !== "object" || root === null || !("alerts" in root)) return { raw: root, ignored: [] };
  const { alerts: _, ...raw } = root;
  return { raw, ignored: ["alerts has no effect, because the server sends the alerts"] };
}

/** Makes every key a text. YAML reads the device's code 0413 as the number 413. */
function keepKeysAsWritten(document: Document.Parsed): void {
  visit(document, {
    Pair(_, { key }) {
      if (isScalar(key)) key.value = keyText(key as ParsedNode);
    },
  });
}

interface TextSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
}

/** Makes a number a text where the schema expects text. YAML reads the port of `listen: 4003` and the title 4711 as numbers. */
function keepTextAsWritten(node: unknown, schema: TSchema): void {
  const { type, properties = {}, items = {} } = schema as TextSchema;
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : "";
      if (Object.hasOwn(properties, name)) keepTextAsWritten(value, properties[name]!);
    }
  } else if (isSeq(node)) for (const item of node.items) keepTextAsWritten(item, items);
  else if (isScalar(node) && type === "string" && typeof node.value === "number")
    node.value = node.source ?? String(node.value);
}

function keyText(key: ParsedNode): unknown {
  if (!isScalar(key)) return key;
  return typeof key.value === "string" ? key.value : (key.source ?? key.value);
}

function asLimits({ retainDays, maxGigabytes, minFreeGigabytes }: Static<typeof ImagesSchema>): ImageLimits {
  return {
    keepMs: retainDays === undefined ? null : retainDays * 24 * 60 * 60_000,
    bytesMax: maxGigabytes === undefined ? null : maxGigabytes * 1e9,
    freeBytes: minFreeGigabytes === undefined ? null : minFreeGigabytes * 1e9,
  };
}

function asSchedule(
  { folder, at = DEFAULT_TIME, keep = DEFAULT_KEEP, images = false }: Static<typeof BackupSchema>,
  inFolder: (name: string) => string,
): Config["backup"] {
  return { folder: inFolder(folder), at, keep, images };
}

function asLogFile(
  { file, maxMegabytes = DEFAULT_LOG.megabytes, keep = DEFAULT_LOG.keep }: Static<typeof LogSchema>,
  inFolder: (name: string) => string,
): Config["log"] {
  return { file: inFolder(file), bytesMax: maxMegabytes * 1e6, keep };
}

function asDestination(
  { id, dial, aeTitle = "", callingAeTitle = "VETWIRE", stow, authorizationFile, s3 }: Static<typeof DestinationSchema>,
  inFolder: (name: string) => string,
): Destination {
  if (stow !== undefined) {
    const file = authorizationFile === undefined ? null : inFolder(authorizationFile);
    return { id, way: "stow", url: stow, authorizationFile: file };
  }
  if (s3 !== undefined) return { id, way: "s3", ...asBucket(s3, inFolder) };
  const address = parseAddress(dial ?? "");
  if (address === null) throw new Error("destination without an address: expected a checked configuration");
  return { id, way: "store", address, aeTitle, callingAeTitle };
}

function asBucket(
  {
    region = "us-east-1",
    prefix = "",
    secretFile,
    encryption,
    kmsKeyId,
    pathStyle = true,
    ca,
    ...bucket
  }: Static<typeof BucketSchema>,
  inFolder: (name: string) => string,
): ObjectTarget {
  return {
    ...bucket,
    region,
    prefix,
    secretFile: inFolder(secretFile),
    encryption: asEncryption(encryption, kmsKeyId ?? null),
    pathStyle,
    ca: ca === undefined ? null : inFolder(ca),
  };
}

function asEncryption(algorithm: "AES256" | "aws:kms" | undefined, kmsKeyId: string | null): Encryption | null {
  switch (algorithm) {
    case undefined:
      return null;
    case "AES256":
      return { algorithm };
    case "aws:kms":
      return { algorithm, kmsKeyId };
  }
}
