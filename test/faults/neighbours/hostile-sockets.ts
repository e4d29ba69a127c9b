import net from "node:net";

const RECONNECT_MS = 20;

/** Sockets of a hostile client. */
export class HostileSockets {
  readonly #port: number;
  readonly #open = new Set<net.Socket>();
  #isStopped = false;

  constructor(port: number) {
    this.#port = port;
  }

  /** Holds `count` connections open: each that ends is made again. `begin` is called with each new one. */
  hold(count: number, begin: (socket: net.Socket) => void): void {
    for (let number = 0; number < count; number++) this.#connect(begin);
  }

  stop(): void {
    this.#isStopped = true;
    for (const socket of this.#open) socket.destroy();
  }

  #connect(begin: (socket: net.Socket) => void): void {
    const socket = net.connect({ host: "127.0.0.1", port: this.#port, noDelay: true });
    this.#open.add(socket);
    socket.on("error", () => undefined); // "close" follows
    socket.once("connect", () => begin(socket));
    socket.once("close", () => {
      this.#open.delete(socket);
      if (!this.#isStopped) setTimeout(() => !this.#isStopped && this.#connect(begin), RECONNECT_MS);
    });
  }
}

/** Sends bytes over and over, as fast as the peer reads them. */
export function pump(socket: net.Socket, bytes: () => Uint8Array): void {
  const write = () => {
    while (socket.writable && socket.write(bytes())) if (socket.writableLength > 0) break;
    if (socket.writable && !socket.writableNeedDrain) setImmediate(write);
  };
  socket.on("drain", write);
  write();
}

/** Sends one byte a second. */
export function dribble(socket: net.Socket): void {
  const timer = setInterval(() => socket.write("x"), 1_000);
  socket.once("close", () => clearInterval(timer));
}

/** Reads and forgets replies. */
export function ignoreReplies(socket: net.Socket): void {
  socket.resume();
}
