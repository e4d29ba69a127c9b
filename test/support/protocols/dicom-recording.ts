// Reads recordings of associations: one PDU a line in hexadecimal, `<` from the device, `>` from the receiver.

export interface RecordedPdu {
  readonly from: "device" | "receiver";
  readonly bytes: Uint8Array;
}

/** Reads the lines of a recording; `#` starts a comment. @throws Error for an invalid line */
export function parseRecording(text: string): RecordedPdu[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line, index) => {
      const match = /^([<>]) ((?:[0-9A-Fa-f]{2})+)$/.exec(line.trim());
      if (match === null) throw new Error(`line ${index + 1}: expected < or > and hexadecimal bytes`);
      return { from: match[1] === "<" ? "device" : "receiver", bytes: Buffer.from(match[2] ?? "", "hex") };
    });
}
