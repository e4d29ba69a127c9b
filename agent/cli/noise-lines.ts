import type { DeviceStatus } from "../spool/queries/status.ts";
import { noiseText } from "../states/noise-state.ts";
import { hexLines } from "../tools/offline/hex-lines.ts";

/** Formats the noise of a device for `messages --bytes`: a sentence, then lines of hexadecimal with their text. */
export function noiseLines({
  device,
  sample,
  ...noise
}: NonNullable<DeviceStatus["noise"]> & { device: string }): string[] {
  const bytes = Uint8Array.from(sample.split(" "), (byte) => Number.parseInt(byte, 16));
  return [
    `${device}: ${noiseText(noise)}; last at ${new Date(noise.last_at).toLocaleString("sv-SE")}`,
    ...hexLines(bytes).map((line) => `  ${line}`),
  ];
}
