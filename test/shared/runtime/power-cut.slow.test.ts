import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ROOT, temporaryFolder } from "../../support/machine/processes.ts";
import { patiently } from "../../support/runner/patience.ts";

// A power cut keeps fsynced data and any part of the rest. strace lists the system calls of a program in order.

const CALLS = "mkdir,openat,link,rename,unlink,pwrite64,write,fsync,fdatasync";
const hasStrace = spawnSync("strace", ["--version"]).status === 0;

let root: string;

beforeEach(() => {
  root = fs.realpathSync(temporaryFolder());
});

afterEach(() => fs.rmSync(root, { recursive: true }));

interface SystemCall {
  readonly name: string;
  /** Paths below the root in its arguments. */
  readonly paths: readonly string[];
  readonly creates: boolean;
}

/** Runs a module from its text. `load` in it imports a file of the repository. */
function traced(text: string): SystemCall[] {
  const [trace, script] = [path.join(root, "trace.txt"), path.join(root, "script.mjs")];
  const load = `const load = (file) => import(${JSON.stringify(`${pathToFileURL(ROOT).href}/`)} + file);`;
  fs.writeFileSync(script, `${load} const root = ${JSON.stringify(root)}; ${text}`);
  const strace = ["-f", "-y", "-qq", "-e", `trace=${CALLS}`, "-o", trace, process.execPath, script];
  execFileSync("strace", strace, { cwd: ROOT, timeout: patiently(60_000), stdio: "pipe" });
  return fs
    .readFileSync(trace, "utf8")
    .split("\n")
    .flatMap((line) => readCall(line, (file) => [trace, script].includes(file)));
}

function readCall(line: string, isOwn: (file: string) => boolean): SystemCall[] {
  const [, name = "", rest = ""] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
  if (/ = -1 E/.test(rest)) return [];
  const paths = [...rest.matchAll(/["<](\/[^">]*)[">]/g)].map(([, found = ""]) => found);
  const below = paths.filter((found) => found.startsWith(root) && !isOwn(found));
  return below.length === 0 ? [] : [{ name, paths: [...new Set(below)], creates: rest.includes("O_CREAT") }];
}

/** Names that a power cut may remove, with the files below them. SQLite creates the shared-memory index again. */
function unsyncedNames(calls: readonly SystemCall[]): string[] {
  const names = new Set<string>();
  const known = new Set<string>();
  const make = (name: string) => {
    if (!known.has(name)) names.add(name);
    known.add(name);
  };
  for (const { name, paths, creates } of calls) {
    const last = paths.at(-1)!;
    if (name === "mkdir" || name === "link" || name === "rename" || creates) make(last);
    if (name === "unlink" || name === "rename") names.delete(paths[0]!);
    if (name === "fsync") for (const made of names) if (path.dirname(made) === last) names.delete(made);
  }
  return [...names].filter((made) => !made.endsWith("-shm")).map((made) => path.relative(root, made));
}

describe.skipIf(!hasStrace)("a power cut after a first start", () => {
  test("a power cut keeps the agent's data folder, its parents and its files", () => {
    const calls = traced(`
      const { Spool } = await load("agent/spool/spool.ts");
      const { recoverImageFolder } = await load("agent/imaging/files/image-folder.ts");
      const data = root + "/clinic/agent";
      const spool = await Spool.open(data);
      await recoverImageFolder(data, spool);
      const session = spool.openSession("chem-1", "generic-astm");
      const event = { device: "chem-1", session, kind: "chunk", bytes: Buffer.from("H"), durable: true };
      await new Promise((resolve) => spool.append(event, resolve));
      process.reallyExit(0);
    `);
    expect(calls.map(({ paths }) => paths.at(-1))).toContain(path.join(root, "clinic/agent/images"));
    expect(unsyncedNames(calls)).toEqual([]);
  });

  test("a power cut keeps the server's data folder, its parents and its files", () => {
    const calls = traced(`
      const { openStore } = await load("server/database/open.ts");
      const { loadPepper } = await load("server/http/auth/pepper.ts");
      const data = root + "/clinic/server";
      loadPepper(data, false);
      await openStore(data);
      process.reallyExit(0);
    `);
    expect(calls.map(({ paths }) => paths.at(-1))).toContain(path.join(root, "clinic/server/pepper"));
    expect(unsyncedNames(calls)).toEqual([]);
  });
});
