import fs from "node:fs";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { imageFolder } from "../../../agent/imaging/files/image-folder.ts";
import type { Chance } from "./chance.ts";
import type { Clock } from "./clock.ts";
import type { Disk } from "./disk.ts";

// The file calls of the image store. Calls that end in real time end in virtual time instead, and the faults of the disk concern
// images too. No call syncs: the folder is in memory.

type Done = (error: NodeJS.ErrnoException | null) => void;

const CODES = { full: "ENOSPC", "read-only": "EROFS" } as const;

/** Returns whether the simulated disk refused a call with this error. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && "code" in error && Object.values<unknown>(CODES).includes(error.code);
}

/** Replaces functions of node:fs for one world. @returns a function that puts them back */
export function installImageFiles(disk: Disk, clock: Clock, chance: Chance): () => void {
  const real = { ...fs };
  const realOpen = fs.promises.open;
  const folder = imageFolder(disk.folder) + path.sep;
  const isImage = (file: fs.PathLike) => String(file).startsWith(folder);
  /** Files of the store. A killed process does not close them. */
  const open = new Set<number>();
  const refusal = (): NodeJS.ErrnoException | null => {
    const code = disk.fault === null ? null : CODES[disk.fault];
    return code === null ? null : Object.assign(new Error(`${code}: the disk is ${disk.fault}`), { code });
  };
  const refuse = () => {
    const error = refusal();
    if (error !== null) throw error;
  };
  const sync = (_file: number, done: Done) => {
    const { process } = clock;
    if (process === null) return setImmediate(() => done(null));
    clock.schedule(process, chance.ms(disk.commitMs), () => done(refusal()));
  };
  const replaced = {
    fsync: sync,
    fdatasync: sync,
    fsyncSync: () => undefined,
    openSync(file: fs.PathLike, flags?: fs.OpenMode, mode?: fs.Mode) {
      if (flags === "wx" && isImage(file)) refuse();
      const handle = real.openSync(file, flags ?? "r", mode);
      if (isImage(file) || file === imageFolder(disk.folder)) open.add(handle);
      return handle;
    },
    closeSync(handle: number) {
      open.delete(handle);
      real.closeSync(handle);
    },
    writevSync(file: number, pieces: readonly NodeJS.ArrayBufferView[]) {
      if (open.has(file)) refuse();
      return real.writevSync(file, pieces);
    },
    renameSync(from: fs.PathLike, to: fs.PathLike) {
      if (isImage(to)) refuse();
      real.renameSync(from, to);
    },
    createReadStream(file: string, options: { start: number }) {
      if (!isImage(file)) return real.createReadStream(file, options);
      const { start } = options;
      return Readable.from([fs.readFileSync(file).subarray(start)]);
    },
    createWriteStream(file: string, options: object) {
      if (!isImage(file)) return real.createWriteStream(file, options);
      const parts: Buffer[] = [];
      return new Writable({
        write(part: Buffer, _encoding, done) {
          parts.push(part);
          done();
        },
        final(done) {
          const error = refusal();
          if (error === null) fs.writeFileSync(file, Buffer.concat(parts));
          done(error);
        },
      });
    },
  };
  Object.assign(fs, replaced);
  Reflect.set(fs.promises, "open", async (file: string, ...rest: readonly []) =>
    isImage(file) ? handleOf(fs.readFileSync(file)) : realOpen(file, ...rest),
  );
  return () => {
    for (const name of Object.keys(replaced) as (keyof typeof replaced)[]) Reflect.set(fs, name, real[name]);
    Reflect.set(fs.promises, "open", realOpen);
    for (const handle of open) fs.closeSync(handle);
  };
}

/** The part of a file handle that isWhole() uses. */
function handleOf(content: Buffer) {
  return {
    read: async (target: Buffer) => void content.copy(target),
    createReadStream: ({ start }: { start: number }) => [content.subarray(start)],
    close: async () => undefined,
  };
}
