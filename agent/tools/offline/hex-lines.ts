const LINE_BYTES = 16;

/** Formats bytes in lines of hexadecimal with their text. A control character or a byte beyond ASCII is a dot. */
export function hexLines(bytes: Uint8Array): string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const part = bytes.subarray(at, at + LINE_BYTES);
    const hex = Array.from(part, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");
    lines.push(`${hex.padEnd(3 * LINE_BYTES)} ${Array.from(part, visible).join("")}`);
  }
  return lines;
}

function visible(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".";
}
