import net from "node:net";
import { onTestFinished } from "vitest";

/** How a receiver answers its n-th message (from 0): a code of MSA-1, silence, or an end of the connection. */
export type Answer = "AA" | "AE" | "AR" | "silence" | "close";

/** Starts practice software: a TCP server that keeps each message and answers it. */
export async function startReceiver(answer: (index: number, message: string) => Answer = () => "AA") {
  const messages: string[] = [];
  const open = new Set<net.Socket>();
  let inFlight = 0;
  let mostInFlight = 0;
  const server = net.createServer((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket)).on("error", () => undefined);
    let received = Buffer.alloc(0);
    socket.on("data", (bytes) => {
      received = Buffer.concat([received, bytes]);
      for (let end = received.indexOf("\x1c\r"); end >= 0; end = received.indexOf("\x1c\r")) {
        const message = received.subarray(1, end).toString();
        received = received.subarray(end + 2);
        inFlight += 1;
        mostInFlight = Math.max(mostInFlight, inFlight);
        messages.push(message);
        const code = answer(messages.length - 1, message);
        inFlight -= 1;
        if (code === "close") socket.destroy();
        else if (code !== "silence") {
          const id = controlIdOf(message);
          socket.write(
            `\x0bMSH|^~\\&|PIMS||VETWIRE||20261121||ACK^R01|1|P|2.5.1\rMSA|${code}|${id}|words of it\r\x1c\r`,
          );
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    for (const socket of open) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  onTestFinished(stop);
  const { port } = server.address() as net.AddressInfo;
  return { address: `127.0.0.1:${port}`, messages, stop, mostInFlight: () => mostInFlight };
}

export function controlIdOf(message: string): string {
  return message.split("\r")[0]?.split("|")[9] ?? "";
}

/** Field of the first segment of a name. */
export function fieldOf(message: string | readonly string[], name: string, index: number): string {
  const segments = typeof message === "string" ? message.split("\r") : message;
  return segments.find((segment) => segment.startsWith(`${name}|`))?.split("|")[index] ?? "";
}
