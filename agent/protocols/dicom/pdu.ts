import { concat } from "../bytes.ts";
import { ascii, hex, latin1, readUid } from "./bytes.ts";
import { APPLICATION_CONTEXT } from "./uids.ts";

// PDUs of the DICOM Upper Layer (PS3.8 §9.3): bytes in, events out. Data is passed on in received pieces, never
// collected. An instance of 1 GB needs no more memory here than one of 1 kB.

const PDU = {
  associateRequest: 0x01,
  associateAccept: 0x02,
  associateReject: 0x03,
  data: 0x04,
  releaseRequest: 0x05,
  releaseResponse: 0x06,
  abort: 0x07,
} as const;

/** Max length of a received P-DATA-TF, announced to the peer. A longer one ends the association. */
export const DATA_PDU_BYTES_MAX = 131_072;
/** Max bytes of an association request; 128 contexts with 40 transfer syntaxes each have 170 kB. */
const ASSOCIATE_PDU_BYTES_MAX = 262_144;
const HEADER_BYTES = 6;
const PDV_HEADER_BYTES = 6;

export interface ProposedContext {
  /** Odd, 1 to 255. */
  readonly id: number;
  readonly abstractSyntax: string;
  /** The requestor's preference first. */
  readonly transferSyntaxes: readonly string[];
}

export interface AssociateRequest {
  readonly protocolVersion: number;
  readonly calledAe: string;
  readonly callingAe: string;
  readonly applicationContext: string;
  readonly contexts: readonly ProposedContext[];
  /** SOP classes of which the requestor accepts the SCP role (SCP/SCU Role Selection, PS3.7 §D.3.3.4). */
  readonly acceptScpScuRole?: readonly string[];
  /** Max length of the peer's P-DATA-TF (PS3.8 D.1); 0 for any. */
  readonly maxPduLength: number;
  readonly implementationClassUid: string;
  readonly implementationVersion: string;
}

/** PS3.8 table 9-18. */
type ContextResult = "acceptance" | "user-rejection" | "no-reason" | "abstract-syntax" | "transfer-syntaxes";
const CONTEXT_RESULTS: readonly ContextResult[] = [
  "acceptance",
  "user-rejection",
  "no-reason",
  "abstract-syntax",
  "transfer-syntaxes",
];

export interface NegotiatedContext {
  readonly id: number;
  readonly result: ContextResult;
  /** Meaningless if the context is not accepted. */
  readonly transferSyntax: string;
}

export interface AssociateAccept {
  readonly calledAe: string;
  readonly callingAe: string;
  readonly contexts: readonly NegotiatedContext[];
  readonly maxPduLength: number;
  readonly implementationClassUid: string;
  readonly implementationVersion: string;
}

/** PS3.8 table 9-21: result, source and reason as numbers on the wire. */
export interface AssociateReject {
  readonly result: number;
  readonly source: number;
  readonly reason: number;
}

/** Fragment of a presentation data value. `last`: it completes the command or dataset. */
export interface DataFragment {
  readonly context: number;
  readonly part: "command" | "dataset";
  readonly bytes: Uint8Array;
  readonly last: boolean;
}

export type PduEvent =
  | { readonly is: "associate-request"; readonly request: AssociateRequest }
  | { readonly is: "associate-accept"; readonly accept: AssociateAccept }
  | { readonly is: "associate-reject"; readonly reject: AssociateReject }
  | ({ readonly is: "data" } & DataFragment)
  | { readonly is: "release-request" }
  | { readonly is: "release-response" }
  /** `source` 0: the peer's application; 2: its Upper Layer. */
  | { readonly is: "abort"; readonly source: number; readonly reason: number }
  /** Invalid PDU: the rest of the stream is unreadable. `reason` as in PS3.8 table 9-26. */
  | { readonly is: "invalid"; readonly reason: number; readonly problem: string };

/** A-ABORT reasons of the Upper Layer (PS3.8 table 9-26). */
export const ABORT_REASON = { notSpecified: 0, unrecognizedPdu: 1, unexpectedPdu: 2, invalidParameter: 6 } as const;

type State =
  | { readonly at: "header" }
  /** Body of a PDU that is collected whole. */
  | { readonly at: "body"; readonly type: number; readonly length: number }
  | { readonly at: "pdv-header"; readonly pduLeft: number }
  | {
      readonly at: "pdv";
      readonly context: number;
      readonly control: number;
      readonly pdvLeft: number;
      readonly pduLeft: number;
    }
  | { readonly at: "nothing-more" };

