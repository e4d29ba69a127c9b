import { CR, LF } from "../../bytes.ts";
import { printable } from "../../escape-sequences.ts";
import {
  ACCEPTED,
  type AckCode,
  type AckVerdict,
  encodeAcknowledgement,
  isAcceptance,
  NO_ORDER,
  type Stamp,
} from "./acknowledgement-message.ts";
import type { CharsetOptions } from "./charset.ts";
import { type Hl7Message, parseMessage } from "./message.ts";
import { asksForOrders, isResponse, isSignOfLife, isUnsolicited, replyType, typeOf } from "./message-types.ts";

// Decides how a message is acknowledged. Storage and message type decide alone: a device that gets AE for an unmapped result
// sends it again and again, or stops.

/**
 * `auto`: follow MSH-15 and MSH-16. `original`: one AA, AE or AR, even if they request another. `enhanced`: one accept
 * acknowledgement when MSH-15 is empty. `aa`: AA to every stored message, for devices that stop at anything else.
 */
export const ACK_MODES = ["auto", "original", "enhanced", "aa"] as const;
export type AckMode = (typeof ACK_MODES)[number];

/** Result of storing a message. Of one over the limit the first part is stored. */
export type Outcome = "stored" | "not-stored" | "too-long";

/** Decides about a complete message by its content. */
export type Judge = (message: Hl7Message) => AckVerdict;

export interface AckOptions extends CharsetOptions {
  readonly ackMode?: AckMode;
  /** Messages of practice software are acknowledged by their content, all others by their type. */
  readonly judge?: Judge;
  /** The host query replies to order queries. The link itself only sends the accept acknowledgement. */
  readonly worklist?: boolean;
}

export interface Acknowledgement {
  /** None, one, or in enhanced mode the accept acknowledgement followed by the application's. */
  readonly messages: readonly Uint8Array[];
  /** Reason of a refusal; null for an acceptance. */
  readonly refusal: string | null;
}

/** Max bytes of a message that are decoded for its acknowledgement. */
export const HEAD_BYTES_MAX = 8 * 1024;

/** Segments that an acknowledgement depends on: header and MSA of a result, query or order segments of other types. */
const HEAD_SEGMENTS = { ofResults: 3, ofOthers: 20 };

export function acknowledge(
  message: Uint8Array,
  outcome: Outcome,
  options: AckOptions,
  stamp: () => Stamp,
): Acknowledgement {
  const { request, verdict, codes, refusal } = decide(message, outcome, options);
  return { messages: codes.map((code) => encodeAcknowledgement(request, verdict, code, stamp())), refusal };
}

interface AckDecision {
  /** null for an unreadable message. */
  readonly request: Hl7Message | null;
  readonly verdict: AckVerdict;
  readonly codes: readonly AckCode[];
  readonly refusal: string | null;
}

function decide(message: Uint8Array, outcome: Outcome, options: AckOptions): AckDecision {
  const { head, parsed } = options.judge === undefined ? readHead(message, options) : readAll(message, options);
  // Bytes before MSH make the message unreadable, but the acknowledgement may still name it.
  const named = "problem" in parsed ? parseMessage(head.subarray(startOfMsh(head)), options) : parsed;
  const request = "problem" in named ? null : named;
  const verdict = judge("problem" in parsed ? parsed.problem : parsed, outcome, options);
  const codes = ackCodes(request, verdict, options.ackMode ?? "auto", outcome);
  const isHostQuery =
    options.worklist === true && request !== null && verdict.accept === "CA" && asksForOrders(request);
  return {
    request,
    verdict,
    codes: isHostQuery ? codes.filter((code) => code === "CA") : codes,
    refusal: verdict.status === 0 || isHostQuery ? null : verdict.text,
  };
}

function readHead(message: Uint8Array, options: AckOptions) {
  const head = headOf(message, HEAD_SEGMENTS.ofResults);
  const parsed = parseMessage(head, options);
  if (!("problem" in parsed) && isUnsolicited(parsed)) return { head, parsed };
  const longer = headOf(message, HEAD_SEGMENTS.ofOthers);
  return { head: longer, parsed: parseMessage(longer, options) };
}

