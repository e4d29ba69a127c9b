import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

// Rules for the files as a whole: which room imports which, `import type` included, no circles, and no export without an importer.

const ROOT = path.resolve(import.meta.dirname, "..");
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+\.tsx?)"/g;

/** Returns the source files of these folders, by their paths from the root. */
function sourcesIn(...folders: readonly string[]): ReadonlyMap<string, string> {
  const files = folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => path.join(folder, name)),
  );
  return new Map(files.map((file) => [file, fs.readFileSync(path.join(ROOT, file), "utf8")]));
}

/** Returns the files that each file imports. */
function importsOfFiles(sources: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const importsOf = (file: string, source: string) =>
    Array.from(source.matchAll(IMPORT), ([, specifier = ""]) => path.join(path.dirname(file), specifier));
  return new Map([...sources].map(([file, source]) => [file, importsOf(file, source)]));
}

/**
 * Returns the folders that each folder imports. The entry of a program or of a build is a separate node, since it starts the rest
 * and no file imports it.
 */
function importsOfFolders(files: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const nodeOf = (file: string) => (/^(main|vite\.config)\.ts$/.test(path.basename(file)) ? file : path.dirname(file));
  const folders = new Map<string, string[]>();
  for (const [file, imported] of files) {
    const from = nodeOf(file);
    const others = imported.map(nodeOf).filter((to) => to !== from);
    folders.set(from, [...(folders.get(from) ?? []), ...others]);
  }
  return folders;
}

/** Removes nodes without imports among the rest until none remains to remove. @returns circles, and nodes that lead to one */
function inCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  let left = [...imports.keys()];
  for (;;) {
    const stay = left.filter((node) => imports.get(node)?.some((to) => left.includes(to)));
    if (stay.length === left.length) return stay;
    left = stay;
  }
}

const EXPORT = /^export (?:async )?(function\*?|const|class|interface|type) (\w+)/gm;
const NAMED_IMPORT = /\b(?:import|export) (?:type )?\{([^}]*)\} from "(\.{1,2}\/[^"]+\.tsx?)"/g;
/** An import of all names: `import * as x from` or `import("...")`. */
const WHOLE_IMPORT = /(?:\* as \w+ from |\bimport\(|\bload\()"((?:\.{1,2}|agent|server|shared)\/[^"]+\.tsx?)"/g;

/**
 * Returns the exports that no other file imports, such as `shared/api/fp.ts newFp`. A type that its own file mentions is part of
 * the signature of another export, so it needs no importer.
 */
function unusedExports(sources: ReadonlyMap<string, string>): string[] {
  const used = new Set<string>();
  const resolve = (file: string, specifier: string) =>
    specifier.startsWith(".") ? path.join(path.dirname(file), specifier) : specifier;
  for (const [file, source] of sources) {
    for (const [, names = "", specifier = ""] of source.matchAll(NAMED_IMPORT)) {
      for (const name of names.split(",")) {
        used.add(
          `${resolve(file, specifier)} ${name
            .trim()
            .replace(/^type /, "")
            .replace(/ as .*/, "")}`,
        );
      }
    }
    for (const [, specifier = ""] of source.matchAll(WHOLE_IMPORT)) used.add(resolve(file, specifier));
  }
  return [...sources].flatMap(([file, source]) => {
    if (used.has(file)) return [];
    const isMentioned = (name: string) => (source.match(new RegExp(`\\b${name}\\b`, "g")) ?? []).length > 1;
    const names = Array.from(source.matchAll(EXPORT), ([, kind = "", name = ""]) => {
      const isType = kind === "type" || kind === "interface";
      return isType && isMentioned(name) ? [] : [`${file} ${name}`];
    });
    return names.flat().filter((name) => !used.has(name));
  });
}

test("every export of the product has an importer", () => {
  const unused = unusedExports(sourcesIn("agent", "server", "shared", "test"));
  expect(unused.filter((name) => !name.startsWith("test/"))).toEqual([]);
});

