import { hex, latin1, readUid } from "../bytes.ts";
import {
  ABORT_REASON,
  ASSOCIATE_FIXED_BYTES,
  CONTEXT_RESULTS,
  DATA_PDU_BYTES_MAX,
  ITEM,
  type NegotiatedContext,
  PDU,
  type PduEvent,
  PDV_HEADER_BYTES,
  type ProposedContext,
} from "./pdu.ts";

// Reads PDUs: bytes in, events out. Data is passed on in received pieces and never collected. An instance of 1 GB needs
// no more memory here than one of 1 kB.

/** Max bytes of an association PDU; 128 contexts with 40 transfer syntaxes each have 170 kB. */
const ASSOCIATE_PDU_BYTES_MAX = 262_144;
const HEADER_BYTES = 6;

type ReaderState =
  | { readonly at: "header" }
  /** Body of a PDU that is collected to its end. */
  | { readonly at: "body"; readonly type: number; readonly length: number }
  | { readonly at: "pdv-header"; readonly pduLeft: number }
  | {
      readonly at: "pdv";
      readonly context: number;
      readonly control: number;
      readonly pdvLeft: number;
      readonly pduLeft: number;
    }
  /** State after an invalid PDU: the rest of the stream is skipped. */
  | { readonly at: "unreadable" };

class InvalidPdu extends Error {
  readonly reason: number;

  constructor(problem: string, reason: number = ABORT_REASON.invalidParameter) {
    super(problem);
    this.reason = reason;
  }
}

/** Splits a stream into PDUs, in any segmentation. */
export class PduReader {
  #state: ReaderState = { at: "header" };
  #gathered = new Uint8Array(HEADER_BYTES);
  #gatheredLength = 0;
  #wholePdus = 0;

  get wholePdus(): number {
    return this.#wholePdus;
  }

  /** Reads a chunk. The events share its memory. An invalid PDU gives an event, and no more events follow. */
  receive(chunk: Uint8Array): PduEvent[] {
    const events: PduEvent[] = [];
    try {
      this.#read(chunk, events);
    } catch (error) {
      if (!(error instanceof InvalidPdu)) throw error;
      this.#state = { at: "unreadable" };
      events.push({ is: "invalid", reason: error.reason, problem: error.message });
    }
    return events;
  }

  #read(chunk: Uint8Array, events: PduEvent[]): void {
    let at = 0;
    while (this.#state.at !== "unreadable") {
      const state = this.#state;
      if (state.at === "pdv") {
        const end = Math.min(chunk.length, at + state.pdvLeft);
        if (end === at && state.pdvLeft > 0) break;
        this.#readFragment(state, chunk.subarray(at, end), events);
        at = end;
        continue;
      }
      const wanted = state.at === "header" ? HEADER_BYTES : state.at === "body" ? state.length : PDV_HEADER_BYTES;
      const taken = Math.min(wanted - this.#gatheredLength, chunk.length - at);
      const whole = this.#gather(chunk.subarray(at, at + taken), wanted);
      at += taken;
      if (whole === null) break;
      if (state.at === "header") this.#state = readHeader(whole);
      else if (state.at === "pdv-header") this.#state = readPdvHeader(whole, state.pduLeft);
      else {
        this.#endPdu();
        events.push(readBody(state.type, whole));
      }
    }
  }

  /** Collects `wanted` bytes. @returns null while some are missing; the result is valid until the next call */
  #gather(piece: Uint8Array, wanted: number): Uint8Array | null {
    if (this.#gatheredLength === 0 && piece.length === wanted) return piece;
    if (this.#gathered.length < wanted) {
      const grown = new Uint8Array(wanted);
      grown.set(this.#gathered.subarray(0, this.#gatheredLength));
      this.#gathered = grown;
    }
    this.#gathered.set(piece, this.#gatheredLength);
    this.#gatheredLength += piece.length;
    if (this.#gatheredLength < wanted) return null;
    this.#gatheredLength = 0;
    return this.#gathered.subarray(0, wanted);
  }

  #readFragment(state: ReaderState & { at: "pdv" }, bytes: Uint8Array, events: PduEvent[]): void {
    const { context, control } = state;
    const pdvLeft = state.pdvLeft - bytes.length;
    const pduLeft = state.pduLeft - bytes.length;
    const last = pdvLeft === 0 && (control & 2) !== 0;
    events.push({ is: "data", context, part: (control & 1) !== 0 ? "command" : "dataset", bytes, last });
    if (pdvLeft > 0) this.#state = { ...state, pdvLeft, pduLeft };
    else if (pduLeft === 0) this.#endPdu();
    else if (pduLeft >= PDV_HEADER_BYTES) this.#state = { at: "pdv-header", pduLeft };
    else throw new InvalidPdu(`${pduLeft} bytes after the last data value of a PDU`);
  }

  #endPdu(): void {
    this.#wholePdus += 1;
    this.#state = { at: "header" };
  }
}

function readHeader(header: Uint8Array): ReaderState {
  const type = header[0]!;
  const length = uint32(header, 2);
  if (type < PDU.associateRequest || type > PDU.abort) {
    throw new InvalidPdu(`unknown PDU type ${hex(type, 2)}`, ABORT_REASON.unrecognizedPdu);
  }
  if (type === PDU.data) {
    if (length > DATA_PDU_BYTES_MAX)
      throw new InvalidPdu(`a P-DATA-TF of ${length} bytes, at most ${DATA_PDU_BYTES_MAX}`);
    if (length < PDV_HEADER_BYTES) throw new InvalidPdu(`a P-DATA-TF of ${length} bytes holds no data value`);
    return { at: "pdv-header", pduLeft: length };
  }
  if (length > ASSOCIATE_PDU_BYTES_MAX || (type > PDU.associateAccept && length !== 4)) {
    throw new InvalidPdu(`a PDU of type ${hex(type, 2)} with ${length} bytes`);
  }
  return { at: "body", type, length };
}

