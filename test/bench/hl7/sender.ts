import net from "node:net";
import { FS } from "../../../agent/protocols/bytes.ts";
import { frames } from "./message.ts";

/** A message without a reply within this time is lost. */
const LOST_MS = 5_000;

export interface Load {
  readonly connections: number;
  /** Maximum number of unacknowledged messages per connection. */
  readonly window: number;
  readonly bytes: number;
}

/** Sends on one connection per port. @returns acknowledged messages per second. @throws if a message is not acknowledged */
export async function messagesPerSecond(ports: readonly number[], load: Load, seconds: number): Promise<number> {
  const count = { messages: 0, running: true };
  const senders = Promise.all(ports.map((port) => send(port, load, count))).then(() => undefined);
  // Counting starts after the connections and the first commits, in the steady state.
  await Promise.race([sleep(300), senders]);
  const from = performance.now();
  const before = count.messages;
  await Promise.race([sleep(seconds * 1000), senders]);
  const rate = (count.messages - before) / ((performance.now() - from) / 1000);
  count.running = false;
  await senders;
  return rate;
}

function send(port: number, { window, bytes }: Load, count: { messages: number; running: boolean }): Promise<void> {
  const next = frames(bytes);
  return new Promise((resolve, reject) => {
    let outstanding = 0;
    const fill = () => {
      for (; count.running && outstanding < window; outstanding++) socket.write(next());
    };
    const onReply = (length: number, chunk: Uint8Array): boolean => {
      for (let at = 0; at < length; at++) {
        if (chunk[at] !== FS) continue;
        outstanding -= 1;
        count.messages += 1;
      }
      if (Buffer.from(chunk.buffer, 0, length).includes("MSA|AR")) socket.destroy(new Error("a message was refused"));
      if (outstanding === 0 && !count.running) socket.end();
      else setImmediate(fill);
      return true;
    };
    // One buffer per connection, since stream reads cost as much CPU time as sending.
    const onread = { buffer: new Uint8Array(64 * 1024), callback: onReply };
    const socket = net.connect({ host: "127.0.0.1", port, noDelay: true, onread }, fill);
    socket.setTimeout(LOST_MS, () => socket.destroy(new Error(`${outstanding} messages were lost`)));
    socket.once("error", reject);
    socket.once("close", () => resolve());
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