/** Splits a stream into PDUs, in any segmentation. */
export class PduReader {
  #state: State = { at: "header" };
  #gathered = new Uint8Array(HEADER_BYTES);
  #gatheredLength = 0;
  #wholePdus = 0;

  /** Number of completed PDUs. */
  get wholePdus(): number {
    return this.#wholePdus;
  }

  /** Reads a chunk. The events share its memory. */
  receive(chunk: Uint8Array): PduEvent[] {
    const events: PduEvent[] = [];
    let at = 0;
    while (this.#state.at !== "nothing-more") {
      const state = this.#state;
      if (state.at === "pdv") {
        const end = Math.min(chunk.length, at + state.pdvLeft);
        if (end === at && state.pdvLeft > 0) break;
        this.#takeFragment(state, chunk.subarray(at, end), events);
        at = end;
        continue;
      }
      const wanted = state.at === "header" ? HEADER_BYTES : state.at === "body" ? state.length : PDV_HEADER_BYTES;
      const taken = Math.min(wanted - this.#gatheredLength, chunk.length - at);
      const whole = this.#gather(chunk.subarray(at, at + taken), wanted);
      at += taken;
      if (whole === null) break;
      if (state.at === "header") this.#readHeader(whole, events);
      else if (state.at === "pdv-header") this.#readPdvHeader(whole, state.pduLeft, events);
      else this.#readBody(state.type, whole, events);
    }
    return events;
  }

  /** Collects `wanted` bytes. Returns null while some are missing. The result is valid until the next call. */
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

  #readHeader(header: Uint8Array, events: PduEvent[]): void {
    const type = header[0]!;
    const length = uint32(header, 2);
    if (type < PDU.associateRequest || type > PDU.abort) {
      this.#end(ABORT_REASON.unrecognizedPdu, `PDU type ${hex(type, 2)} is none`, events);
    } else if (type === PDU.data) {
      if (length > DATA_PDU_BYTES_MAX) {
        const problem = `a P-DATA-TF of ${length} bytes, at most ${DATA_PDU_BYTES_MAX}`;
        this.#end(ABORT_REASON.invalidParameter, problem, events);
      } else if (length < PDV_HEADER_BYTES) {
        this.#end(ABORT_REASON.invalidParameter, `a P-DATA-TF of ${length} bytes holds no data value`, events);
      } else {
        this.#state = { at: "pdv-header", pduLeft: length };
      }
    } else if (length > ASSOCIATE_PDU_BYTES_MAX || (type > PDU.associateAccept && length !== 4)) {
      this.#end(ABORT_REASON.invalidParameter, `a PDU of type ${hex(type, 2)} with ${length} bytes`, events);
    } else {
      this.#state = { at: "body", type, length };
    }
  }

  #readPdvHeader(header: Uint8Array, pduLeft: number, events: PduEvent[]): void {
    const length = uint32(header, 0); // of context id, control byte and fragment
    if (length < 2 || length + 4 > pduLeft) {
      const problem = `a data value of ${length} bytes where its PDU has ${pduLeft - 4} left`;
      return this.#end(ABORT_REASON.invalidParameter, problem, events);
    }
    const [context, control] = [header[4]!, header[5]!];
    this.#state = { at: "pdv", context, control, pdvLeft: length - 2, pduLeft: pduLeft - PDV_HEADER_BYTES };
  }

  #takeFragment(state: State & { at: "pdv" }, bytes: Uint8Array, events: PduEvent[]): void {
    const { context, control } = state;
    const pdvLeft = state.pdvLeft - bytes.length;
    const pduLeft = state.pduLeft - bytes.length;
    const last = pdvLeft === 0 && (control & 2) !== 0;
    events.push({ is: "data", context, part: (control & 1) !== 0 ? "command" : "dataset", bytes, last });
    if (pdvLeft > 0) {
      this.#state = { ...state, pdvLeft, pduLeft };
    } else if (pduLeft === 0) {
      this.#wholePdus += 1;
      this.#state = { at: "header" };
    } else if (pduLeft < PDV_HEADER_BYTES) {
      this.#end(ABORT_REASON.invalidParameter, `${pduLeft} bytes behind the last data value of a PDU`, events);
    } else {
      this.#state = { at: "pdv-header", pduLeft };
    }
  }

  #readBody(type: number, body: Uint8Array, events: PduEvent[]): void {
    this.#wholePdus += 1;
    this.#state = { at: "header" };
    switch (type) {
      case PDU.associateRequest:
      case PDU.associateAccept: {
        const read = type === PDU.associateRequest ? readAssociateRequest : readAssociateAccept;
        const event = read(body);
        if ("problem" in event) this.#end(ABORT_REASON.invalidParameter, event.problem, events);
        else events.push(event);
        break;
      }
      case PDU.associateReject: {
        const [, result = 0, source = 0, reason = 0] = body;
        events.push({ is: "associate-reject", reject: { result, source, reason } });
        break;
      }
      case PDU.releaseRequest:
        events.push({ is: "release-request" });
        break;
      case PDU.releaseResponse:
        events.push({ is: "release-response" });
        break;
      case PDU.abort:
        events.push({ is: "abort", source: body[2]!, reason: body[3]! });
        break;
    }
  }

  #end(reason: number, problem: string, events: PduEvent[]): void {
    this.#state = { at: "nothing-more" };
    events.push({ is: "invalid", reason, problem });
  }
}