test("the check reports an export without an importer, for every form of import of the others", () => {
  const sources = new Map([
    [
      "a/one.ts",
      "export const used = 1;\nexport type Used = 1;\nexport const unused = 2;\nexport async function* f() {}",
    ],
    ["a/two.ts", "export interface Whole {}"],
    ["a/five.ts", "export interface Signature {}\nexport interface Unused {}\nconst f = (given: Signature) => given;"],
    ["a/three.ts", "export class Late {}"],
    [
      "b/four.ts",
      'import { type Used, used as other } from "../a/one.ts";\nimport * as two from "../a/two.ts";\nawait import("../a/three.ts");',
    ],
  ]);
  expect(unusedExports(sources)).toEqual(["a/one.ts unused", "a/one.ts f", "a/five.ts Unused"]);
});

/**
 * Each room, then the rooms that it imports. A name of two parts or more covers the folders below it; `agent` and `server` are the
 * files directly in these folders, and `shared` is all of shared. A new arrow is a new word here.
 */
const ROOMS = `
agent: agent/cli agent/config agent/connection agent/devices agent/imaging agent/protocols agent/push agent/relay agent/report agent/runtime agent/spool agent/states agent/status agent/study agent/tools agent/transport shared
agent/cli: agent agent/config agent/connection agent/devices agent/doctor agent/imaging agent/page agent/protocols agent/push agent/remote agent/report agent/runtime agent/spool agent/states agent/tools agent/transport shared
agent/config: agent/devices agent/imaging/archive agent/protocols agent/report agent/runtime agent/transport shared
agent/connection: agent/config agent/devices agent/protocols agent/report agent/runtime agent/spool agent/states agent/status agent/study agent/transport shared
agent/devices: agent/devices/table agent/devices/text agent/protocols shared/files shared/runtime
agent/devices/detection: agent/devices agent/protocols
agent/devices/capabilities: agent/devices/text agent/protocols agent/report
agent/devices/table: agent/devices/capabilities agent/protocols agent/report agent/runtime shared/api shared/clinical shared/files shared/runtime shared/schema
agent/devices/text: agent/protocols/text agent/report
agent/doctor: agent/config agent/devices agent/imaging agent/page/types agent/push agent/report agent/runtime agent/spool agent/states agent/transport shared
agent/imaging: agent/config agent/connection agent/imaging/archive agent/imaging/files agent/page/types agent/protocols agent/report agent/runtime agent/spool agent/states agent/study agent/transport shared
agent/imaging/archive: agent/config agent/imaging/files agent/page/types agent/protocols agent/runtime agent/spool agent/transport shared
agent/imaging/files: agent/page/types agent/protocols agent/spool shared
agent/maker: agent/connection agent/devices agent/page/types agent/protocols agent/report agent/study shared
agent/page: agent agent/page/routes shared
agent/page/routes: agent agent/config agent/devices agent/doctor agent/imaging agent/maker agent/page/types agent/remote agent/report agent/setup agent/spool agent/states agent/study agent/tools shared
agent/page/types: shared
agent/page/web: agent/page/types server/web shared
agent/protocols: agent/report shared
agent/protocols/astm: agent/protocols agent/report shared
agent/protocols/dicom: agent/protocols agent/report shared
agent/protocols/hl7: agent/protocols agent/report shared
agent/protocols/poct1: agent/protocols agent/report shared
agent/protocols/text: agent/protocols agent/report
agent/push: agent/config agent/devices agent/report agent/runtime agent/spool agent/states shared
agent/relay: agent/config agent/push agent/runtime agent/spool agent/states shared
agent/remote: agent agent/config agent/devices agent/push agent/runtime agent/spool shared
agent/report: shared
agent/runtime: shared
agent/setup: agent agent/config agent/connection agent/devices agent/page/types agent/protocols agent/push agent/spool agent/study agent/tools agent/transport shared
agent/spool: agent/page/types agent/runtime agent/spool/queries agent/spool/thread shared
agent/spool/queries: agent/page/types agent/protocols/dicom agent/report agent/states shared
agent/spool/thread: agent/spool/queries shared
agent/states: shared
agent/status: agent/spool agent/states agent/transport shared
agent/study: agent/devices agent/page/types agent/protocols agent/push agent/report agent/runtime agent/spool shared
agent/tools: agent/config agent/connection agent/devices agent/imaging agent/page/types agent/protocols agent/push agent/report agent/runtime agent/spool agent/study agent/transport shared
agent/transport: agent/runtime agent/states shared
server: server/api server/cli server/dashboard server/database server/fhir server/http server/import server/network server/operations server/operator server/records shared
server/api: server/dashboard/types server/database server/http server/import server/operations server/records shared
server/cli: server server/dashboard server/database server/http server/import server/network server/oidc server/operations server/records shared
server/dashboard: server/dashboard/types server/database server/http server/oidc server/operations/alerts server/operations/mail server/records/changes server/records/clinics shared
server/dashboard/auth: server/dashboard server/database server/http server/records/audit server/records/users shared
server/dashboard/oidc: server/dashboard server/database server/http server/network server/oidc server/records/audit server/records/clinics server/records/users shared
server/dashboard/report: server/dashboard server/database server/http server/records/clinics server/records/results shared
server/dashboard/routes: server/dashboard server/database server/http server/import server/operations server/records shared
server/dashboard/types: server/operations/alerts shared
server/database: server/dashboard/types shared
server/demo: server/import shared
server/fhir: server/database server/http server/records shared
server/http: server/dashboard/types server/database server/records/audit server/records/clinics shared
server/http/auth: server/dashboard/types server/database server/http server/records shared
server/http/openapi: server/dashboard/types server/http shared
server/http/rate-limit: server/dashboard/types server/http server/records/clinics shared
server/http/response-cache: server/http
server/import: server/dashboard/types server/database server/records shared
server/network: server/dashboard/types server/http shared
server/oidc: server/operations/webhooks shared
server/operations: server/database server/http server/operations/alerts server/records shared
server/operations/alerts: server/dashboard/types server/operations/mail server/operations/webhooks shared
server/operations/destinations: server/dashboard/types server/database server/operations/webhooks server/records/destinations shared
server/operations/mail: server/dashboard/types server/database server/records/audit shared
server/operations/webhooks: server/dashboard/types server/database server/records/webhooks shared
server/operator: server/dashboard server/database server/http server/import server/operations server/records shared
server/records/agents: server/dashboard/types server/database server/operations/alerts server/records/audit shared
server/records/alerts: server/dashboard/types server/database server/operations/alerts server/records/agents server/records/codes server/records/controls server/records/destinations server/records/follow-up server/records/orders server/records/patients server/records/results server/records/studies server/records/users server/records/webhooks shared
server/records/audit: server/database shared
server/records/calendar: server/dashboard/types server/database server/records/changes server/records/webhooks shared
server/records/changes: server/database server/records/destinations server/records/webhooks shared
server/records/clinics: server/dashboard/types server/database shared
server/records/codes: server/dashboard/types server/database server/records/audit shared
server/records/comparison: server/dashboard/types server/database server/records/studies shared
server/records/controls: server/dashboard/types server/database server/records/agents server/records/audit server/records/studies shared
server/records/destinations: server/dashboard/types server/database shared
server/records/destinations/csv: server/database server/records/destinations
server/records/destinations/hl7: server/database server/records/destinations server/records/studies shared
server/records/filing: server/dashboard/types server/database server/records/changes server/records/codes server/records/orders server/records/patients server/records/quality-marks server/records/studies shared
server/records/erasure: server/dashboard/types server/database server/records/audit server/records/destinations server/records/patients server/records/registry server/records/studies shared
server/records/follow-up: server/dashboard/types server/database server/records/results server/records/studies shared
server/records/hosting: server/dashboard/types server/database server/operations/alerts server/records/agents server/records/audit server/records/clinics server/records/erasure server/records/studies server/records/users shared
server/records/intervals: server/dashboard/types server/database server/records/clinics server/records/studies shared
server/records/inventory: server/dashboard/types server/database server/records/changes server/records/patients server/records/webhooks shared
server/records/manual: server/dashboard/types server/database server/records/audit server/records/clinics server/records/patients server/records/studies shared
server/records/orders: server/dashboard/types server/database server/records/audit server/records/clinics server/records/studies server/records/webhooks shared
server/records/patients: server/dashboard/types server/database server/records/audit server/records/changes server/records/comparison server/records/studies shared
server/records/quality-marks: server/dashboard/types server/database server/records/audit server/records/changes server/records/controls server/records/studies shared
server/records/registry: server/dashboard/types server/database server/records/audit server/records/calendar server/records/changes server/records/filing server/records/inventory server/records/orders server/records/patients server/records/studies server/records/unmatched server/records/webhooks shared
server/records/results: server/dashboard/types server/database server/records/clinics server/records/comparison server/records/patients server/records/studies server/records/trail server/records/unmatched shared
server/records/sharing: server/dashboard/types server/database server/records/clinics server/records/orders server/records/patients server/records/studies shared
server/records/soap: server/dashboard/types server/database server/records/changes server/records/patients server/records/webhooks shared
server/records/studies: server/database server/records/changes server/records/clinics server/records/webhooks shared
server/records/trail: server/dashboard/types server/database server/records/filing server/records/patients server/records/studies shared
server/records/unmatched: server/dashboard/types server/database server/records/audit server/records/codes server/records/comparison server/records/filing server/records/patients server/records/quality-marks server/records/studies shared
server/records/users: server/dashboard/types server/database server/records/audit server/records/patients shared
server/records/webhooks: server/dashboard/types server/database shared
server/records/walks: server/database server/records/orders server/records/patients server/records/studies shared
server/web: server/dashboard/types server/operations/alerts shared
shared: agent agent/cli server shared/files shared/platform/cli
shared/api: shared/schema
shared/client:
shared/clinical: shared/api shared/files shared/schema
shared/files: shared/runtime
shared/log: shared/files shared/network shared/runtime
shared/network: shared/api shared/files shared/runtime
shared/platform/care: shared/files shared/runtime shared/schema
shared/platform/cli: shared/api shared/clinical shared/files shared/log shared/platform/service shared/platform/upgrade shared/runtime shared/schema
shared/platform/package: shared/files shared/platform/service
shared/platform/release: shared/api shared/files shared/platform/package shared/platform/upgrade shared/runtime shared/schema
shared/platform/service: shared/runtime
shared/platform/upgrade: shared/api shared/files shared/platform/care shared/runtime shared/schema
shared/runtime:
shared/schema: shared/runtime
`;

