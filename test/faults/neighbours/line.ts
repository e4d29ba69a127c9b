import net from "node:net";

const REPLY_MS = 30_000;

/** Device side of a connection: bytes out, complete replies in. */
export class Line {
  readonly #socket: net.Socket;
  readonly #replyMs: number;
  /** Counts the complete replies in the received bytes. */
  readonly #count: (bytes: Buffer) => number;
  #replies = 0;
  #replied: () => void = () => undefined;

  static connect(port: number, count: (bytes: Buffer) => number, replyMs = REPLY_MS): Promise<Line> {
    const socket = net.connect({ host: "127.0.0.1", port, noDelay: true });
    return new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.once("connect", () => resolve(new Line(socket, count, replyMs)));
    });
  }

  private constructor(socket: net.Socket, count: (bytes: Buffer) => number, replyMs: number) {
    this.#socket = socket;
    this.#count = count;
    this.#replyMs = replyMs;
    socket.on("error", () => undefined); // "close" follows
    socket.on("data", (bytes: Buffer) => {
      this.#replies += this.#count(bytes);
      this.#replied();
    });
    socket.once("close", () => this.#replied());
  }

  /** Sends bytes. @returns the milliseconds to the next positive reply. @throws after a close or `replyMs` without one */
  async exchange(bytes: Uint8Array): Promise<number> {
    const from = performance.now();
    const before = this.#replies;
    await new Promise<void>((resolve, reject) => {
      const ms = this.#replyMs;
      const late = setTimeout(() => reject(new Error(`expected a reply within ${ms} ms, got none`)), ms);
      this.#replied = () => {
        if (this.#replies === before && !this.#socket.destroyed) return;
        clearTimeout(late);
        if (this.#replies > before) resolve();
        else reject(new Error("expected a reply, got a closed connection"));
      };
      this.#socket.write(bytes);
    });
    return performance.now() - from;
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  close(): void {
    this.#socket.destroy();
  }
}
