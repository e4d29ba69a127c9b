import { CR } from "../bytes.ts";
import {
  type Acknowledgement,
  type AckOptions,
  decide,
  encodeDecision,
  HEAD_BYTES_MAX,
  HEAD_SEGMENTS,
  type Outcome,
} from "./acknowledgement.ts";
import { ACCEPTED, acknowledgementSegments, joinSegments, type Stamp } from "./acknowledgement-message.ts";
import { beginsSegment, endOfLine, withoutStamp } from "./message.ts";
import { isUnsolicited } from "./message-types.ts";

/** Text around MSH-7, MSH-10 and MSA-2 of one acknowledgement. */
type TemplateParts = readonly string[];

/**
 * Acknowledges the messages of one device with the same replies as acknowledge(), several times faster. The header of a
 * device's results differs only in MSH-7 and MSH-10. The acknowledgement of the last header is kept as a template.
 */
export class AcknowledgementTemplate {
  readonly #options: AckOptions;
  readonly #stamp: () => Stamp;
  #template: { readonly key: string; readonly replies: readonly TemplateParts[] } | null = null;

  constructor(options: AckOptions, stamp: () => Stamp) {
    this.#options = options;
    this.#stamp = stamp;
  }

  acknowledge(message: Uint8Array, outcome: Outcome): Acknowledgement {
    const head = outcome === "stored" ? readTemplateKey(message) : null;
    if (head !== null && head.key === this.#template?.key) return this.#render(this.#template.replies, head.id);
    const decision = decide(message, outcome, this.#options);
    const { request, verdict, codes } = decision;
    if (head !== null && request !== null && verdict === ACCEPTED && isUnsolicited(request)) {
      const blank = { time: BLANK, id: BLANK };
      const replies = codes.map((code) =>
        joinSegments(acknowledgementSegments(request, verdict, code, blank, BLANK)).split(BLANK),
      );
      this.#template = { key: head.key, replies };
    }
    return encodeDecision(decision, this.#stamp);
  }

  #render(replies: readonly TemplateParts[], controlId: string): Acknowledgement {
    const messages = replies.map(([first, second, third, last]) => {
      const { time, id } = this.#stamp();
      return Buffer.from(`${first}${time}${second}${id}${third}${controlId}${last}`, "latin1");
    });
    return { messages, refusal: null };
  }
}

const BLANK = "\0";

/**
 * Reads MSH-10, and as `key` everything else in the first three segments that an acknowledgement depends on.
 * @returns null without MSH-10, for a non-ASCII header, for line ends other than CR, for a line that continues a segment,
 * and for a head longer than HEAD_BYTES_MAX
 */
function readTemplateKey(message: Uint8Array): { readonly id: string; readonly key: string } | null {
  const head = Buffer.from(message.buffer, message.byteOffset, Math.min(message.length, HEAD_BYTES_MAX));
  const unstamped = withoutStamp(head);
  if (unstamped === null || unstamped.id.trim() === "") return null;
  let { header: key, end } = unstamped;
  // A line before the header would contain a line end.
  for (let at = 0; at < end; at++) if (head[at]! < 0x20 || head[at]! > 0x7e) return null;
  for (let segment = 1; segment < HEAD_SEGMENTS.ofResults; segment++) {
    const start = head.toString("latin1", end + 1, end + 5);
    if (head[end] !== CR || !beginsSegment(start, key[3]!)) return null;
    key += `\r${start}`;
    end = endOfLine(head, end + 1);
  }
  return head[end] === CR ? { id: unstamped.id, key } : null;
}
