import { SERIAL_LINES, type SniffedBytes, suggest, SURE } from "../../devices/detection/detect.ts";
import { serialTransport } from "../../transport/serial.ts";
import { parseTarget } from "../../transport/target.ts";
import { dialTransport, listenTransport } from "../../transport/tcp.ts";
import type { Transport } from "../../transport/transport.ts";

// Listens to a device for `agent sniff`. It sends no reply and stores nothing.

/** Silence after which a message counts as complete, in ms. */
const QUIET_MS = 1_500;
/** Max bytes that are looked at. It is more than most messages have; listening ends there. */
export const SNIFFED_BYTES_MAX = 64 * 1024;

/**
 * Receives bytes at `tcp://host:port` (dialled), `listen://host:port` or `serial:PATH`, for at most `seconds`. On a serial
 * port it tries the settings one after the other, each for `seconds`, until the bytes are recognised.
 * @throws Error with a sentence if the connection cannot be opened
 */
export async function listenTo(
  target: string,
  seconds: number,
  report: (sentence: string) => void,
): Promise<SniffedBytes[]> {
  const place = parseTarget(target);
  switch (place?.kind) {
    case "dial":
      return [{ line: null, bytes: await receive(dialTransport(place.address), seconds, null) }];
    case "listen":
      return [{ line: null, bytes: await receive(listenTransport(place.address, []), seconds, null) }];
    case "serial":
      return listenOnSerial(place.path, seconds, report);
    case undefined:
      throw new Error(`--connection is ${target}, expected tcp://host:port, listen://host:port or serial:PATH`);
  }
}

async function listenOnSerial(
  path: string,
  seconds: number,
  report: (sentence: string) => void,
): Promise<SniffedBytes[]> {
  const samples: SniffedBytes[] = [];
  for (const line of SERIAL_LINES) {
    const bytes = await receive(serialTransport({ path, rtscts: false, ...line }), seconds, line);
    samples.push({ line, bytes });
    report(`${line.baudRate} baud, ${line.dataBits} data bits, parity ${line.parity}: ${bytes.length} bytes`);
    if (isSure({ line, bytes })) break;
  }
  return samples;
}

/** Receives until the time is up, the bytes are recognised and silence follows, or the connection closes after some bytes. */
async function receive(transport: Transport, seconds: number, line: SniffedBytes["line"]): Promise<Uint8Array> {
  let received: Uint8Array = new Uint8Array(0);
  let deadline: NodeJS.Timeout | undefined;
  let quiet: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      deadline = setTimeout(resolve, seconds * 1000);
      transport.open(
        () => ({
          chunk(bytes) {
            received = Buffer.concat([received, bytes]);
            clearTimeout(quiet);
            if (received.length > SNIFFED_BYTES_MAX) resolve();
            else quiet = setTimeout(() => isSure({ line, bytes: received }) && resolve(), QUIET_MS);
          },
          closed() {
            if (received.length > 0) resolve();
          },
        }),
        (reason) => reject(new Error(reason)),
      );
    });
    return received;
  } finally {
    clearTimeout(deadline);
    clearTimeout(quiet);
    await transport.close();
  }
}

function isSure(sample: SniffedBytes): boolean {
  return (suggest([sample])[0]?.score ?? 0) >= SURE;
}
