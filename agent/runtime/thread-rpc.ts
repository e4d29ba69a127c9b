// Bidirectional RPC between two threads over one MessagePort. Calls and replies arrive in call order.

type RpcFunctions<Names extends PropertyKey> = { readonly [Name in Names]: (...args: never[]) => unknown };
type RpcReply = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: unknown };
type RpcMessage =
  /** `id` is null if the caller needs no reply. */
  { readonly id: number | null; readonly name: string; readonly args: readonly never[] } | RpcReply;
/** A Worker, or the parentPort of its thread. */
interface RpcPort {
  on(event: "message", listener: (message: RpcMessage) => void): unknown;
  postMessage(message: RpcMessage): void;
}

export class ThreadRpc<Ours extends RpcFunctions<keyof Ours>, Theirs extends RpcFunctions<keyof Theirs>> {
  readonly #port: RpcPort;
  readonly #pendingCalls = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  #lastId = 0;

  /** `ours` are the functions that the other thread may call. */
  constructor(port: RpcPort, ours: Ours) {
    this.#port = port;
    port.on("message", (message: RpcMessage) => {
      if ("name" in message) this.#run(ours[message.name as keyof Ours], message.id, message.args);
      else this.#resolvePending(message);
    });
  }

  /** Calls a function of the other thread. @returns its result @throws its error */
  call<Name extends keyof Theirs>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pendingCalls.set(id, { resolve, reject });
      this.#port.postMessage({ id, name: String(name), args });
    });
  }

  /** Calls a function of the other thread without a reply. An error of the function stays in that thread. */
  notify<Name extends keyof Theirs>(name: Name, ...args: Parameters<Theirs[Name]>): void {
    this.#port.postMessage({ id: null, name: String(name), args });
  }

  #run(ours: (...args: never[]) => unknown, id: number | null, args: readonly never[]): void {
    if (id === null) return void ours(...args);
    new Promise((resolve) => resolve(ours(...args))).then(
      (value) => this.#port.postMessage({ id, value }),
      (error: unknown) => this.#port.postMessage({ id, error }),
    );
  }

  #resolvePending(reply: RpcReply): void {
    const pending = this.#pendingCalls.get(reply.id);
    this.#pendingCalls.delete(reply.id);
    if ("value" in reply) pending?.resolve(reply.value);
    else pending?.reject(reply.error);
  }
}
