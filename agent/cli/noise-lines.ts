import type { DeviceStatus } from "../spool/queries/status.ts";
import { noiseText } from "../states/noise-state.ts";

/** Bytes of a line. */
const LINE_BYTES = 16;

/** Formats the noise of a device for `messages --bytes`: a sentence, then lines of hexadecimal with their text. */
export function noiseLines({
  device,
  sample,
  ...noise
}: NonNullable<DeviceStatus["noise"]> & { device: string }): string[] {
  const bytes = sample.split(" ");
  const lines = [`${device}: ${noiseText(noise)}; last at ${new Date(noise.last_at).toLocaleString("sv-SE")}`];
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const part = bytes.slice(at, at + LINE_BYTES);
    lines.push(`  ${part.join(" ").padEnd(3 * LINE_BYTES)} ${part.map(visible).join("")}`);
  }
  return lines;
}

/** Returns the character of a byte; `.` for a control character or a byte beyond ASCII. */
function visible(byte: string): string {
  const code = Number.parseInt(byte, 16);
  return code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : ".";
}
