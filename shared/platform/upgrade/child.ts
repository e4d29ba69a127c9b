import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { errorMessage } from "../../runtime/error-message.ts";
import { printableLines } from "../../runtime/printable.ts";
import { moduleFile } from "../../files/program-files.ts";
import { type FromLauncher, ToLauncher, ROLLED_BACK_VARIABLE, VERSIONS_VARIABLE } from "./launcher-messages.ts";
import { LastWords } from "./last-words.ts";
import { programOf, versionFolder } from "./version-store.ts";
import type { Health } from "./versions.ts";
import { compileLater } from "../../schema/compile-later.ts";

// One process of the program, as the launcher's child.

export interface ChildOrder {
  readonly program: "agent" | "server";
  readonly options: readonly string[];
  readonly folder: string;
  readonly version: string;
  /** Whether the version is that of the launcher's own program folder. */
  readonly isOwn: boolean;
  /** Whether this version starts in place of a failed later one. */
  readonly rolledBack: boolean;
  /** Takes the output in place of the launcher's own, where no service manager keeps it. */
  readonly output: ((text: string) => void) | null;
}

/** How a process ended. */
export interface End {
  readonly startedAt: number;
  readonly code: number | null;
  readonly signal: string | null;
  /** The reason in words. */
  readonly sentence: string;
}

/** Time for an ordered end, after which the process is killed. Service managers give as much. */
const END_MS = 30_000;

const toLauncher = compileLater(ToLauncher);

export class Child {
  readonly ended: Promise<End>;
  /** Null if Node refused the start immediately, as on Windows for a file that is not a program. */
  readonly #process: ChildProcess | null;
  #health: Health | null = null;

  constructor(order: ChildOrder) {
    const startedAt = Date.now();
    try {
      const child = startProcess(order);
      this.#process = child;
      this.ended = new Promise((resolve) => {
        const words = new LastWords();
        relay(child, order.output, words);
        child.once("error", (error) => resolve(notStarted(startedAt, error)));
        child.once("close", (code, signal) => {
          const how = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
          const sentence = [how, words.sentence].filter((part) => part !== null).join(": ");
          resolve({ startedAt, code, signal, sentence });
        });
      });
    } catch (error) {
      this.#process = null;
      this.ended = Promise.resolve(notStarted(startedAt, error));
    }
  }

  /** The number of the process; null if it does not start. */
  get id(): number | null {
    return this.#process?.pid ?? null;
  }

  /** The last report of the process; null before its start is complete. */
  get health(): Health | null {
    return this.#health;
  }

  onMessage(listener: (message: ToLauncher) => void): void {
    this.#process?.on("message", (message) => {
      if (!toLauncher.Check(message)) return;
      if (message.is === "health") this.#health = message;
      listener(message);
    });
  }

  send(message: FromLauncher): void {
    // A process that ended meanwhile gets nothing.
    if (this.#process?.connected) this.#process.send(message, () => undefined);
  }

  /** Requests the end. A message, because Windows has no signal that a process could handle. */
  stop(): void {
    this.send({ is: "stop" });
  }

  reload(): void {
    this.#process?.kill("SIGHUP");
  }

  /** Requests the end, and kills a process that does not follow. */
  async end(): Promise<void> {
    this.stop();
    const timer = setTimeout(() => this.#process?.kill("SIGKILL"), END_MS);
    await this.ended;
    clearTimeout(timer);
  }
}

/** @throws Error immediately for a file that is not a program */
function startProcess(order: ChildOrder): ChildProcess {
  const [node, ...args] = commandOf(order);
  return spawn(node, [...args, order.program, "run", ...order.options], {
    env: environmentOf(order),
    stdio: ["inherit", order.output === null ? "inherit" : "pipe", "pipe", "ipc"],
    windowsHide: true,
  });
}

/** Passes the output on, and keeps the last words. */
function relay({ stdout, stderr }: ChildProcess, output: ChildOrder["output"], words: LastWords): void {
  if (output !== null) stdout?.setEncoding("utf8").on("data", output);
  stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (output === null) process.stderr.write(printableLines(text));
    else output(text);
    words.add(text);
  });
}

function notStarted(startedAt: number, error: unknown): End {
  return { startedAt, code: null, signal: null, sentence: `it does not start: ${errorMessage(error)}` };
}

/** Returns Node and the words that start the command `vetwire` of a version. */
function commandOf({ folder, version, isOwn }: ChildOrder): [string, ...string[]] {
  if (isOwn) return [process.execPath, ...process.execArgv, moduleFile("shared/main")];
  return programOf(versionFolder(folder, version));
}

function environmentOf({ folder, rolledBack }: ChildOrder): NodeJS.ProcessEnv {
  const { [ROLLED_BACK_VARIABLE]: _rolledBack, ...env } = process.env;
  return { ...env, [VERSIONS_VARIABLE]: path.resolve(folder), ...(rolledBack && { [ROLLED_BACK_VARIABLE]: "1" }) };
}