/** Returns the room of a file: the nearest folder that the table names. */
function roomOf(file: string, rooms: ReadonlyMap<string, readonly string[]>): string {
  const folder = path.dirname(file);
  return rooms.has(folder) || folder === "." ? folder : roomOf(folder, rooms);
}

/** Returns the arrows between rooms that the table lacks, and those that it names and no file has. */
function differences(table: string, files: ReadonlyMap<string, readonly string[]>): string[] {
  const rows = table.trim().split("\n");
  const rooms = new Map(rows.map((row) => [row.split(":")[0] ?? "", row.split(": ")[1]?.split(" ") ?? []]));
  const covers = (name: string, room: string, from: string) =>
    name === room ||
    (name.includes("/") && room.startsWith(`${name}/`)) ||
    (name === "shared" && room.startsWith("shared/") && !from.startsWith("shared"));
  const unused = new Set([...rooms].flatMap(([room, names]) => names.map((name) => `${room}: ${name}`)));
  const missing = new Set<string>();
  for (const [file, imported] of files) {
    const from = roomOf(file, rooms);
    if (!from.includes("/") && from !== path.dirname(file)) missing.add(`${file} is in no room`);
    for (const to of imported.map((target) => roomOf(target, rooms)).filter((room) => room !== from)) {
      const name = rooms.get(from)?.find((entry) => covers(entry, to, from));
      if (name === undefined) missing.add(`${file} imports ${to}`);
      else unused.delete(`${from}: ${name}`);
    }
  }
  return [...missing, ...[...unused].map((arrow) => `${arrow} is not used`)];
}

