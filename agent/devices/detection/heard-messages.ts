import { splitMessages } from "../../protocols/hl7/message/message.ts";

// Cuts heard bytes into messages, without a link and without a reply. A device that gets no acknowledgement sends its first frame
// alone, and one with another check sends frames that a link refuses. Both name their maker all the same.

export interface HeardMessage {
  readonly bytes: Uint8Array;
  /** One character a byte, with the standard's delimiters. */
  readonly text: string;
  /** The text with the delimiters as sent. */
  readonly asSent: string;
}

/** Max bytes that are searched. */
const BYTES_MAX = 1024 * 1024;

/** Returns the messages of HL7 between VT and FS. The last one may lack its end. */
export function hl7Messages(bytes: Uint8Array): HeardMessage[] {
  const pieces = latin1(bytes).split("\v").slice(1);
  return pieces.flatMap((piece) => {
    const end = piece.indexOf("\x1c");
    const payload = Buffer.from(end < 0 ? piece : piece.slice(0, end), "latin1");
    return splitMessages(payload).flatMap((message) => {
      const asSent = latin1(message).trimStart();
      const [, field = "", component = "", repetition = "", , part = ""] =
        /^MSH(\W)(\W)(\W)?(\W)?(\W)?/.exec(asSent) ?? [];
      if (field === "") return [];
      return [{ bytes: message, asSent, text: translated(asSent, [field, component, repetition, part], "|^~&") }];
    });
  });
}

/** Returns the records of LIS02 from H to L, of frames or of lines. A missing L is added, so that a cut message is read as far as it came. */
export function astmMessages(bytes: Uint8Array): HeardMessage[] {
  const text = latin1(bytes);
  const lines = unframed(text)
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^[0-7](?=[A-Z]\W)/, ""))
    .filter((line) => /^[A-Z]\W/.test(line));
  const messages: string[][] = [];
  for (const line of lines) {
    if (/^H\W{3}/.test(line)) messages.push([]);
    messages.at(-1)?.push(line);
  }
  return messages.map((records) => {
    const [, field = "", repetition = "", component = "", escape = ""] = /^H(\W)(\W)(\W)(\W)?/.exec(records[0]!) ?? [];
    const isEnded = records.at(-1)!.startsWith("L");
    const asSent = records.join("\r");
    const whole = `${asSent}\r${isEnded ? "" : `L${field}1${field}N\r`}`;
    const standard = translated(asSent, [field, repetition, component, escape === field ? "" : escape], "|\\^&");
    return { bytes: Buffer.from(whole, "latin1"), asSent, text: standard };
  });
}

function latin1(bytes: Uint8Array): string {
  const head = bytes.subarray(0, BYTES_MAX);
  return Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString("latin1");
}

/** Joins the texts of frames. A frame that is sent again counts once, and its check is not computed. */
function unframed(text: string): string {
  const pieces = text.split("\x02").slice(1);
  if (!pieces.some((piece) => /^[0-7]/.test(piece))) return text;
  let last = "";
  let joined = "";
  for (const piece of pieces) {
    const [frame = ""] = piece.split("\x03").flatMap((part) => part.split("\x17"));
    // The last frame of a message may lack the end of its record.
    if (frame !== last) joined += /^[0-7]H\W{3}/.test(frame) ? `\r${frame.slice(1)}` : frame.slice(1);
    last = frame;
  }
  return joined;
}

/** Replaces each delimiter by the standard's one at the same index. */
function translated(text: string, delimiters: readonly string[], standard: string): string {
  const pairs = delimiters.map((delimiter, index) => [delimiter, standard[index]!] as const);
  if (pairs.every(([delimiter, usual]) => delimiter === "" || delimiter === usual)) return text;
  const byDelimiter = new Map(pairs.filter(([delimiter]) => delimiter !== ""));
  return Array.from(text, (char) => byDelimiter.get(char) ?? char).join("");
}
