import net from "node:net";
import { FrameReader, encodeFrame } from "../../../shared/network/hl7-sender/frames.ts";
import { readHead } from "../../../shared/network/hl7-sender/acknowledgement.ts";

// Plays practice software that receives results (ORU^R01), with the faults of real ones. It keeps what it has stored, so that a test,
// or a person who tries a destination, sees what is missing and what came twice.

/** The reaction of the receiver to a message. `late:5` waits 5 s before AA. */
export type Behaviour =
  | "aa"
  | "ca"
  | "ae"
  | "ar"
  /** Never acknowledges, and has not stored it. */
  | "silent"
  /** Closes after reading, and has not stored it. */
  | "close"
  /** Stores it, and closes before the acknowledgement. */
  | "lose"
  /** Acknowledges another control id, and has not stored it. */
  | "foreign"
  /** Sends AA byte by byte. */
  | "split"
  | `late:${number}`;

const WORDS = ["aa", "ca", "ae", "ar", "silent", "close", "lose", "foreign", "split"];

/** @returns null for an unknown word */
export function behaviourOf(word: string): Behaviour | null {
  return WORDS.includes(word) || /^late:\d{1,3}$/.test(word) ? (word as Behaviour) : null;
}

export interface ReceivedResult {
  readonly controlId: string;
  readonly behaviour: Behaviour;
  /** Whether the receiver has stored it. */
  readonly isStored: boolean;
  readonly message: Buffer;
}

export interface SimulatedReceiver {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Listens. `behave` chooses what to do with each message, `received` gets each message.
 * @throws an error of the port
 */
export async function simulateReceiver(
  { host, port }: { readonly host: string; readonly port: number },
  behave: (controlId: string) => Behaviour,
  received: (result: ReceivedResult) => void,
): Promise<SimulatedReceiver> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => undefined); // "close" follows
    const frames = new FrameReader(MESSAGE_BYTES_MAX);
    socket.on("data", (chunk: Buffer) => {
      for (const found of frames.receive(chunk)) {
        if (found.is !== "frame") continue;
        const controlId = readHead(found.bytes)?.controlId ?? "";
        const behaviour = behave(controlId);
        received({ controlId, behaviour, isStored: isStored(behaviour), message: Buffer.from(found.bytes) });
        answer(socket, behaviour, controlId);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as net.AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A message with a PDF has some MB. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

function isStored(behaviour: Behaviour): boolean {
  return !["ae", "ar", "silent", "close", "foreign"].includes(behaviour);
}

function answer(socket: net.Socket, behaviour: Behaviour, controlId: string): void {
  switch (behaviour) {
    case "silent":
      return;
    case "close":
    case "lose":
      socket.end();
      return;
    case "split":
      for (const byte of acknowledgement("AA", controlId)) socket.write(Uint8Array.of(byte));
      return;
    case "foreign":
      socket.write(acknowledgement("AA", `${controlId}-other`));
      return;
    case "aa":
    case "ca":
      socket.write(acknowledgement(behaviour.toUpperCase(), controlId));
      return;
    case "ae":
      socket.write(acknowledgement("AE", controlId, "|database busy"));
      return;
    case "ar":
      socket.write(
        acknowledgement("AR", controlId, "\rERR||PID^1^3|204^Unknown key identifier^HL70357|E|||unknown animal"),
      );
      return;
    default: {
      const seconds = Number(behaviour.slice("late:".length));
      setTimeout(() => socket.write(acknowledgement("AA", controlId)), seconds * 1000).unref();
    }
  }
}

function acknowledgement(code: string, controlId: string, more = ""): Uint8Array {
  const time = new Date().toISOString().replaceAll(/\D/g, "").slice(0, 14);
  const header = `MSH|^~\\&|PIMS|CLINIC|VETWIRE|CLINIC|${time}+0000||ACK^R01^ACK|${time}|P|2.5.1||||||UNICODE UTF-8`;
  return encodeFrame(Buffer.from(`${header}\rMSA|${code}|${controlId}${more}\r`));
}