const ITEM = {
  applicationContext: 0x10,
  proposedContext: 0x20,
  answeredContext: 0x21,
  abstractSyntax: 0x30,
  transferSyntax: 0x40,
  userInformation: 0x50,
  maxPduLength: 0x51,
  implementationClassUid: 0x52,
  roleSelection: 0x54,
  implementationVersion: 0x55,
} as const;

/** Bytes before the items: protocol version, called and calling AE title, reserved (PS3.8 §9.3.2). */
const FIXED_BYTES = 68;
const CONTEXTS_MAX = 128;

class Malformed extends Error {}

function readAssociateRequest(body: Uint8Array): PduEvent | { problem: string } {
  return orProblem(() => {
    const contexts: ProposedContext[] = [];
    const common = readItems(body, ITEM.proposedContext, (id, items) => {
      const named = (type: number) => items.filter((item) => item.type === type).map(({ value }) => readUid(value));
      const [abstractSyntax = "", ...others] = named(ITEM.abstractSyntax);
      if (others.length > 0) throw new Malformed(`context ${id} has ${others.length + 1} abstract syntaxes`);
      contexts.push({ id, abstractSyntax, transferSyntaxes: named(ITEM.transferSyntax) });
    });
    const ids = new Set(contexts.map(({ id }) => id));
    if (contexts.length > CONTEXTS_MAX) throw new Malformed(`${contexts.length} contexts, at most ${CONTEXTS_MAX}`);
    if (ids.size < contexts.length || contexts.some(({ id }) => id % 2 === 0)) {
      throw new Malformed("context ids that are even or stand twice");
    }
    return { is: "associate-request", request: { ...common, contexts } };
  });
}

function readAssociateAccept(body: Uint8Array): PduEvent | { problem: string } {
  return orProblem(() => {
    const contexts: NegotiatedContext[] = [];
    const common = readItems(body, ITEM.answeredContext, (id, items, code) => {
      const transferSyntax = readUid(items.find(({ type }) => type === ITEM.transferSyntax)?.value ?? NO_BYTES);
      contexts.push({ id, result: CONTEXT_RESULTS[code] ?? "no-reason", transferSyntax });
    });
    return { is: "associate-accept", accept: { ...common, contexts } };
  });
}

function orProblem(read: () => PduEvent): PduEvent | { problem: string } {
  try {
    return read();
  } catch (error) {
    if (error instanceof Malformed) return { problem: error.message };
    throw error;
  }
}

type ReadContext = (id: number, items: readonly Item[], result: number) => void;

