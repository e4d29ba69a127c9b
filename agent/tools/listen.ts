import { parseAddress } from "../transport/address.ts";
import { SERIAL_LINES, type Sniffed, suggest, SURE } from "../detection/detect.ts";
import { serialTransport } from "../transport/serial.ts";
import { dialTransport, listenTransport } from "../transport/tcp.ts";
import type { Transport } from "../transport/transport.ts";

// Listens to a device without a word, for `agent sniff`: what is heard goes to no spool and is answered by nobody.

/** A device that said something and falls silent this long has said it. */
const QUIET_MS = 1_500;
/** More than a message of the longest kind; what comes after it is not waited for. */
const HEARD_BYTES_MAX = 64 * 1024;

/**
 * What is heard at `tcp://host:port` (dialled), `listen://host:port` or `serial:PATH`, there under one setting after the
 * other, each for that long, until one makes sense. @throws with a sentence when the connection cannot be opened
 */
export async function listenTo(target: string, seconds: number, tell: (sentence: string) => void): Promise<Sniffed[]> {
  const [, kind = "", place = ""] = /^(tcp:\/\/|listen:\/\/|serial:)(.+)$/.exec(target) ?? [];
  if (kind === "serial:") {
    const heard: Sniffed[] = [];
    for (const line of SERIAL_LINES) {
      const sniffed = {
        line,
        bytes: await hear(serialTransport({ path: place, rtscts: false, ...line }), seconds, line),
      };
      heard.push(sniffed);
      tell(`${line.baudRate} baud, ${line.dataBits} data bits, parity ${line.parity}: ${sniffed.bytes.length} bytes`);
      if (isSure(sniffed)) break;
    }
    return heard;
  }
  const address = parseAddress(place);
  if (address === null) {
    throw new Error(`--connection is ${target}, expected tcp://host:port, listen://host:port or serial:PATH`);
  }
  const transport = kind === "tcp://" ? dialTransport(address) : listenTransport(address, []);
  return [{ line: null, bytes: await hear(transport, seconds, null) }];
}

async function hear(transport: Transport, seconds: number, line: Sniffed["line"]): Promise<Uint8Array> {
  let heard: Uint8Array = new Uint8Array(0);
  let whole: NodeJS.Timeout | undefined;
  let quiet: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      whole = setTimeout(resolve, seconds * 1000);
      transport.open(
        () => ({
          chunk(bytes) {
            heard = Buffer.concat([heard, bytes]);
            clearTimeout(quiet);
            if (heard.length > HEARD_BYTES_MAX) resolve();
            else quiet = setTimeout(() => isSure({ line, bytes: heard }) && resolve(), QUIET_MS);
          },
          closed() {
            if (heard.length > 0) resolve();
          },
        }),
        (reason) => reject(new Error(reason)),
      );
    });
    return heard;
  } finally {
    clearTimeout(whole);
    clearTimeout(quiet);
    await transport.close();
  }
}

function isSure(sniffed: Sniffed): boolean {
  return (suggest([sniffed])[0]?.score ?? 0) >= SURE;
}
