// Functions of one thread that another one calls by name, both ways over one port. Calls and answers arrive in the order in
// which they were made.

type Functions<Names extends PropertyKey> = { readonly [Name in Names]: (...args: never[]) => unknown };
type Message =
  /** `id` null: nobody waits for the answer. */
  | { readonly id: number | null; readonly name: string; readonly args: readonly never[] }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: unknown };
/** A worker, or a worker's port to who started it. */
interface Port {
  on(event: "message", listener: (message: Message) => void): unknown;
  postMessage(message: Message): void;
}

export class ThreadRpc<Ours extends Functions<keyof Ours>, Theirs extends Functions<keyof Theirs>> {
  readonly #port: Port;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  #asked = 0;

  constructor(port: Port, ours: Ours) {
    this.#port = port;
    port.on("message", (message: Message) => {
      if ("name" in message) this.#run(ours[message.name as keyof Ours], message.id, message.args);
      else this.#settle(message);
    });
  }

  /** Calls a function of the other thread. @returns its result @throws its error */
  call<Name extends keyof Theirs>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#port.postMessage({ id, name: String(name), args });
    });
  }

  /** The same where nobody waits for an answer: what the function throws is that thread's own fault. */
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

  #settle(answer: Exclude<Message, { readonly name: string }>): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("value" in answer) waiting?.resolve(answer.value);
    else waiting?.reject(answer.error);
  }
}