function readItems(body: Uint8Array, contextType: number, readContext: ReadContext) {
  if (body.length < FIXED_BYTES) throw new Malformed(`an association PDU of ${body.length} bytes`);
  let applicationContext = "";
  let maxPduLength = 0;
  let implementationClassUid = "";
  let implementationVersion = "";
  for (const { type, value } of itemsOf(body.subarray(FIXED_BYTES))) {
    if (type === ITEM.applicationContext) {
      applicationContext = readUid(value);
    } else if (type === contextType) {
      if (value.length < 4) throw new Malformed(`a presentation context of ${value.length} bytes`);
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

interface Item {
  readonly type: number;
  readonly value: Uint8Array;
}

function itemsOf(bytes: Uint8Array): Item[] {
  const items: Item[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw new Malformed(`${bytes.length - at} bytes where an item begins`);
    const type = bytes[at]!;
    const end = at + 4 + uint16(bytes, at + 2);
    if (end > bytes.length)
      throw new Malformed(`item ${hex(type, 2)} is ${end - bytes.length} bytes longer than its PDU`);
    items.push({ type, value: bytes.subarray(at + 4, end) });
    at = end;
  }
  return items;
}

export function encodeAssociateRequest(request: AssociateRequest): Uint8Array {
  const contexts = request.contexts.map(({ id, abstractSyntax, transferSyntaxes }) =>
    encodeItem(ITEM.proposedContext, [
      Uint8Array.of(id, 0, 0, 0),
      encodeItem(ITEM.abstractSyntax, [ascii(abstractSyntax)]),
      ...transferSyntaxes.map((syntax) => encodeItem(ITEM.transferSyntax, [ascii(syntax)])),
    ]),
  );
  return encodeAssociate(PDU.associateRequest, request, request.protocolVersion, request.applicationContext, contexts);
}

export function encodeAssociateAccept(accept: AssociateAccept): Uint8Array {
  const contexts = accept.contexts.map(({ id, result, transferSyntax }) =>
    encodeItem(ITEM.answeredContext, [
      Uint8Array.of(id, 0, CONTEXT_RESULTS.indexOf(result), 0),
      encodeItem(ITEM.transferSyntax, [ascii(transferSyntax)]),
    ]),
  );
  return encodeAssociate(PDU.associateAccept, accept, 1, APPLICATION_CONTEXT, contexts);
}

type Ends = Omit<AssociateAccept, "contexts"> & Pick<AssociateRequest, "acceptScpScuRole">;

function encodeAssociate(
  type: number,
  { calledAe, callingAe, acceptScpScuRole = [], maxPduLength, implementationClassUid, implementationVersion }: Ends,
  protocolVersion: number,
  applicationContext: string,
  contexts: readonly Uint8Array[],
): Uint8Array {
  const fixed = new Uint8Array(FIXED_BYTES).fill(0x20, 4, 36);
  fixed.set([protocolVersion >> 8, protocolVersion & 0xff]);
  fixed.set(ascii(calledAe).subarray(0, 16), 4);
  fixed.set(ascii(callingAe).subarray(0, 16), 20);
  return encodePdu(type, [
    fixed,
    encodeItem(ITEM.applicationContext, [ascii(applicationContext)]),
    ...contexts,
    encodeItem(ITEM.userInformation, [
      encodeItem(ITEM.maxPduLength, [bytes32(maxPduLength)]),
      encodeItem(ITEM.implementationClassUid, [ascii(implementationClassUid)]),
      ...acceptScpScuRole.map((sopClass) =>
        encodeItem(ITEM.roleSelection, [Uint8Array.of(0, sopClass.length), ascii(sopClass), Uint8Array.of(0, 1)]),
      ),
      encodeItem(ITEM.implementationVersion, [ascii(implementationVersion)]),
    ]),
  ]);
}

export function encodeAssociateReject({ result, source, reason }: AssociateReject): Uint8Array {
  return encodePdu(PDU.associateReject, [Uint8Array.of(0, result, source, reason)]);
}

export function encodeReleaseRequest(): Uint8Array {
  return encodePdu(PDU.releaseRequest, [new Uint8Array(4)]);
}

export function encodeReleaseResponse(): Uint8Array {
  return encodePdu(PDU.releaseResponse, [new Uint8Array(4)]);
}

export function encodeAbort(source: number, reason: number): Uint8Array {
  return encodePdu(PDU.abort, [Uint8Array.of(0, 0, source, reason)]);
}

/** Encodes a fragment of a command or dataset as P-DATA-TF PDUs of at most `maxPduLength` bytes (0: any length). */
export function encodeData({ context, part, bytes, last }: DataFragment, maxPduLength: number): Uint8Array {
  const room = (maxPduLength === 0 ? DATA_PDU_BYTES_MAX : maxPduLength) - PDV_HEADER_BYTES;
  const pdus: Uint8Array[] = [];
  let at = 0;
  do {
    const end = Math.min(bytes.length, at + room);
    const control = (part === "command" ? 1 : 0) | (last && end === bytes.length ? 2 : 0);
    const length = end - at + 2;
    pdus.push(encodePdu(PDU.data, [bytes32(length), Uint8Array.of(context, control), bytes.subarray(at, end)]));
    at = end;
  } while (at < bytes.length);
  return pdus.length === 1 ? pdus[0]! : concat(pdus);
}

function encodePdu(type: number, parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return concat([Uint8Array.of(type, 0), bytes32(length), ...parts]);
}

function encodeItem(type: number, parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return concat([Uint8Array.of(type, 0, length >> 8, length & 0xff), ...parts]);
}

const NO_BYTES = new Uint8Array(0);

function aeTitle(bytes: Uint8Array): string {
  return latin1(bytes).replaceAll("\0", " ").trim();
}

function uint16(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 0x100 + bytes[at + 1]!;
}

function uint32(bytes: Uint8Array, at: number): number {
  return uint16(bytes, at) * 0x1_0000 + uint16(bytes, at + 2);
}

function bytes32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
}
