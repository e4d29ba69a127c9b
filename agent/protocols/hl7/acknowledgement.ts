import { printable } from "../escape-sequences.ts";
import type { LinkContext } from "../link.ts";
import {
  beginsSegment,
  type CharsetOptions,
  type Delimiters,
  encodeSegment,
  encodeText,
  endOfLine,
  escapeField,
  type Hl7Message,
  parseMessage,
  STANDARD_DELIMITERS,
  withoutStamp,
} from "./message.ts";

// What a message is answered with. It says whether the message was stored and whether it is of a kind that we take; what is
// read from it later changes no answer: a device that is told AE for a result we cannot map sends it again and again, or stops.

/**
 * `auto`: as MSH-15 and MSH-16 ask. `original`: one AA, AE or AR whatever they say. `enhanced`: one accept acknowledgement
 * where MSH-15 says nothing. `aa`: AA to all that was stored, for devices that stop at anything else.
 */
export const ACK_MODES = ["auto", "original", "enhanced", "aa"] as const;
export type AckMode = (typeof ACK_MODES)[number];

/** What became of the bytes. */
export type Outcome = "stored" | "not-stored" | "too-long";

/** What makes one answer differ from all others. Nothing is decided by it, so a replay may have another one. */
export interface Stamp {
  /** MSH-7 with its offset: `20261121173059+0300`. */
  readonly time: string;
  /** MSH-10, at most 20 characters. */
  readonly id: string;
}

export function stampOf({ now, newId }: LinkContext): Stamp {
  const at = now();
  const [clock, offset] = [at.slice(0, 19), at.slice(19)];
  return { time: clock.replace(/\D/g, "") + offset.replace(":", ""), id: newId().slice(-ID_LENGTH_MAX) };
}

/** MSH-10 holds 20 characters before v2.7: of a ULID all that is random, and the end of its time. */
const ID_LENGTH_MAX = 20;

export interface AckOptions extends CharsetOptions {
  readonly ackMode?: AckMode;
  /** Queries for orders are answered by the worklist; here they are only accepted, where a device asks for that. */
  readonly worklist?: boolean;
}

export interface Answer {
  /** None, one, or in enhanced mode the accept acknowledgement and then the application's. */
  readonly messages: readonly Uint8Array[];
  /** Why it is no acceptance. */
  readonly refusal: string | null;
}

export function answer(message: Uint8Array, outcome: Outcome, options: AckOptions, stamp: () => Stamp): Answer {
  return encoded(decide(message, outcome, options), stamp);
}

function encoded({ request, verdict, codes, refusal }: Decision, stamp: () => Stamp): Answer {
  return { messages: codes.map((code) => encodeAnswer(request, verdict, code, stamp())), refusal };
}

/**
 * answer() for the messages of one device. But for MSH-7 and MSH-10 the header of its results is the same every time, and so
 * are their answers but for time, id and MSA-2: worked out once, they are only filled in.
 */
export class Answers {
  readonly #options: AckOptions;
  readonly #stamp: () => Stamp;
  /** The answers to results that begin so, each cut where time, id and MSA-2 stand. */
  #form: { readonly beginning: string; readonly answers: readonly (readonly string[])[] } | null = null;

  constructor(options: AckOptions, stamp: () => Stamp) {
    this.#options = options;
    this.#stamp = stamp;
  }