test("the table of rooms names every import between two rooms, and no other", () => {
  expect(differences(ROOMS, importsOfFiles(sourcesIn("agent", "server", "shared")))).toEqual([]);
});

test("the check reports an import that the table lacks, and an arrow that no file has", () => {
  const table =
    "agent: agent/cli\nagent/cli: agent/spool shared\nagent/spool:\nshared/api: shared/runtime\nshared/runtime:";
  const files = new Map([
    ["agent/main.ts", ["agent/cli/run.ts"]],
    ["agent/cli/run.ts", ["agent/spool/queries/read.ts", "shared/api/fp.ts", "agent/agent.ts"]],
    ["shared/runtime/log.ts", ["shared/api/fp.ts"]],
    ["agent/new/file.ts", []],
  ]);
  expect(differences(table, files)).toEqual([
    "agent/cli/run.ts imports agent",
    "shared/runtime/log.ts imports shared/api",
    "agent/new/file.ts is in no room",
    "shared/api: shared/runtime is not used",
  ]);
});

test("no two files import each other, directly or through others", () => {
  const files = importsOfFiles(sourcesIn("agent", "server", "shared"));
  expect(files.size).toBeGreaterThan(200);
  expect(inCircles(files)).toEqual([]);
});

test("no two folders import each other, directly or through others", () => {
  expect(inCircles(importsOfFolders(importsOfFiles(sourcesIn("agent", "server", "shared"))))).toEqual([]);
});

