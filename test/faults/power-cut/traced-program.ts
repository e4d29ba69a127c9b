import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { type Running, startProgram } from "../../support/machine/processes.ts";
import type { DiskCall, Tree } from "./disk-call.ts";
import { LONG_STRING_BYTES, readLog, STRING_BYTES, TRACED } from "./strace-log.ts";

// Runs a program under strace.

/** The reason why strace cannot record here; null if it can. */
export function straceProblem(): string | null {
  const { error, stderr, status } = spawnSync("strace", ["-o", "/dev/null", "true"], { encoding: "utf8" });
  return error !== undefined ? error.message : status === 0 ? null : stderr.trim();
}

export function startTraced(log: string, script: readonly string[], stringBytes = STRING_BYTES): Running {
  const format = ["-f", "--seccomp-bpf", "-ttt", "-y", "-xx", "-s", String(stringBytes), "-o", log];
  const args = [...format, "-e", `trace=${TRACED.map((name) => `?${name}`).join(",")}`, process.execPath, ...script];
  // io_uring would pass strace by.
  const running = startProgram("strace", args, { ...process.env, UV_USE_IO_URING: "0" });
  return {
    ...running,
    async end(signal = "SIGTERM") {
      // strace itself ignores signals while it traces. A program that has ended already has no id.
      try {
        const children = fs.readFileSync(`/proc/${running.process.pid}/task/${running.process.pid}/children`, "utf8");
        if (children !== "") process.kill(Number.parseInt(children, 10), signal);
      } catch (error) {
        if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      }
      return running.end("SIGCONT");
    },
  };
}

/** Runs a program to its end. @returns its output. @throws Error if it fails */
export async function runTraced(log: string, script: readonly string[]): Promise<string> {
  const running = startTraced(log, script, LONG_STRING_BYTES);
  await once(running.process, "close");
  if (running.process.exitCode !== 0) throw new Error(running.output());
  return running.output();
}

/** The content of a folder, with paths relative to it. A folder comes before its content. */
export function readTree(root: string): Tree {
  const tree = new Map<string, Buffer | null>();
  for (const name of fs.readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted()) {
    const file = path.join(root, name);
    tree.set(name, fs.statSync(file).isDirectory() ? null : fs.readFileSync(file));
  }
  return tree;
}

export function writeTree(root: string, tree: Tree): void {
  fs.mkdirSync(root, { recursive: true });
  for (const [name, content] of tree) {
    if (content === null) fs.mkdirSync(path.join(root, name), { recursive: true });
    else fs.writeFileSync(path.join(root, name), content);
  }
}

/** Reads the calls of one or several runs, in their order. @param root as the programs see it */
export function callsOf(logs: readonly string[], root: string, initial: Tree): DiskCall[] {
  const real = execFileSync("realpath", [root], { encoding: "utf8" }).trim();
  return readLog(linesOf(logs), real, initial);
}

const PIECE_BYTES = 16 * 1024 * 1024;

/** Reads piece by piece, because a log may be longer than the longest string. */
function* linesOf(files: readonly string[]): Generator<string> {
  const piece = Buffer.alloc(PIECE_BYTES);
  for (const file of files) {
    const handle = fs.openSync(file, "r");
    let rest = "";
    for (let length = -1; length !== 0; ) {
      length = fs.readSync(handle, piece);
      const lines = (rest + piece.toString("latin1", 0, length)).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    yield rest;
    fs.closeSync(handle);
  }
}
