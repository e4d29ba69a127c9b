import { type DeviceDialect, Poct1Device } from "../../protocols/poct1/simulated-device.ts";
import type { PlayOutcome } from "./analyzer.ts";
import type { SimulatorLine } from "./line.ts";

/** Max time that a device waits for a reply, in ms. */
const REPLY_MS = 60_000;

/** Plays a recorded POCT1-A device; `frames` counts acknowledged documents. @throws Error if the fixture has no HELLO */
export async function playPoct1Device(
  fixture: Uint8Array,
  line: SimulatorLine,
  dialect: Partial<DeviceDialect> = {},
): Promise<PlayOutcome> {
  const device = new Poct1Device(fixture, dialect);
  for (const document of device.begin()) line.send(document);
  while (device.outcome === undefined) {
    const byte = await line.reply(REPLY_MS);
    if (byte === null) {
      device.outcome = line.isOpen ? `no reply within ${REPLY_MS / 1000} s` : "the line closed";
      break;
    }
    for (const document of device.receive(Uint8Array.of(byte))) line.send(document);
  }
  return { accepted: device.outcome === null, frames: device.acknowledged, resent: 0, reason: device.outcome };
}
