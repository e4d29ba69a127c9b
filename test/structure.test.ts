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
 * Returns the folders that each folder imports. The entry of a program is a separate node, since it starts the command line and
 * no file imports it.
 */
function importsOfFolders(files: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const nodeOf = (file: string) => (path.basename(file) === "main.ts" ? file : path.dirname(file));
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
agent: agent/care agent/cli agent/config agent/connection agent/devices agent/imaging agent/orders agent/protocols agent/push agent/runtime agent/spool agent/states agent/status agent/study agent/transport shared
agent/care: agent/config agent/imaging agent/spool agent/status shared
agent/cli: agent agent/care agent/config agent/connection agent/detection agent/devices agent/doctor agent/host agent/imaging agent/page agent/pairing agent/protocols agent/push agent/remote agent/report agent/spool agent/states agent/tools agent/transport agent/upgrade shared
agent/config: agent/devices agent/protocols agent/runtime agent/transport shared
agent/connection: agent/config agent/detection agent/devices agent/protocols agent/report agent/runtime agent/spool agent/states agent/status agent/study agent/transport shared
agent/detection: agent/devices
agent/devices: agent/protocols agent/report
agent/doctor: agent/config agent/detection agent/devices agent/imaging agent/push agent/report agent/runtime agent/spool agent/states agent/transport shared
agent/host: agent agent/config agent/push agent/status agent/transport shared
agent/imaging: agent/config agent/connection agent/protocols agent/report agent/runtime agent/spool agent/states agent/study agent/transport shared
agent/orders: agent/devices agent/protocols agent/report agent/spool agent/study shared
agent/page: agent/host agent/page/routes shared
agent/page/routes: agent agent/config agent/devices agent/doctor agent/host agent/imaging agent/remote agent/report agent/setup agent/spool agent/states agent/tools shared
agent/pairing: agent/config agent/push agent/runtime shared
agent/protocols: agent/report shared
agent/protocols/astm: agent/protocols agent/report shared
agent/protocols/dicom: agent/protocols agent/report shared
agent/protocols/hl7: agent/protocols agent/report shared
agent/protocols/poct1: agent/protocols agent/report shared
agent/protocols/proprietary: agent/protocols agent/report
agent/push: agent/config agent/devices agent/report agent/runtime agent/spool agent/states shared
agent/remote: agent/config agent/host agent/push agent/runtime agent/spool shared
agent/report: shared
agent/runtime: shared
agent/setup: agent agent/config agent/connection agent/detection agent/devices agent/host agent/pairing agent/protocols agent/spool agent/study agent/tools agent/transport shared
agent/spool: agent/runtime agent/spool/queries shared
agent/spool/queries: agent/runtime agent/spool/queries/devices agent/spool/queries/events agent/spool/queries/images agent/spool/queries/messages agent/spool/queries/orders agent/spool/queries/patients agent/spool/queries/studies agent/states shared
agent/spool/queries/devices: agent/report agent/states
agent/spool/queries/events: agent/spool/queries/devices
agent/spool/queries/images: agent/protocols agent/spool/queries/devices agent/spool/queries/messages agent/spool/queries/orders
agent/spool/queries/messages: agent/spool/queries/devices agent/spool/queries/events shared
agent/spool/queries/orders:
agent/spool/queries/patients: agent/spool/queries/orders
agent/spool/queries/studies: agent/report agent/spool/queries/devices agent/spool/queries/messages agent/spool/queries/patients shared
agent/states: shared
agent/status: agent/spool agent/states agent/transport shared
agent/study: agent/devices agent/protocols agent/push agent/report agent/runtime agent/spool shared
agent/tools: agent/detection agent/transport
agent/tools/fixture: agent/connection agent/devices agent/imaging agent/protocols agent/report agent/spool agent/tools/offline
agent/tools/offline: agent/config agent/connection agent/devices agent/imaging agent/protocols agent/push agent/report agent/runtime agent/spool agent/study shared
agent/tools/simulator: agent/imaging agent/protocols agent/report agent/transport shared
agent/transport: agent/runtime agent/states
agent/upgrade: agent/host agent/push agent/runtime shared
server: server/alerts server/cli server/dashboard server/http server/metrics server/network server/routes server/store shared
server/alerts: server/domain server/store shared
server/cli: server server/alerts server/dashboard server/domain server/http server/import server/metrics server/network server/releases server/store server/webhooks shared
server/dashboard: server/http server/store shared
server/dashboard/auth: server/dashboard server/http server/store shared
server/dashboard/routes: server/dashboard server/domain server/http server/import server/releases server/store shared
server/demo: server/import shared
server/domain: shared
server/http: server/store shared
server/http/audit: server/http server/store shared
server/http/auth: server/domain server/http server/store shared
server/http/openapi: server/http shared
server/http/rate-limit: server/http server/store shared
server/http/response-cache: server/http
server/import: server/domain server/store shared
server/metrics: server/http server/store shared
server/network: server/http shared
server/releases: shared
server/routes: server/domain server/http server/releases server/store shared
server/store: server/domain server/store/agents server/store/database server/store/patients shared
server/store/agents: server/domain server/store/database shared
server/store/changes: server/store/database shared
server/store/dashboard: server/domain server/store shared
server/store/database: shared
server/store/patients: server/store/changes server/store/database shared
server/store/studies: server/domain server/store shared
server/web: shared
server/webhooks: server/store shared
shared: agent agent/cli server shared/cli shared/runtime
shared/alerts: shared/runtime shared/webhook
shared/api: shared/runtime
shared/care: shared/api shared/runtime
shared/cli: shared/api shared/clinical shared/dashboard shared/runtime shared/service shared/upgrade
shared/client:
shared/clinical: shared/api shared/runtime
shared/dashboard: shared/alerts shared/api shared/clinical
shared/http-client: shared/runtime
shared/local: shared/api
shared/objects: shared/http-client shared/runtime
shared/package: shared/runtime shared/service
shared/pages: shared/runtime
shared/runtime:
shared/service: shared/runtime
shared/upgrade: shared/api shared/care shared/runtime
shared/webhook: shared/http-client shared/runtime
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

test.each(["agent", "server"])("the folder %s holds at most six files", (folder) => {
  const entries = fs.readdirSync(path.join(ROOT, folder), { withFileTypes: true });
  expect(entries.filter((entry) => entry.isFile()).length).toBeLessThanOrEqual(6);
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
