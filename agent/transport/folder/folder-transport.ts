import path from "node:path";
import { realTimer, type SetTimer } from "../../runtime/timer.ts";
import { folderFault, type LineState } from "../../states/line-state.ts";
import type { Transport, Wire, WireHandler } from "../transport.ts";
import { lookAt, moveToDone, readSeen } from "./folder-files.ts";
import { compareLooks, type Sighting, type Standings } from "./ready-files.ts";
import { errorCode } from "../../../shared/runtime/error-message.ts";

// Watches a folder into which another program exports files. A complete file is a wire of its own: its bytes go to the link as from a
// device, and the reply of the link means that they are durable. Only then the file moves.

export interface WatchedFolder {
  readonly path: string;
  /** The ends of file names, in lower case and without a dot. */
  readonly extensions: readonly string[];
  /** Files stay where they are, such as on a disk that the agent may only read. */
  readonly leave: boolean;
  /** Larger files are refused. */
  readonly bytesMax: number;
  /** The remedy for a larger file. */
  readonly whenTooLarge: string;
  /** Whether the content has its end. A file without it waits for a while. Default: each file that has not changed. */
  readonly isWhole?: (name: string, bytes: Uint8Array) => boolean;
  /** Returns the bytes before those of a file, from which the link reads its name and length. */
  readonly header: (file: { readonly name: string; readonly bytes: number }) => Uint8Array;
}

interface FolderOptions {
  readonly setTimer?: SetTimer;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicMs?: () => number;
}

/** Shares of other machines report no changes. */
const LOOK_EVERY_MS = 3_000;
/** The bytes leave in parts, so that the backpressure of the connection holds. */
const PART_BYTES = 128 * 1024;
/** Time for the program of a file without its end to write it. */
const END_WAIT_MS = 60_000;
/** Time for the link to reply once it has all bytes. */
const REPLY_MS_MAX = 60_000;

export function folderTransport(folder: WatchedFolder, options: FolderOptions = {}): Transport {
  const { setTimer = realTimer, monotonicMs = () => performance.now() } = options;
  let stop: (() => Promise<void>) | undefined;
  return {
    open(accept, problem, stateChanged = () => undefined) {
      const watch = new FolderWatch(folder, { accept, problem, stateChanged, setTimer, monotonicMs });
      stop = watch.start();
    },
    async close() {
      await stop?.();
    },
  };
}

interface WatchContext extends Required<FolderOptions> {
  readonly accept: (wire: Wire) => WireHandler;
  readonly problem: (reason: string) => void;
  readonly stateChanged: (state: LineState) => void;
}

class FolderWatch {
  readonly #folder: WatchedFolder;
  readonly #context: WatchContext;
  #standings: Standings = new Map();
  /** The files that were taken, and those that are too large, as they were. */
  readonly #settled = new Map<string, Sighting>();
  /** The files that were taken and did not move yet. */
  readonly #toMove = new Map<string, Sighting>();
  /** The files without their end, and since when. */
  readonly #cut = new Map<string, { readonly seen: Sighting; readonly sinceMs: number }>();
  /** The fault that was reported last. */
  #fault: string | null = null;
  /** Files that cannot be opened, each reported once. */
  readonly #busy = new Set<string>();
  #isStopped = false;

  constructor(folder: WatchedFolder, context: WatchContext) {
    this.#folder = folder;
    this.#context = context;
  }

