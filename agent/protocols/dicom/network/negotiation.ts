import { COMMAND, isUid, isUsableUid } from "../dimse.ts";
import { IMPLEMENTATION_CLASS_UID, IMPLEMENTATION_VERSION } from "../part10.ts";
import {
  type AssociateAccept,
  type AssociateReject,
  type AssociateRequest,
  DATA_PDU_BYTES_MAX,
  type NegotiatedContext,
  type ProposedContext,
} from "./pdu.ts";
import {
  EXPLICIT_LITTLE_ENDIAN,
  IMPLICIT_LITTLE_ENDIAN,
  MODALITY_PERFORMED_PROCEDURE_STEP,
  MODALITY_WORKLIST,
  STORAGE_COMMITMENT,
  VERIFICATION,
} from "../uids.ts";

// Negotiation of a peer's association request: AE titles, room for another association, presentation contexts.

export interface ScpOptions {
  readonly aeTitle: string;
  /** Allowed calling AE titles; empty for any. */
  readonly callingAeTitles: readonly string[];
  /** Returns whether another association of this peer is admitted. */
  readonly admits: (callingAe: string) => boolean;
}

const REJECT_CALLING_AE: AssociateReject = { result: 1, source: 1, reason: 3 };
const REJECT_CALLED_AE: AssociateReject = { result: 1, source: 1, reason: 7 };
const REJECT_LOCAL_LIMIT: AssociateReject = { result: 2, source: 3, reason: 2 };

/** Operations of services whose datasets are read completely. */
export const OPERATIONS: Readonly<Record<string, readonly number[]>> = {
  [MODALITY_WORKLIST]: [COMMAND.cFindRequest],
  [MODALITY_PERFORMED_PROCEDURE_STEP]: [COMMAND.nCreateRequest, COMMAND.nSetRequest],
  [STORAGE_COMMITMENT]: [COMMAND.nActionRequest],
};

/** Storage classes of the standard (PS3.4 annex B.5). */
const STORAGE = /^1\.2\.840\.10008\.5\.1\.4\.(1\.1\.|34\.7$|38\.1$|39\.1$|43\.1$|44\.1$|45\.1$)/;
/** Root of the standard's UIDs. A proposed SOP class with another root is private and counts as a storage class. */
const STANDARD = "1.2.840.10008.";
/** Transfer syntaxes of datasets that are read completely. */
const READ_WHOLE: readonly string[] = [IMPLICIT_LITTLE_ENDIAN, EXPLICIT_LITTLE_ENDIAN];

export function negotiate(
  request: AssociateRequest,
  { aeTitle, callingAeTitles, admits }: ScpOptions,
): AssociateAccept | AssociateReject {
  const { calledAe, callingAe, contexts } = request;
  if (calledAe !== aeTitle) return REJECT_CALLED_AE;
  if (callingAeTitles.length > 0 && !callingAeTitles.includes(callingAe)) return REJECT_CALLING_AE;
  if (!admits(callingAe)) return REJECT_LOCAL_LIMIT;
  return {
    calledAe,
    callingAe,
    contexts: contexts.map(negotiateContext),
    maxPduLength: DATA_PDU_BYTES_MAX,
    implementationClassUid: IMPLEMENTATION_CLASS_UID,
    implementationVersion: IMPLEMENTATION_VERSION,
  };
}

/** Names the AE titles that differ. The device's title is included, because the other side has another one. */
export function explainRejection(
  { calledAe, callingAe }: AssociateRequest,
  { source, reason }: AssociateReject,
  { aeTitle, callingAeTitles }: ScpOptions,
): string | null {
  if (source !== REJECT_CALLED_AE.source) return null;
  if (reason === REJECT_CALLED_AE.reason) return `it called "${calledAe}", this device is "${aeTitle}"`;
  if (reason !== REJECT_CALLING_AE.reason) return null;
  return `it is "${callingAe}", expected ${callingAeTitles.map((title) => `"${title}"`).join(" or ")}`;
}

/** Accepts the peer's preferred transfer syntax. Nothing is transcoded, so any syntax is acceptable. */
function negotiateContext({ id, abstractSyntax, transferSyntaxes }: ProposedContext): NegotiatedContext {
  const isStorage =
    STORAGE.test(abstractSyntax) || (isUsableUid(abstractSyntax) && !abstractSyntax.startsWith(STANDARD));
  const isService = abstractSyntax in OPERATIONS;
  const [preferred] = transferSyntaxes.filter((syntax) => (isService ? READ_WHOLE.includes(syntax) : isUid(syntax)));
  if (abstractSyntax !== VERIFICATION && !isStorage && !isService) {
    return { id, result: "abstract-syntax", transferSyntax: IMPLICIT_LITTLE_ENDIAN };
  }
  if (preferred === undefined) return { id, result: "transfer-syntaxes", transferSyntax: IMPLICIT_LITTLE_ENDIAN };
  return { id, result: "acceptance", transferSyntax: preferred };
}
