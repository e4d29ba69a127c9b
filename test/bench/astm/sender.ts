import net from "node:net";
import type { Session } from "./frames.ts";

const ACK = 6;

/** Sends as LIS01-A2 requires on one connection per port for `seconds`. @returns acknowledged frames per second */
export async function framesPerSecond(ports: readonly number[], session: Session, seconds: number): Promise<number> {
  const count = { frames: 0, running: true };
  const senders = ports.map((port) => sendSessions(port, session, count));
  const failed = Promise.all(senders).then(() => undefined);
  // Counting starts after the connections and the first commits, in the steady state.
  await Promise.race([sleep(300), failed]);
  const from = performance.now();
  const before = count.frames;
  await Promise.race([sleep(seconds * 1000), failed]);
  const rate = (count.frames - before) / ((performance.now() - from) / 1000);
  count.running = false;
  await failed;
  return rate;
}

/** Writes stop-and-wait: each write follows the ACK of the previous one. Ends after the EOT of a session once the time is over. */
function sendSessions(
  port: number,
  { establish, frames, end }: Session,
  count: { frames: number; running: boolean },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0;
    const begin = () => socket.write(establish);
    const acknowledged = (replies: number, bytes: Uint8Array): boolean => {
      if (replies !== 1 || bytes[0] !== ACK) {
        socket.destroy(
          new Error(`port ${port}: expected ACK, got ${Buffer.from(bytes.subarray(0, replies)).toString("hex")}`),
        );
      } else if (next < frames.length) {
        if (next > 0) count.frames += 1;
        socket.write(frames[next++]!);
      } else {
        count.frames += 1;
        next = 0;
        socket.write(end);
        if (count.running) setImmediate(begin);
        else socket.end();
      }
      return true;
    };
    // One buffer per connection, since stream reads cost as much CPU time as sending.
    const onread = { buffer: new Uint8Array(64), callback: acknowledged };
    const socket = net.connect({ host: "127.0.0.1", port, noDelay: true, onread }, begin);
    socket.once("error", reject);
    socket.once("close", () => resolve());
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
