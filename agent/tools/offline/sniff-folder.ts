import fs from "node:fs";
import { setImmediate } from "node:timers/promises";
import path from "node:path";
import type { Suggestion } from "../../devices/detection/detect.ts";
import { allProfiles } from "../../devices/index.ts";
import type { ResultFiles } from "../../protocols/file/profile.ts";
import { isPdf } from "../../protocols/file/spreadsheet-cells.ts";
import { replay, wireOf } from "./replay.ts";

// Which profile reads the files of a folder. The files stay as they are.

/** The newest files that a profile reads, and max bytes of one. */
const [FILES_MAX, BYTES_MAX] = [20, 4 * 1024 * 1024];

/** The results that a profile reads in the files of a folder. */
export interface FolderReading {
  readonly profile: string;
  /** Files of its kinds, and those that it reads. */
  readonly files: number;
  readonly read: number;
  /** Results with a name of the catalogue. */
  readonly results: number;
  /** The problem of the first file that it does not read. */
  readonly problem: string | null;
}

/** Returns the profiles of files, the one that reads most results first, each with what it reads or its first problem. */
export async function sniffFolder(folder: string): Promise<Suggestion[]> {
  return (await readFolder(folder)).map((reading) => {
    const { profile, files, read, results, problem } = reading;
    const reasons = [`reads ${read} of ${files} files, with ${results} results of the catalogue`];
    const score = scoreOf(reading);
    return {
      line: null,
      protocol: "files",
      profiles: [profile],
      score,
      reasons: [...reasons, ...(problem === null ? [] : [problem])],
    };
  });
}

/** Reads the newest files of a folder with each profile of files; the best first. */
export async function readFolder(folder: string): Promise<FolderReading[]> {
  const files = new Files(folder);
  const found: FolderReading[] = [];
  for (const profile of allProfiles()) {
    if (profile.protocol !== "file" || profile.content !== "results") continue;
    const own = files.newest(profile.link.extensions);
    if (own.length > 0) found.push(await readingBy(profile, own));
  }
  return found.toSorted((one, other) => scoreOf(other) - scoreOf(one));
}

function scoreOf({ files, read, results }: FolderReading): number {
  return read === 0 ? 0 : Math.min(100, Math.round((60 * read) / files) + results);
}

interface FoundFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The files of a folder, the newest first. Each is read once. A program may write, lock or remove one meanwhile. */
class Files {
  readonly #folder: string;
  readonly #names: readonly string[];
  readonly #read = new Map<string, Buffer | null>();

  constructor(folder: string) {
    this.#folder = folder;
    const entries = fs.readdirSync(folder, { withFileTypes: true });
    this.#names = entries
      .filter((entry) => entry.isFile() && !isPdf(entry.name))
      .flatMap(({ name }) => {
        const stat = fs.statSync(path.join(folder, name), { throwIfNoEntry: false });
        return stat === undefined || stat.size > BYTES_MAX ? [] : [{ name, time: stat.mtimeMs }];
      })
      .toSorted((one, other) => other.time - one.time)
      .map(({ name }) => name);
  }

  /** Returns the newest files with one of the extensions: a folder may have many others. */
  newest(extensions: readonly string[]): FoundFile[] {
    const own = this.#names
      .filter((name) => extensions.includes(path.extname(name).slice(1).toLowerCase()))
      .slice(0, FILES_MAX);
    return own.flatMap((name) => {
      const bytes = this.#bytes(name);
      return bytes === null ? [] : [{ name, bytes }];
    });
  }

  #bytes(name: string): Buffer | null {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const bytes = readIfPossible(path.join(this.#folder, name));
    this.#read.set(name, bytes);
    return bytes;
  }
}

function readIfPossible(file: string): Buffer | null {
  try {
    return fs.readFileSync(file);
  } catch {
    return null;
  }
}

async function readingBy(profile: ResultFiles, files: readonly FoundFile[]): Promise<FolderReading> {
  let [read, results] = [0, 0];
  const problems: string[] = [];
  const context = { device: "sniff", timeZone: "UTC", receivedAt: Date.now() };
  for (const { name, bytes } of files) {
    // The devices of a running agent get their turn.
    await setImmediate();
    const { messages } = replay([await wireOf(name, bytes, profile)], profile, context, null);
    for (const { reading } of messages) {
      if (reading.is === "quarantined") problems.push(reading.reason);
      else read += 1;
      const rows = reading.is === "reports" ? reading.reports.flatMap((report) => report.rows) : [];
      results += rows.filter(({ codeSource }) => codeSource !== "device").length;
    }
  }
  return { profile: profile.id, files: files.length, read, results, problem: problems[0] ?? null };
}