test("the check reports a circle and the files that lead into it", () => {
  const imports = new Map([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["b", "d"]],
    ["d", []],
  ]);
  expect(inCircles(imports)).toEqual(["a", "b", "c"]);
});

/** Folders with fewer source files than three, each with its reason. */
const SMALL_FOLDERS: Readonly<Record<string, string>> = {
  "agent/page": "the application of the page, and its folder of routes, types and screens",
  "server/http/response-cache": "the cache, and the list that it evicts by",
  shared: "the command vetwire",
};

test("each folder holds 3 to 15 source files", () => {
  const folders = new Map<string, number>();
  const files = ["agent", "server", "shared"].flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .map((name) => path.join(folder, name)),
  );
  for (const file of files.filter((name) => /\.(tsx?|css|mjs)$/.test(name))) {
    folders.set(path.dirname(file), (folders.get(path.dirname(file)) ?? 0) + 1);
  }
  const wrong = [...folders].filter(([folder, count]) => count > 15 || (count < 3 && !(folder in SMALL_FOLDERS)));
  expect(wrong).toEqual([]);
  expect(Object.keys(SMALL_FOLDERS).filter((folder) => (folders.get(folder) ?? 3) >= 3)).toEqual([]);
});

/** Names of words for people, also with the end of the calls around them. */
const WORDS = String.raw`\b(?:\w*(?:reason|message|sentence|problem|fault|why|remedy|advice|detail)|body|stderr|(?:errorMessage|String)\(\w*error)\)*`;
/** Ways to read them: parts of a text, a pattern, and `===` with a text of three words or a constant. Replacing is formatting. */
const READINGS = [
  new RegExp(
    String.raw`${WORDS}\??\.(?:includes|startsWith|endsWith|match|matchAll|search|indexOf|lastIndexOf|split)\(`,
    "i",
  ),
  new RegExp(String.raw`\.(?:test|exec)\((?:\w+\??\.|\w+\()*${WORDS}(?![\w.])`, "i"),
  new RegExp(String.raw`${WORDS} [!=]== (?:"[^"]* [^"]* |\x60)`, "i"),
  /(?:\.|\b)(?:message|reason|sentence) [!=]== [A-Z]/,
  /\b(?:includes|has)\(.*\.(?:message|reason|sentence)\)/,
];
/** Ways to send one to a program without a code: a refused command, and an item of the spool that is set aside. */
const SENDINGS = [
  /"RECORD\.REFUSED", (?!.*\bdetails\b)/,
  /\breason: SET_ASIDE\b/,
  /(?<![.\w])refus(?:e|al)\((?:`|"[^"]* )/,
];
/** What a device writes is data there, also a message or a body. */
const OF_DEVICES = /^agent\/(?:protocols|devices)\//;
/** Files that read the words of a program without codes, each tested with that program or its words. */
const WORDS_OF_OTHERS: Readonly<Record<string, string>> = {
  "agent/states/line-state.ts": "the driver of serial ports has no codes",
  "agent/push/server-client.ts": "a foreign web server refuses plain HTTP at its TLS port with a page",
  "server/database/postgres-client.ts": "the pool of pg has no code for its own time limit",
  "server/http/json-body.ts": "V8 has no code for a fault of JSON, and its words quote the text",
  "server/operations/mail/smtp.ts": "nodemailer has one code for a lost connection and for a lost answer",
};

/** Returns the lines that decide by words for people, or send them without a code, such as `a/b.ts:3`. */
function sentenceReadings(sources: ReadonlyMap<string, string>): string[] {
  return [...sources].flatMap(([file, source]) =>
    source.split("\n").flatMap((line, index) => {
      const isRead = [...READINGS, ...SENDINGS].some((pattern) => pattern.test(line));
      return isRead && !line.trim().startsWith("//") ? [`${file}:${index + 1}`] : [];
    }),
  );
}

test("no program decides by a sentence: outcomes, problems, faults and refusals carry codes", () => {
  const product = [...sourcesIn("agent", "server", "shared")].filter(([file]) => !OF_DEVICES.test(file));
  const found = sentenceReadings(new Map(product));
  const fileOf = (place: string) => place.replace(/:\d+$/, "");
  expect(found.filter((place) => !(fileOf(place) in WORDS_OF_OTHERS))).toEqual([]);
  expect(Object.keys(WORDS_OF_OTHERS).filter((file) => !found.some((place) => fileOf(place) === file))).toEqual([]);
});

test("the check reports each way to read a sentence, and no code, list or formatting", () => {
  const read = [
    'if (message.includes("speaks TLS")) return;',
    'const isMissing = error.message.startsWith("no such port");',
    'if (errorMessage(error).endsWith("full")) return;',
    'const [first] = printable((error as Error).message).split(": ");',
    "if (/too long/.test(message)) return;",
    "const found = PLACE.exec(fault.sentence);",
    "if (BUSY.test(String(error))) return;",
    'if (reason === "the socket was closed") return;',
    "if (cause.message !== POOL_BUSY) return;",
    "if (KNOWN.has(error.message)) return;",
    'const ended = state === "quarantined" && reason === SET_ASIDE;',
    'throw new ApiError("RECORD.REFUSED", problem);',
    'if (quantity > onHand) refuse("quantity is too large");',
    "const outcome = { state, reason: SET_ASIDE };",
  ];
  const other = [
    'if (error.code.startsWith("HPE_")) return;',
    "if (UNKNOWN.test(String(error.code))) return;",
    'if (why === "not allowed") return;',
    'if (reason === null || typeof message === "string") return;',
    'const words = message.replaceAll("\\n", " ");',
    'if (reasons.includes("MATCH.SPECIES")) return;',
    'throw new ApiError("RECORD.REFUSED", refusalText(refused), { details: { ...refused } });',
    'if (quantity > onHand) refuse(refusal("STOCK.ON_HAND", quantity, onHand));',
    "const outcome = { state, reason: null, code: SET_ASIDE };",
  ];
  const sources = new Map([["a.ts", [...read, ...other].join("\n")]]);
  expect(sentenceReadings(sources)).toEqual(read.map((_, index) => `a.ts:${index + 1}`));
});

/** Returns the headings of a page as its links name them. */
function anchorsOf(text: string): string[] {
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replace(/ /g, "-"),
  );
}

/** Returns the relative links and the paths of source files in these pages that lead nowhere. */
function deadLinks(pages: ReadonlyMap<string, string>, exists: (file: string) => boolean): string[] {
  const dead: string[] = [];
  for (const [page, text] of pages) {
    for (const [, link = ""] of text.matchAll(/\]\((?!https?:|\/)([^)\s]+)\)/g)) {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? page : path.join(path.dirname(page), file);
      const headings = anchor === undefined ? [] : anchorsOf(pages.get(target) ?? "");
      if (!exists(target) || (anchor !== undefined && !headings.includes(anchor))) dead.push(`${page}: ${link}`);
    }
    for (const [, file = ""] of text.matchAll(/`((?:agent|server|shared|test)\/[\w./-]+\.(?:tsx?|json|md))`/g)) {
      if (!exists(file)) dead.push(`${page}: ${file}`);
    }
  }
  return dead;
}

test("each link and each path of a source file in a page leads to a file", () => {
  const files = ["agent", "server", "shared", "test", ".github"].flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
      .map((name) => path.join(folder, name)),
  );
  const pages = new Map(["README.md", ...files].map((file) => [file, fs.readFileSync(path.join(ROOT, file), "utf8")]));
  expect(pages.size).toBeGreaterThan(60);
  expect(deadLinks(pages, (file) => fs.existsSync(path.join(ROOT, file)))).toEqual([]);
});

test("the check reports a link to a missing file or heading, and the path of a missing source file", () => {
  const pages = new Map([
    [
      "README.md",
      "[a](server/README.md#what-always-holds) [b](server/old.md) [c](server/README.md#gone) `agent/old.ts`",
    ],
    [
      "server/README.md",
      "## What always holds\n[up](../README.md) [web](https://example.com/x.md) [here](#gone) `app.ts`",
    ],
  ]);
  expect(deadLinks(pages, (file) => pages.has(file))).toEqual([
    "README.md: server/old.md",
    "README.md: server/README.md#gone",
    "README.md: agent/old.ts",
    "server/README.md: #gone",
  ]);
});

test("the threat model names tests that exist", () => {
  const text = fs.readFileSync(path.join(ROOT, ".github/THREATS.md"), "utf8");
  const named = [...text.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, file = ""]) => file);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((file) => !fs.existsSync(path.join(ROOT, file)))).toEqual([]);
});

test("each promise names the title of a test that exists", () => {
  const rows = fs.readFileSync(path.join(ROOT, "test/promises.md"), "utf8").match(/^\| P\d+ .*$/gm) ?? [];
  const proofs = rows.map((row) => /`(test\/[^`]+)`: (.+) \|$/.exec(row) ?? [row]);
  expect(proofs.length).toBeGreaterThan(20);
  const isMissing = ([, file = "", title = ""]: readonly string[]) =>
    file === "" ||
    !fs.existsSync(path.join(ROOT, file)) ||
    !fs.readFileSync(path.join(ROOT, file), "utf8").includes(title);
  expect(proofs.filter(isMissing)).toEqual([]);
});
