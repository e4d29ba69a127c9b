import type { LinkContext } from "../../link.ts";
import { encodeText } from "./charset.ts";
import type { Hl7Message } from "./message.ts";
import { replyType, typeOf } from "./message-types.ts";
import { type Delimiters, encodeSegment, escapeField, STANDARD_DELIMITERS } from "./segment.ts";

// Builds acknowledgements, and headers of other messages to a device.

/** Distinguishes one sent message from all others. No decision depends on it, so a replay may use another. */
export interface Stamp {
  /** MSH-7 with its offset: `20261121173059+0300`. */
  readonly time: string;
  /** MSH-10, at most 20 characters. */
  readonly id: string;
}

/** MSH-10 holds 20 characters before v2.7: the random part of a ULID, and the end of its time. */
const ID_CHARS_MAX = 20;

export function stampOf({ now, newId }: LinkContext): Stamp {
  const at = now();
  const [clock, offset] = [at.slice(0, 19), at.slice(19)];
  return { time: clock.replace(/\D/g, "") + offset.replace(":", ""), id: newId().slice(-ID_CHARS_MAX) };
}

/** MSA-1. */
export type AckCode = "AA" | "AE" | "AR" | "CA" | "CE" | "CR";

export interface AckVerdict {
  readonly application: "AA" | "AE" | "AR";
  readonly accept: "CA" | "CE" | "CR";
  /** Table 0357; 2.3.1 devices expect it in MSA-6 too. */
  readonly status: number;
  readonly text: string;
  /** ERR-2 of a fault of the content. */
  readonly location?: readonly string[];
  /** MSH-9 of the application's reply; absent for that of the message's type. */
  readonly type?: string;
  /** Segments of the application's reply after MSA and ERR, without CR. */
  readonly segments?: readonly string[];
}

export const ACCEPTED: AckVerdict = { application: "AA", accept: "CA", status: 0, text: "Message accepted" };
/** Mindray's analyzers read AA without an order as an empty order. */
export const NO_ORDER: AckVerdict = {
  application: "AR",
  accept: "CA",
  status: 204,
  text: "no order waits for this device",
};

export function isAcceptance(code: AckCode): boolean {
  return code === "AA" || code === "CA";
}

export function encodeAcknowledgement(
  request: Hl7Message | null,
  verdict: AckVerdict,
  code: AckCode,
  stamp: Stamp,
): Uint8Array {
  const segments = acknowledgementSegments(request, verdict, code, stamp);
  if (request !== null && code === "AA") segments.push(...queryStatus(request, "NF"));
  if (!code.startsWith("C")) segments.push(...(verdict.segments ?? []).map(echo));
  const text = segments.map((segment) => `${segment}\r`).join("");
  return encodeText(text, request?.charset ?? "utf-8");
}

/** The first reply to an order query. The orders follow in it, or in messages of their own. @returns segments without CR */
export function acknowledgeQuery(query: Hl7Message, found: boolean, stamp: Stamp): string[] {
  const isOrm = typeOf(query) === "ORM";
  const verdict = isOrm && !found ? NO_ORDER : ACCEPTED;
  const segments = acknowledgementSegments(query, verdict, verdict.application, stamp);
  return [...segments, ...queryStatus(query, found ? "OK" : "NF")];
}

/** MSH, MSA, and ERR for a refusal. @param id MSA-2 */
function acknowledgementSegments(
  request: Hl7Message | null,
  verdict: AckVerdict,
  code: AckCode,
  stamp: Stamp,
): string[] {
  const delimiters = request?.delimiters ?? STANDARD_DELIMITERS;
  const minor = minorVersion(request);
  const { status, text, location } = isAcceptance(code) ? { ...ACCEPTED, location: undefined } : verdict;
  const short = escapeField(text.slice(0, TEXT_CHARS_MAX), delimiters);
  const segments = [
    encodeHeader(request, messageType(request, code, verdict.type), stamp),
    // Devices of 2.3.1 read MSA-6; later versions have ERR in its place.
    join(delimiters, "MSA", code, echoField(request, 10), short, "", "", minor < 5 ? String(status) : ""),
  ];
  if (minor >= 5 && status > 0) {
    const reason = [[String(status), text, "HL70357"]];
    const place = location === undefined ? "" : [location];
    segments.push(encodeSegment("ERR", ["", place, reason, "E", "", "", "", text], delimiters));
  } else if (location !== undefined) {
    // ERR-1 of versions before 2.5 has the place and the code.
    segments.push(encodeSegment("ERR", [[[...location, String(status)]]], delimiters));
  }
  return segments;
}

