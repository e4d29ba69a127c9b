import type { MessagePort } from "node:worker_threads";
import type { Spool } from "./spool.ts";
import type { Operations } from "./queries/operations.ts";
import type { Call, LineAnswer } from "./worker.ts";
import { StorageError } from "./storage-error.ts";

/** Another thread's way to the spool's, past the main thread: see Spool.line(). Calls are settled in the order they were made. */
export class SpoolLine implements Pick<Spool, "call"> {
  readonly #port: MessagePort;
  readonly #waiting: { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
    port.on("message", (answer: LineAnswer) => {
      const { resolve, reject } = this.#waiting.shift()!;
      if ("value" in answer) resolve(answer.value);
      else reject("refused" in answer ? new StorageError(answer.refused) : new Error(answer.error));
    });
  }

  /** As Spool's. @throws StorageError when the disk refuses it */
  call<Name extends keyof Operations>(
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve: resolve as (value: unknown) => void, reject });
      this.#port.postMessage({ name, args } satisfies Call);
    });
  }
}