function readPdvHeader(header: Uint8Array, pduLeft: number): ReaderState {
  const length = uint32(header, 0); // of context id, control byte and fragment
  if (length < 2 || length + 4 > pduLeft) {
    throw new InvalidPdu(`a data value of ${length} bytes, but its PDU has ${pduLeft - 4} left`);
  }
  const [context, control] = [header[4]!, header[5]!];
  return { at: "pdv", context, control, pdvLeft: length - 2, pduLeft: pduLeft - PDV_HEADER_BYTES };
}

function readBody(type: number, body: Uint8Array): PduEvent {
  switch (type) {
    case PDU.associateRequest:
      return readAssociateRequest(body);
    case PDU.associateAccept:
      return readAssociateAccept(body);
    case PDU.associateReject: {
      const [, result = 0, source = 0, reason = 0] = body;
      return { is: "associate-reject", reject: { result, source, reason } };
    }
    case PDU.releaseRequest:
      return { is: "release-request" };
    case PDU.releaseResponse:
      return { is: "release-response" };
    default:
      return { is: "abort", source: body[2]!, reason: body[3]! };
  }
}

const CONTEXTS_MAX = 128;

function readAssociateRequest(body: Uint8Array): PduEvent {
  const contexts: ProposedContext[] = [];
  const common = readItems(body, ITEM.proposedContext, (id, items) => {
    const named = (type: number) => items.filter((item) => item.type === type).map(({ value }) => readUid(value));
    const [abstractSyntax = "", ...others] = named(ITEM.abstractSyntax);
    if (others.length > 0) throw new InvalidPdu(`context ${id} has ${others.length + 1} abstract syntaxes`);
    contexts.push({ id, abstractSyntax, transferSyntaxes: named(ITEM.transferSyntax) });
  });
  const ids = new Set(contexts.map(({ id }) => id));
  if (contexts.length > CONTEXTS_MAX) throw new InvalidPdu(`${contexts.length} contexts, at most ${CONTEXTS_MAX}`);
  if (ids.size < contexts.length || contexts.some(({ id }) => id % 2 === 0)) {
    throw new InvalidPdu("even or repeated context ids");
  }
  return { is: "associate-request", request: { ...common, contexts } };
}

function readAssociateAccept(body: Uint8Array): PduEvent {
  const contexts: NegotiatedContext[] = [];
  const common = readItems(body, ITEM.negotiatedContext, (id, items, code) => {
    const transferSyntax = readUid(items.find(({ type }) => type === ITEM.transferSyntax)?.value ?? new Uint8Array(0));
    contexts.push({ id, result: CONTEXT_RESULTS[code] ?? "no-reason", transferSyntax });
  });
  return { is: "associate-accept", accept: { ...common, contexts } };
}

type ReadContext = (id: number, items: readonly PduItem[], result: number) => void;

function readItems(body: Uint8Array, contextType: number, readContext: ReadContext) {
  if (body.length < ASSOCIATE_FIXED_BYTES) throw new InvalidPdu(`an association PDU of ${body.length} bytes`);
  let applicationContext = "";
  let maxPduLength = 0;
  let implementationClassUid = "";
  let implementationVersion = "";
  for (const { type, value } of itemsOf(body.subarray(ASSOCIATE_FIXED_BYTES))) {
    if (type === ITEM.applicationContext) {
      applicationContext = readUid(value);
    } else if (type === contextType) {
      if (value.length < 4) throw new InvalidPdu(`a presentation context of ${value.length} bytes`);
      readContext(value[0]!, itemsOf(value.subarray(4)), value[2]!);
    } else if (type === ITEM.userInformation) {
      for (const item of itemsOf(value)) {
        if (item.type === ITEM.maxPduLength && item.value.length === 4) maxPduLength = uint32(item.value, 0);
        if (item.type === ITEM.implementationClassUid) implementationClassUid = readUid(item.value);
        if (item.type === ITEM.implementationVersion) implementationVersion = latin1(item.value).trim();
      }
    }
  }
  return {
    protocolVersion: uint16(body, 0),
    calledAe: aeTitle(body.subarray(4, 20)),
    callingAe: aeTitle(body.subarray(20, 36)),
    applicationContext,
    maxPduLength,
    implementationClassUid,
    implementationVersion,
  };
}

interface PduItem {
  readonly type: number;
  readonly value: Uint8Array;
}

function itemsOf(bytes: Uint8Array): PduItem[] {
  const items: PduItem[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw new InvalidPdu(`${bytes.length - at} bytes, too few for an item`);
    const type = bytes[at]!;
    const end = at + 4 + uint16(bytes, at + 2);
    if (end > bytes.length)
      throw new InvalidPdu(`item ${hex(type, 2)} is ${end - bytes.length} bytes longer than its PDU`);
    items.push({ type, value: bytes.subarray(at + 4, end) });
    at = end;
  }
  return items;
}

function aeTitle(bytes: Uint8Array): string {
  return latin1(bytes).replaceAll("\0", " ").trim();
}

function uint16(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 0x100 + bytes[at + 1]!;
}

function uint32(bytes: Uint8Array, at: number): number {
  return uint16(bytes, at) * 0x1_0000 + uint16(bytes, at + 2);
}