  /** @returns a function that stops it after the file under way */
  start(): () => Promise<void> {
    this.#context.stateChanged({ is: "opening" });
    let cancel: (() => void) | undefined;
    let work = Promise.resolve();
    const run = () => {
      work = this.#look().then(() => {
        if (!this.#isStopped) cancel = this.#context.setTimer(LOOK_EVERY_MS, run);
      });
    };
    run();
    return async () => {
      this.#isStopped = true;
      cancel?.();
      await work;
    };
  }

  /** Looks at the folder once, and takes the files that are complete. Never rejects. */
  async #look(): Promise<void> {
    try {
      const found = await lookAt(this.#folder.path, this.#folder.extensions);
      this.#noteWell();
      this.#forgetMissing(found);
      const open = found.filter((seen) => !isSame(this.#settled.get(seen.name), seen));
      const { standings, ready } = compareLooks(this.#standings, open, this.#context.monotonicMs());
      this.#standings = standings;
      for (const seen of this.#toMove.values()) await this.#move(seen);
      for (const seen of ready) {
        if (this.#isStopped) return;
        await this.#takeFile(seen);
      }
    } catch (error) {
      this.#noteFault(error as NodeJS.ErrnoException);
    }
  }

  async #takeFile(seen: Sighting): Promise<void> {
    const { path: folder, bytesMax, whenTooLarge, leave } = this.#folder;
    if (seen.bytes > bytesMax) {
      this.#settled.set(seen.name, seen);
      this.#context.problem(`${fileOf(seen)} has ${seen.bytes} bytes, at most ${bytesMax}: ${whenTooLarge}`);
      return;
    }
    const read = await readSeen(folder, seen);
    if (read.is === "busy") this.#noteBusy(seen, "opened", read.code);
    if (read.is !== "read" || this.#waitsForEnd(seen, read.bytes) || !(await this.#send(seen, read.bytes))) return;
    this.#settled.set(seen.name, seen);
    if (leave) return;
    this.#toMove.set(seen.name, seen);
    await this.#move(seen);
  }

  /** Returns whether the file lacks its end, and its program may still write it. After a while it is taken as it is, and shown. */
  #waitsForEnd(seen: Sighting, bytes: Uint8Array): boolean {
    if (this.#folder.isWhole?.(seen.name, bytes) ?? true) {
      this.#cut.delete(seen.name);
      return false;
    }
    const now = this.#context.monotonicMs();
    const last = this.#cut.get(seen.name);
    const sinceMs = isSame(last?.seen, seen) ? (last?.sinceMs ?? now) : now;
    this.#cut.set(seen.name, { seen, sinceMs });
    return now - sinceMs < END_WAIT_MS;
  }

  async #move(seen: Sighting): Promise<void> {
    try {
      await moveToDone(this.#folder.path, seen);
      this.#toMove.delete(seen.name);
    } catch (error) {
      this.#noteBusy(seen, "moved", errorCode(error));
    }
  }

  /** Reports once that a file cannot be used. The next looks try again. */
  #noteBusy(seen: Sighting, how: "opened" | "moved", code: string): void {
    const { name } = seen;
    const account = how === "opened" ? "read it" : "write to the folder, or set leave: true";
    if (!this.#busy.has(name)) {
      this.#context.problem(
        `${fileOf(seen)} cannot be ${how} (${code}): close it in the other program, or let the agent's account ${account}`,
      );
    }
    this.#busy.add(name);
  }

  /** Passes a file to the link. @returns whether it is durable */
  async #send({ name }: Sighting, bytes: Uint8Array): Promise<boolean> {
    let resume: (() => void) | undefined;
    let isPaused = false;
    let replied: ((isDurable: boolean) => void) | undefined;
    const reply = new Promise<boolean>((resolve) => (replied = resolve));
    let isClosed = false;
    const handler = this.#context.accept({
      peer: path.basename(this.#folder.path),
      write(_reply, left) {
        left?.();
        replied?.(true);
      },
      close() {
        isClosed = true;
        resume?.();
        replied?.(false);
      },
      pause: () => (isPaused = true),
      resume() {
        isPaused = false;
        resume?.();
      },
    });
    try {
      const whole = Buffer.concat([this.#folder.header({ name, bytes: bytes.length }), bytes]);
      for (let from = 0; from < whole.length && !isClosed; from += PART_BYTES) {
        if (isPaused) await new Promise<void>((resolve) => (resume = resolve));
        handler.chunk(whole.subarray(from, from + PART_BYTES));
      }
      const cancel = this.#context.setTimer(REPLY_MS_MAX, () => replied?.(false));
      const isDurable = await reply;
      cancel();
      return isDurable;
    } finally {
      handler.closed();
    }
  }

  #forgetMissing(found: readonly Sighting[]): void {
    const names = new Set(found.map(({ name }) => name));
    for (const name of this.#settled.keys()) if (!names.has(name)) this.#settled.delete(name);
    for (const name of this.#cut.keys()) if (!names.has(name)) this.#cut.delete(name);
    for (const name of this.#toMove.keys()) if (!names.has(name)) this.#toMove.delete(name);
    for (const name of this.#busy) if (!names.has(name)) this.#busy.delete(name);
  }

  #noteWell(): void {
    if (this.#fault !== null || this.#standings.size === 0) this.#context.stateChanged({ is: "listening" });
    this.#fault = null;
  }

  #noteFault(error: NodeJS.ErrnoException): void {
    const code = error.code ?? error.message;
    if (code === this.#fault) return;
    this.#fault = code;
    const state = folderFault(this.#folder.path, error);
    this.#context.stateChanged(state);
    this.#context.problem(state.reason);
  }
}

/** Names a file for the log by its kind and time: programs often give it the name of a patient or an owner. */
function fileOf({ name, modifiedMs }: Sighting): string {
  return `a ${path.extname(name).toLowerCase()} file of ${new Date(modifiedMs).toISOString()}`;
}

function isSame(one: Sighting | undefined, other: Sighting): boolean {
  return one?.bytes === other.bytes && one.modifiedMs === other.modifiedMs;
}