/** Max bytes of a message whose content is judged. The largest order seen has some kB. */
export const JUDGED_BYTES_MAX = 256 * 1024;

/** The refusal of a message that is too long needs its header alone. */
function readAll(message: Uint8Array, options: AckOptions) {
  if (message.length <= JUDGED_BYTES_MAX) return { head: message, parsed: parseMessage(message, options) };
  return { head: headOf(message, 1), parsed: { problem: `the message has more than ${JUDGED_BYTES_MAX} bytes` } };
}

function headOf(message: Uint8Array, segmentCount: number): Uint8Array {
  let end = -1;
  for (let segments = 0; segments < segmentCount; segments++) {
    end = message.indexOf(CR, end + 1);
    if (end < 0 || end > HEAD_BYTES_MAX) break;
  }
  if (end >= 0 && end <= HEAD_BYTES_MAX) return message.subarray(0, end);
  if (message.length <= HEAD_BYTES_MAX) return message;
  // Cut at a line end, so that no multi-byte character is split.
  const head = message.subarray(0, HEAD_BYTES_MAX);
  const last = Math.max(head.lastIndexOf(CR), head.lastIndexOf(LF));
  return last < 0 ? head : head.subarray(0, last);
}

function startOfMsh(head: Uint8Array): number {
  return Math.max(0, String.fromCharCode(...head).search(/MSH[^A-Za-z0-9\s]/));
}

function judge(message: Hl7Message | string, outcome: Outcome, { judge: judgeContent }: AckOptions): AckVerdict {
  if (outcome === "not-stored") {
    const text = "cannot store: message refused";
    const verdict = { application: "AE", accept: "CR", status: 207, text } as const;
    const type = typeof message === "string" ? undefined : judgeContent?.(message).type;
    return type === undefined ? verdict : { ...verdict, type };
  }
  if (typeof message === "string") return { application: "AR", accept: "CR", status: 100, text: message };
  if (judgeContent !== undefined) return judgeContent(message);
  return refusalVerdict(message) ?? (typeOf(message) === "ORM" ? NO_ORDER : ACCEPTED);
}

/** Returns the verdict on a message that its header refuses; null for an acceptable one. */
function refusalVerdict(message: Hl7Message): AckVerdict | null {
  if (isResponse(message) || replyType(message) !== null || isSignOfLife(message)) return null;
  const text = `message type ${printable(message.header.raw(9))} is not taken`;
  return { application: "AR", accept: "CR", status: 200, text };
}

/** Returns why a stored message was refused, so that it makes no study; null for an accepted one. */
export function refusalOf(message: Hl7Message, { ackMode }: AckOptions): string | null {
  return ackMode === "aa" ? null : (refusalVerdict(message)?.text ?? null);
}

/** MSH-15 and MSH-16 (chapter 2, "Enhanced acknowledgment rules"): always, never, only errors, only successes. */
const CONDITIONS = ["AL", "NE", "ER", "SU"];

function ackCodes(message: Hl7Message | null, verdict: AckVerdict, mode: AckMode, outcome: Outcome): AckCode[] {
  const response = message !== null && isResponse(message);
  if (mode === "aa") return response ? [] : [outcome === "not-stored" ? verdict.application : "AA"];
  if (message === null) return [verdict.application];
  const requested = [message.header.raw(15), message.header.raw(16)].map((text) => text.trim().toUpperCase());
  // Mindray sends 0, 1 or 2 in MSH-16 for patient, calibration and control; these request nothing.
  const [accept, application] = requested.map((text) => (CONDITIONS.includes(text) ? text : null));
  if (mode === "original" || (mode === "auto" && accept === null && application === null)) {
    return response ? [] : [verdict.application];
  }
  const codes: AckCode[] = [];
  if (isWanted(accept ?? (mode === "enhanced" ? "AL" : "NE"), verdict.accept)) codes.push(verdict.accept);
  // A message that was not accepted never reached an application, so it is refused once.
  const reached = verdict.accept === "CA" || codes.length === 0;
  if (reached && !response && isWanted(application ?? "NE", verdict.application)) codes.push(verdict.application);
  return codes;
}

function isWanted(condition: string, code: AckCode): boolean {
  return condition === "AL" || condition === (isAcceptance(code) ? "SU" : "ER");
}