/** MSH of a message to the sender of `request`. @param acknowledgments MSH-15 and MSH-16 */
export function encodeHeader(
  request: Hl7Message | null,
  type: readonly string[],
  { time, id }: Stamp,
  acknowledgments: readonly [string, string] = ["", ""],
): string {
  const delimiters = request?.delimiters ?? STANDARD_DELIMITERS;
  const { component, repetition, escape: mark, subcomponent } = delimiters;
  const declared = component + repetition + (mark ?? "") + (subcomponent ?? "");
  const [application, facility] = [echoField(request, 5), echoField(request, 6)];
  const addressed = [declared, application, facility, echoField(request, 3), echoField(request, 4), time, ""];
  const purpose = [echo(type.join(component)), id, echoField(request, 11) || "P", versionOf(request)];
  return join(delimiters, "MSH", ...addressed, ...purpose, "", "", ...acknowledgments, "", echoField(request, 18));
}

/** Returns a header field as sent, escapes included: a device compares it with its own */
function echoField(request: Hl7Message | null, field: number): string {
  return echo(request?.header.raw(field) ?? "");
}

function versionOf(request: Hl7Message | null): string {
  return request === null ? "2.3.1" : echoField(request, 12);
}

/** Returns the minor number of version 2. */
function minorVersion(request: Hl7Message | null): number {
  return Number(/^2\.(\d+)/.exec(versionOf(request))?.[1] ?? 3);
}

function join({ field }: Delimiters, ...fields: readonly string[]): string {
  const last = fields.findLastIndex((text) => text !== "");
  return fields.slice(0, last + 1).join(field);
}

/** MSA-3 holds 80 characters; a longer text is cut. */
const TEXT_CHARS_MAX = 80;

/** MSH-9, with its structure if the device sent one. The accept acknowledgement of any type is an ACK. */
function messageType(request: Hl7Message | null, code: AckCode, reply?: string): string[] {
  if (request === null) return ["ACK"];
  const [, trigger = "", structure] = request.header.components(9).map((part) => part.trim());
  const general = trigger === "" ? "ACK" : `ACK^${trigger}`;
  const [type = "ACK", event] = ((code.startsWith("C") ? null : (reply ?? replyType(request))) ?? general).split("^");
  const named = event === undefined ? [type] : [type, event];
  if (structure === undefined) return named;
  return [...named, type === "ACK" ? "ACK" : named.join("_")];
}

/** QAK of a query's reply, and the other segments that its type requires. */
function queryStatus(query: Hl7Message, status: "OK" | "NF"): string[] {
  const { segments, delimiters } = query;
  const type = typeOf(query);
  if (type === "QRY") {
    // Mindray's own layout: the query tag is SR, and ERR is 0.
    return [encodeSegment("ERR", ["0"], delimiters), encodeSegment("QAK", ["SR", status], delimiters)];
  }
  const qpd = segments.find(({ name }) => name === "QPD");
  if (type !== "QBP" || qpd === undefined) return [];
  // Some devices write the segment name in lower case; the reply uses the standard's.
  const asSent = `QPD${qpd.text.slice(3)}`;
  return [["QAK", qpd.raw(2), status, qpd.raw(1)].join(delimiters.field), asSent].map(echo);
}

/** Replaces control characters by spaces, because they would end the segment or the frame. */
export function echo(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}
