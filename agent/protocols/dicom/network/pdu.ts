// PDUs of the DICOM Upper Layer (PS3.8 §9.3): their types, items and bounds.

export const PDU = {
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
/** Bytes of length, context id and message control header. */
export const PDV_HEADER_BYTES = 6;

export interface ProposedContext {
  /** Odd number from 1 to 255. */
  readonly id: number;
  readonly abstractSyntax: string;
  /** Transfer syntaxes, the preferred one first. */
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

/** Results of PS3.8 table 9-18, in the order of their codes. */
type ContextResult = "acceptance" | "user-rejection" | "no-reason" | "abstract-syntax" | "transfer-syntaxes";
export const CONTEXT_RESULTS: readonly ContextResult[] = [
  "acceptance",
  "user-rejection",
  "no-reason",
  "abstract-syntax",
  "transfer-syntaxes",
];

export interface NegotiatedContext {
  readonly id: number;
  readonly result: ContextResult;
  /** Transfer syntax; meaningless if the context is not accepted. */
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

/** Result, source and reason as numbers on the wire (PS3.8 table 9-21). */
export interface AssociateReject {
  readonly result: number;
  readonly source: number;
  readonly reason: number;
}

/** Fragment of a presentation data value. */
export interface DataFragment {
  readonly context: number;
  readonly part: "command" | "dataset";
  readonly bytes: Uint8Array;
  /** True for the fragment that completes the command or dataset. */
  readonly last: boolean;
}

export type PduEvent =
  | { readonly is: "associate-request"; readonly request: AssociateRequest }
  | { readonly is: "associate-accept"; readonly accept: AssociateAccept }
  | { readonly is: "associate-reject"; readonly reject: AssociateReject }
  | ({ readonly is: "data" } & DataFragment)
  | { readonly is: "release-request" }
  | { readonly is: "release-response" }
  /** Abort by the peer's application (`source` 0) or its Upper Layer (2). */
  | { readonly is: "abort"; readonly source: number; readonly reason: number }
  /** Invalid PDU, after which the stream is unreadable. `reason` is a code of PS3.8 table 9-26. */
  | { readonly is: "invalid"; readonly reason: number; readonly problem: string };

/** A-ABORT reasons of the Upper Layer (PS3.8 table 9-26). */
export const ABORT_REASON = { notSpecified: 0, unrecognizedPdu: 1, unexpectedPdu: 2, invalidParameter: 6 } as const;

/** Item types (PS3.8 §9.3.2, PS3.7 annex D.3). */
export const ITEM = {
  applicationContext: 0x10,
  proposedContext: 0x20,
  negotiatedContext: 0x21,
  abstractSyntax: 0x30,
  transferSyntax: 0x40,
  userInformation: 0x50,
  maxPduLength: 0x51,
  implementationClassUid: 0x52,
  roleSelection: 0x54,
  implementationVersion: 0x55,
} as const;

/** Bytes before the items: protocol version, called and calling AE title, reserved (PS3.8 §9.3.2). */
export const ASSOCIATE_FIXED_BYTES = 68;