  answer(message: Uint8Array, outcome: Outcome): Answer {
    const usual = outcome === "stored" ? usualBeginning(message) : null;
    if (usual !== null && usual.beginning === this.#form?.beginning) return this.#fillIn(this.#form.answers, usual.id);
    const decision = decide(message, outcome, this.#options);
    const { request, verdict, codes } = decision;
    if (usual !== null && request !== null && verdict === ACCEPTED && ACKNOWLEDGED.includes(typeOf(request))) {
      const blank = { time: BLANK, id: BLANK };
      const answers = codes.map((code) => textOf(answerSegments(request, verdict, code, blank, BLANK)).split(BLANK));
      this.#form = { beginning: usual.beginning, answers };
    }
    return encoded(decision, this.#stamp);
  }

  #fillIn(answers: readonly (readonly string[])[], answered: string): Answer {
    const messages = answers.map(([first, second, third, last]) => {
      const { time, id } = this.#stamp();
      return Buffer.from(`${first}${time}${second}${id}${third}${answered}${last}`, "latin1");
    });
    return { messages, refusal: null };
  }
}

const BLANK = "\0";

/**
 * MSH-10, and all else of the first three segments that an answer to results depends on; null where that is not so simple: no
 * MSH-10, other characters than ASCII's in the header, other line ends, lines that begin no segment, more than readHead() reads.
 */
function usualBeginning(message: Uint8Array): { readonly id: string; readonly beginning: string } | null {
  const head = Buffer.from(message.buffer, message.byteOffset, Math.min(message.length, HEAD_BYTES_MAX));
  const unstamped = withoutStamp(head);
  if (unstamped === null || unstamped.id.trim() === "") return null;
  let { header: beginning, end } = unstamped;
  // Behind a line of something else there is a line end.
  for (let at = 0; at < end; at++) if (head[at]! < 0x20 || head[at]! > 0x7e) return null;
  for (let segment = 1; segment < HEAD_SEGMENTS.ofResults; segment++) {
    const start = head.toString("latin1", end + 1, end + 5);
    if (head[end] !== CR || !beginsSegment(start, beginning[3]!)) return null;
    beginning += `\r${start}`;
    end = endOfLine(head, end + 1);
  }
  return head[end] === CR ? { id: unstamped.id, beginning } : null;
}

interface Decision {
  /** null: it cannot be read. */
  readonly request: Hl7Message | null;
  readonly verdict: Verdict;
  readonly codes: readonly Code[];
  readonly refusal: string | null;
}

function decide(message: Uint8Array, outcome: Outcome, options: AckOptions): Decision {
  const { head, parsed } = readHead(message, options);
  // Bytes before MSH make it unreadable, but its answer may still name it.
  const named = "problem" in parsed ? parseMessage(head.subarray(beginningOfMsh(head)), options) : parsed;
  const request = "problem" in named ? null : named;
  const verdict = judge("problem" in parsed ? parsed.problem : parsed, outcome);
  const codes = answerCodes(request, verdict, options.ackMode ?? "auto", outcome);
  const isLeft = options.worklist === true && request !== null && verdict.accept === "CA" && asksForOrders(request);
  return {
    request,
    verdict,
    codes: isLeft ? codes.filter((code) => code === "CA") : codes,
    refusal: verdict.status === 0 || isLeft ? null : verdict.text,
  };
}

/** Answers are made from the first segments alone: a 16 MiB message need not be decoded for it. */
export const HEAD_BYTES_MAX = 8 * 1024;

/** What an answer depends on stands before any result: of results the header and MSA, else the query or the order too. */
const HEAD_SEGMENTS = { ofResults: 3, ofOthers: 20 };

const CR = 0x0d;
const LF = 0x0a;

function readHead(message: Uint8Array, options: AckOptions) {
  const head = headOf(message, HEAD_SEGMENTS.ofResults);
  const parsed = parseMessage(head, options);
  if (!("problem" in parsed) && ACKNOWLEDGED.includes(typeOf(parsed))) return { head, parsed };
  const longer = headOf(message, HEAD_SEGMENTS.ofOthers);
  return { head: longer, parsed: parseMessage(longer, options) };
}

function headOf(message: Uint8Array, count: number): Uint8Array {
  let end = -1;
  for (let segments = 0; segments < count; segments++) {
    end = message.indexOf(CR, end + 1);
    if (end < 0 || end > HEAD_BYTES_MAX) break;
  }
  if (end >= 0 && end <= HEAD_BYTES_MAX) return message.subarray(0, end);
  if (message.length <= HEAD_BYTES_MAX) return message;
  // To the end of a line, for a character must not be cut.
  const head = message.subarray(0, HEAD_BYTES_MAX);
  const last = Math.max(head.lastIndexOf(CR), head.lastIndexOf(LF));
  return last < 0 ? head : head.subarray(0, last);
}

function beginningOfMsh(head: Uint8Array): number {
  return Math.max(0, String.fromCharCode(...head).search(/MSH[^A-Za-z0-9\s]/));
}

/** MSA-1. */
type Code = "AA" | "AE" | "AR" | "CA" | "CE" | "CR";

interface Verdict {
  readonly application: "AA" | "AE" | "AR";
  readonly accept: "CA" | "CE" | "CR";
  /** Table 0357, which is MSA-6 of 2.3.1 devices too. */
  readonly status: number;
  readonly text: string;
}

const ACCEPTED: Verdict = { application: "AA", accept: "CA", status: 0, text: "Message accepted" };
/** Mindray's analyzers take AA without an order for an empty order. */
const NO_ORDER: Verdict = { application: "AR", accept: "CA", status: 204, text: "no order waits for this device" };

function judge(message: Hl7Message | string, outcome: Outcome): Verdict {
  if (outcome === "not-stored") {
    return { application: "AE", accept: "CR", status: 207, text: "cannot store: message refused" };
  }
  if (outcome === "too-long") {
    return { application: "AR", accept: "CR", status: 207, text: "the message is too long" };
  }
  if (typeof message === "string") return { application: "AR", accept: "CR", status: 100, text: message };
  const refused = refusedAs(message);
  if (refused !== null) return refused;
  return typeOf(message) === "ORM" ? NO_ORDER : ACCEPTED;
}

/** What is stored but not taken, whatever it holds. */
function refusedAs(message: Hl7Message): Verdict | null {
  if (message.header.raw(10).trim() === "") {
    return { application: "AR", accept: "CE", status: 101, text: "MSH-10 is empty, expected a message control id" };
  }
  if (isResponse(message) || answerType(message) !== null) return null;
  const text = `message type ${printable(message.header.raw(9))} is not taken`;
  return { application: "AR", accept: "CR", status: 200, text };
}

/** Why a message that was stored is answered with a refusal: its device does not take it for received, and nor do we. */
export function refusalOf(message: Hl7Message, { ackMode }: AckOptions): string | null {
  return ackMode === "aa" ? null : (refusedAs(message)?.text ?? null);
}

/** Results and states that come unasked (ORU^R40 alarms among them) are acknowledged. */
const ACKNOWLEDGED = ["ORU", "OUL", "OPU", "UDM", "ESU", "INU", "SSU", "NMD"];
/** What has an answer of its own, and the acknowledgements that have another trigger than what they acknowledge. */
const ANSWERS: Readonly<Record<string, string>> = {
  "ORU^R30": "ACK^R33",
  "ORU^R31": "ACK^R33",
  "ORU^R32": "ACK^R33",
  "NMQ^N01": "NMR^N01",
  "ORM^O01": "ORR^O02",
  "QRY^Q02": "QCK^Q02",
  "QBP^Q11": "RSP^K11",
  "QBP^ZV1": "RSP^ZV2",
};

/** The answer's MSH-9, first two components; null: this kind of message is not taken. */
function answerType({ header }: Hl7Message): string | null {
  const [type = "", trigger = ""] = header.components(9).map((part) => part.trim());
  const special = `${type}^${trigger}`.toUpperCase();
  if (Object.hasOwn(ANSWERS, special)) return ANSWERS[special]!;
  if (!ACKNOWLEDGED.includes(type.toUpperCase())) return null;
  return trigger === "" ? "ACK" : `ACK^${trigger}`;
}

/** Whether it is a query that the worklist can answer. ORC-1 RF, refill request, is how analyzers ask; other ORMs tell. */
export function asksForOrders({ header, segments }: Hl7Message): boolean {
  const [type = "", trigger = ""] = header.components(9).map((part) => part.trim().toUpperCase());
  switch (`${type}^${trigger}`) {
    case "QRY^Q02":
    case "QBP^Q11":
      return true;
    case "ORM^O01":
      return segments.some((orc) => orc.name === "ORC" && orc.component(1, 1).trim().toUpperCase() === "RF");
    default:
      return false;
  }
}

/** MSH-9.1. */
function typeOf({ header }: Hl7Message): string {
  return header.component(9, 1).trim().toUpperCase();
}

/** An answer to something of ours; to answer it as well would never end. */
function isResponse(message: Hl7Message): boolean {
  return typeOf(message) === "ACK" || message.segments.some(({ name }) => name === "MSA");
}

/** MSH-15 and MSH-16 (chapter 2, "Enhanced acknowledgment rules"): always, never, only errors, only successes. */
const CONDITIONS = ["AL", "NE", "ER", "SU"];

function answerCodes(message: Hl7Message | null, verdict: Verdict, mode: AckMode, outcome: Outcome): Code[] {
  const response = message !== null && isResponse(message);
  if (mode === "aa") return response ? [] : [outcome === "stored" ? "AA" : verdict.application];
  if (message === null) return [verdict.application];
  const asked = [message.header.raw(15), message.header.raw(16)].map((text) => text.trim().toUpperCase());
  // Mindray puts 0, 1 or 2 into MSH-16 for patient, calibration and control: that asks for nothing.
  const [accept, application] = asked.map((text) => (CONDITIONS.includes(text) ? text : null));
  if (mode === "original" || (mode === "auto" && accept === null && application === null)) {
    return response ? [] : [verdict.application];
  }
  const codes: Code[] = [];
  if (isWanted(accept ?? (mode === "enhanced" ? "AL" : "NE"), verdict.accept)) codes.push(verdict.accept);
  // What was not accepted never reached an application: it is refused once.
  const reached = verdict.accept === "CA" || codes.length === 0;
  if (reached && !response && isWanted(application ?? "NE", verdict.application)) codes.push(verdict.application);
  return codes;
}

function isWanted(condition: string, code: Code): boolean {
  return condition === "AL" || condition === (isAcceptance(code) ? "SU" : "ER");
}

function isAcceptance(code: Code): boolean {
  return code === "AA" || code === "CA";
}

function encodeAnswer(request: Hl7Message | null, verdict: Verdict, code: Code, stamp: Stamp): Uint8Array {
  const segments = answerSegments(request, verdict, code, stamp);
  if (request !== null && code === "AA") segments.push(...queryState(request, "NF"));
  return encodeText(textOf(segments), request?.charset ?? "utf-8");
}

function textOf(segments: readonly string[]): string {
  return segments.map((segment) => `${segment}\r`).join("");
}

/** The first answer to a query for orders; what was found follows in it, or in messages of its own. Segments without CR. */
export function acknowledgeQuery(query: Hl7Message, found: boolean, stamp: Stamp): string[] {
  const isOrm = typeOf(query) === "ORM";
  const verdict = isOrm && !found ? NO_ORDER : ACCEPTED;
  return [...answerSegments(query, verdict, verdict.application, stamp), ...queryState(query, found ? "OK" : "NF")];
}

/** MSH, MSA, and ERR where there is something to say in it. */
function answerSegments(
  request: Hl7Message | null,
  verdict: Verdict,
  code: Code,
  stamp: Stamp,
  id = sent(request, 10),
): string[] {
  const delimiters = request?.delimiters ?? STANDARD_DELIMITERS;
  const minor = minorOf(request);
  const { status, text } = isAcceptance(code) ? ACCEPTED : verdict;
  const short = escapeField(text.slice(0, TEXT_LENGTH_MAX), delimiters);
  const segments = [
    encodeHeader(request, messageType(request, code), stamp),
    // MSA-6 is what devices of 2.3.1 look at; later versions have ERR in its place.
    join(delimiters, "MSA", code, id, short, "", "", minor < 5 ? String(status) : ""),
  ];
  if (minor >= 5 && status > 0) {
    const reason = [[String(status), text, "HL70357"]];
    segments.push(encodeSegment("ERR", ["", "", reason, "E", "", "", "", text], delimiters));
  }
  return segments;
}

/** MSH of a message to whom `request` came from. `asks`: what MSH-15 and MSH-16 ask of them. */
export function encodeHeader(
  request: Hl7Message | null,
  type: readonly string[],
  { time, id }: Stamp,
  asks: readonly [string, string] = ["", ""],
): string {
  const delimiters = request?.delimiters ?? STANDARD_DELIMITERS;
  const { component, repetition, escape: mark, subcomponent } = delimiters;
  const declared = component + repetition + (mark ?? "") + (subcomponent ?? "");
  const [application, facility] = [sent(request, 5), sent(request, 6)];
  const addressed = [declared, application, facility, sent(request, 3), sent(request, 4), time, ""];
  const purpose = [echo(type.join(component)), id, sent(request, 11) || "P", versionOf(request)];
  return join(delimiters, "MSH", ...addressed, ...purpose, "", "", ...asks, "", sent(request, 18));
}

/** As it was sent, escapes and all: a device compares it with its own. */
function sent(request: Hl7Message | null, field: number): string {
  return echo(request?.header.raw(field) ?? "");
}

function versionOf(request: Hl7Message | null): string {
  return request === null ? "2.3.1" : sent(request, 12);
}

/** Of version 2. */
function minorOf(request: Hl7Message | null): number {
  return Number(/^2\.(\d+)/.exec(versionOf(request))?.[1] ?? 3);
}

function join({ field }: Delimiters, ...fields: readonly string[]): string {
  const last = fields.findLastIndex((text) => text !== "");
  return fields.slice(0, last + 1).join(field);
}

/** MSA-3 holds 80 characters. */
const TEXT_LENGTH_MAX = 80;

/** MSH-9: with its structure where the device sent one. An accept acknowledgement is an ACK, whatever it accepts. */
function messageType(request: Hl7Message | null, code: Code): string[] {
  if (request === null) return ["ACK"];
  const [, trigger = "", structure] = request.header.components(9).map((part) => part.trim());
  const general = trigger === "" ? "ACK" : `ACK^${trigger}`;
  const [type = "ACK", event] = ((code.startsWith("C") ? null : answerType(request)) ?? general).split("^");
  const named = event === undefined ? [type] : [type, event];
  if (structure === undefined) return named;
  return [...named, type === "ACK" ? "ACK" : named.join("_")];
}

/** The rest of the answer to a query: how it went. */
function queryState(message: Hl7Message, state: "OK" | "NF"): string[] {
  const { segments, delimiters } = message;
  const type = typeOf(message);
  if (type === "QRY") {
    // Mindray's own: the tag of its queries is SR, and ERR says 0.
    return [encodeSegment("ERR", ["0"], delimiters), encodeSegment("QAK", ["SR", state], delimiters)];
  }
  const query = segments.find(({ name }) => name === "QPD");
  if (type !== "QBP" || query === undefined) return [];
  // Some write the name of a segment in small letters; what we send has the standard's.
  const asSent = `QPD${query.text.slice(3)}`;
  return [["QAK", query.raw(2), state, query.raw(1)].join(delimiters.field), asSent].map(echo);
}

/** What was sent, but for control characters: they would end our segment, or our frame. */
export function echo(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}
