import { type ChildProcess, spawn } from "node:child_process";
import { Type } from "typebox";
import { PICTURE_FAULTS, type PictureFault } from "../../page/types/images.ts";
import { moduleFile } from "../../../shared/files/program-files.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import type { FileRequest } from "./file-process.ts";

// Reads untrusted files in a process of its own, one at a time. If a codec or a lack of memory ends that process, one file is at
// fault: the next one starts a new process.

/** Pages of 64 KiB that a codec may have: 512 MB. */
const WASM_PAGES_MAX = 8192;
/** Time without a request after which the process ends. */
const IDLE_MS = 10_000;

/** Time for the last message of an ended process. */
const LAST_MESSAGE_MS = 200;

/** The process ended while it read a file, or was ended at the time limit. */
export class FileFault extends Error {
  readonly code: PictureFault;

  constructor(code: PictureFault, timeMs: number) {
    super(faultText(code, timeMs));
    this.code = code;
  }
}

function faultText(code: PictureFault, timeMs: number): string {
  switch (code) {
    case "IMAGE.MEMORY":
      return "it needs more memory than allowed";
    case "IMAGE.TIME":
      return `not read within ${timeMs / 1000} s`;
    case "IMAGE.ENDED":
      return "its decoder ended";
  }
}

interface Pending {
  readonly request: FileRequest;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const Fault = compileLater(Type.Object({ fault: Type.Enum(PICTURE_FAULTS) }));

export class ConfinedFiles {
  readonly #timeMs: number;
  readonly #queue: Pending[] = [];
  #current: Pending | null = null;
  #process: ChildProcess | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `timeMs` is the time limit of one file. */
  constructor(timeMs: number) {
    this.#timeMs = timeMs;
  }

  /** Reads a file. @throws FileFault if the process ends meanwhile, Error after an abort or close() */
  async read(request: FileRequest, signal?: AbortSignal): Promise<unknown> {
    const done = new AbortController(); // removes the listener
    try {
      return await new Promise((resolve, reject) => {
        const pending: Pending = { request, resolve, reject };
        signal?.addEventListener("abort", () => this.#abort(pending), { signal: done.signal });
        this.#queue.push(pending);
        this.#readNext();
      });
    } finally {
      done.abort();
    }
  }

  /** Ends the process. Unread files throw. */
  close(): void {
    this.#isClosed = true;
    this.#fail(new Error(CLOSED));
  }

  #abort(pending: Pending): void {
    if (pending === this.#current) return this.#fail(new Error(GIVEN_UP));
    this.#queue.splice(this.#queue.indexOf(pending), 1);
    pending.reject(new Error(GIVEN_UP));
  }

  #readNext(): void {
    if (this.#current !== null) return;
    if (this.#isClosed) {
      for (const { reject } of this.#queue.splice(0)) reject(new Error(CLOSED));
      return;
    }
    // The shortest header is first, because slow headers are long.
    const bytes = this.#queue.map(({ request }) => request.headerBytes);
    const [next] = this.#queue.splice(bytes.indexOf(Math.min(...bytes)), 1);
    if (next === undefined) return this.#rest();
    clearTimeout(this.#timer);
    this.#current = next;
    this.#process ??= this.#start();
    this.#process.ref();
    this.#process.channel?.ref();
    this.#process.send(next.request, () => undefined); // the end of a process reports a failure
  }

  /** Lets this program end, and soon the process. */
  #rest(): void {
    this.#process?.unref();
    this.#process?.channel?.unref();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), IDLE_MS).unref();
  }

  #start(): ChildProcess {
    const file = moduleFile("agent/imaging/files/file-process");
    const child = spawn(process.execPath, [`--wasm-max-mem-pages=${WASM_PAGES_MAX}`, file], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced", // pictures are bytes
      windowsHide: true,
    });
    let fault: PictureFault = "IMAGE.ENDED";
    child.on("message", (message: unknown) => {
      if (child !== this.#process) return;
      if (Fault.Check(message)) fault = message.fault;
      // The limit starts with the reading, because on a slow machine the process starts slower than it reads.
      else if (message === "started") this.#timer = setTimeout(() => this.#failWith("IMAGE.TIME"), this.#timeMs);
      else this.#resolve(message);
    });
    const ended = () => {
      if (child === this.#process) this.#failWith(fault);
    };
    child.on("disconnect", ended); // after its last message
    child.on("exit", () => setTimeout(ended, LAST_MESSAGE_MS)); // Windows may report no disconnection
    child.on("error", ended); // it did not start
    return child;
  }

  #resolve(result: unknown): void {
    clearTimeout(this.#timer);
    const current = this.#current;
    this.#current = null;
    // Ends the process after a failed drawing, because the codec's memory may be damaged.
    if (current?.request.do === "draw" && !isPicture(result)) this.#end();
    current?.resolve(result);
    this.#readNext();
  }

  #failWith(fault: PictureFault): void {
    this.#fail(new FileFault(fault, this.#timeMs));
  }

  /** Ends the process with its file. The next file starts a new one. */
  #fail(error: Error): void {
    clearTimeout(this.#timer);
    this.#end();
    this.#current?.reject(error);
    this.#current = null;
    this.#readNext();
  }

  #end(): void {
    this.#process?.kill("SIGKILL");
    this.#process = null;
  }
}

function isPicture(result: unknown): boolean {
  return typeof result === "object" && result !== null && "png" in result;
}

const CLOSED = "the agent stops";
const GIVEN_UP = "given up";
