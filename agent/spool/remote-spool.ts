import type { MessagePort } from "node:worker_threads";
import type { Operations } from "./queries/operations.ts";
import type { Spool } from "./spool.ts";
import { StorageError } from "./thread/storage-error.ts";
import type { OperationCall, RemoteReply } from "./thread/wire-format.ts";

interface RemotePendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Calls the spool's worker from another thread, past the main thread. See Spool.openPort(). Results arrive in call order. */
export class RemoteSpool implements Pick<Spool, "call"> {
  readonly #port: MessagePort;
  readonly #pendingCalls: RemotePendingCall[] = [];

  constructor(port: MessagePort) {
    this.#port = port;
    port.on("message", (reply: RemoteReply) => {
      const { resolve, reject } = this.#pendingCalls.shift()!;
      if ("value" in reply) resolve(reply.value);
      else reject("refused" in reply ? new StorageError(reply.refused) : new Error(reply.error));
    });
  }

  /** Runs one operation, as Spool.call() does. @throws StorageError if the disk refuses the group */
  call<Name extends keyof Operations>(
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    return new Promise((resolve, reject) => {
      this.#pendingCalls.push({ resolve: resolve as (value: unknown) => void, reject });
      this.#port.postMessage({ name, args } satisfies OperationCall);
    });
  }
}
