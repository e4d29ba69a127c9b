import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { deflateRawSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfinedFiles } from "../../../../agent/imaging/files/confined-files.ts";
import { HeaderReader } from "../../../../agent/imaging/files/header-reader.ts";
import { drawPreview } from "../../../../agent/imaging/preview.ts";
import { dataset, DEFLATED, EXPLICIT, JPEG, manyValues } from "../../../support/protocols/dicom.ts";
import {
  blankJpeg,
  emptyJpeg2000,
  headOf,
  JPEG_2000,
  type HostileImage,
} from "../../../support/protocols/hostile-images.ts";
import { temporaryFolder, until } from "../../../support/machine/processes.ts";
import { patiently } from "../../../support/runner/patience.ts";

// Method: files that need far more memory or time than allowed, and kills. This process lives, and reads the next file.

const MB = 1024 * 1024;
const isLinux = process.platform === "linux";
/** The bound of file-process.ts, and what a codec fills between two looks on a busy machine. */
const RESIDENT_MB_MAX = 1024 + 128;

let folder: string;
let files: ConfinedFiles;
beforeEach(() => {
  folder = temporaryFolder();
  files = new ConfinedFiles(patiently(60_000));
});
afterEach(() => {
  files.close();
  fs.rmSync(folder, { recursive: true });
});

let names = 0;
function fileOf(...parts: readonly Uint8Array[]): string {
  const file = path.join(folder, `${++names}.dcm`);
  fs.writeFileSync(file, Buffer.concat(parts));
  return file;
}

/** A header that this file system holds. */
function header(bytes = dataset(), transferSyntax = EXPLICIT) {
  const head = headOf(transferSyntax);
  const file = fileOf(head, bytes);
  return { do: "header", file, headerBytes: head.length + bytes.length, transferSyntax } as const;
}

/** Writes the image. @returns what drawPreview() takes */
function written(transferSyntax: string, { bytes, pixelsAt }: HostileImage) {
  const head = headOf(transferSyntax);
  return { file: fileOf(head, bytes), headerBytes: head.length + pixelsAt, transferSyntax, frame: 1, sideMax: 1024 };
}

/** The file processes that a process started, by Linux's /proc. */
function fileProcessesOf(parent: number): number[] {
  return (isLinux ? fs.readdirSync("/proc") : []).flatMap((name) => {
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const isOurs = Number(ppid) === parent && state !== "Z";
      return isOurs && fs.readFileSync(`/proc/${name}/cmdline`, "utf8").includes("file-process") ? [Number(name)] : [];
    } catch {
      return []; // ended meanwhile, or not a process
    }
  });
}

function peakMb(id: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0; // ended meanwhile
  }
}

/** Runs a drawing that fails. @returns its error, and the most memory that a file process had, in MB; 0 without Linux's /proc */
async function whileWatched(draw: () => Promise<unknown>) {
  let most = 0;
  const watch = setInterval(() => {
    for (const id of fileProcessesOf(process.pid)) most = Math.max(most, peakMb(id));
  }, 20);
  const result: unknown = await draw().catch((error: unknown) => error);
  clearInterval(watch);
  return { most, result };
}

test.runIf(isLinux)("a frame beyond the memory ends its process alone, below the bound", async () => {
  const own = process.memoryUsage.rss();
  const { most, result } = await whileWatched(() => drawPreview(written(JPEG, blankJpeg()), undefined, files));
  expect(result).toMatchObject({ code: "IMAGE.MEMORY" });
  expect(most).toBeGreaterThan(500);
  expect(most).toBeLessThan(RESIDENT_MB_MAX);
  expect((process.memoryUsage.rss() - own) / MB).toBeLessThan(128);
  expect(await files.read(header())).toMatchObject({ header: { study: "1.2.3" } });
});

test("a header of 60 kB that inflates to 60 million values is refused, and the next one is read", async () => {
  const headers = new HeaderReader({ quickMs: 200, longMs: patiently(60_000) });
  const { do: _, ...place } = header(deflateRawSync(manyValues(60 * MB)), DEFLATED);
  expect(await headers.read(place)).toEqual({ problem: "it needs more memory than allowed" });
  expect(await headers.read(header())).toMatchObject({ header: { study: "1.2.3" } });
  headers.close();
});

test("a codec gets no more memory than its bound", async () => {
  const image = written(JPEG_2000, emptyJpeg2000());
  const { most, result } = await whileWatched(() => drawPreview(image, undefined, files));
  expect(result).toMatchObject({ message: "its codec failed, perhaps for want of memory" });
  expect(most).toBeLessThan(RESIDENT_MB_MAX);
});

test.runIf(isLinux)("a kill of the process fails one file, and idle processes keep no program alive", async () => {
  // Those of earlier tests may still end, or wait for their next file.
  const others = new Set(fileProcessesOf(process.pid));
  expect(await files.read(header())).toHaveProperty("header");
  const [id = 0] = fileProcessesOf(process.pid).filter((each) => !others.has(each));
  const drawn = drawPreview(written(JPEG, blankJpeg()), undefined, files);
  process.kill(id, "SIGKILL");
  await expect(drawn).rejects.toMatchObject({ code: "IMAGE.ENDED" });
  expect(await files.read(header())).toHaveProperty("header");
});

test.runIf(isLinux)("the process ends with the agent, also within a frame, at SIGKILL", async () => {
  const module = pathToFileURL(path.resolve("agent/imaging/files/confined-files.ts")).href;
  const source = `const { ConfinedFiles } = await import(${JSON.stringify(module)});
    const files = new ConfinedFiles(600_000);
    await files.read(${JSON.stringify(header())});
    files.read(${JSON.stringify({ ...header(deflateRawSync(manyValues(60 * MB)), DEFLATED) })}).catch(() => undefined);
    console.log("reading");`;
  const program = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(program.stdout, "data");
  const [id = 0] = fileProcessesOf(program.pid!);
  expect(id).toBeGreaterThan(0);
  program.kill("SIGKILL");
  await until("the end", () => !fs.existsSync(`/proc/${id}`));
});
