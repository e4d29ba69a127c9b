import { concat } from "../../bytes.ts";
import { ascii } from "../bytes.ts";
import {
  ASSOCIATE_FIXED_BYTES,
  type AssociateAccept,
  type AssociateReject,
  type AssociateRequest,
  CONTEXT_RESULTS,
  DATA_PDU_BYTES_MAX,
  type DataFragment,
  ITEM,
  PDU,
  PDV_HEADER_BYTES,
} from "./pdu.ts";
import { APPLICATION_CONTEXT } from "../uids.ts";

// Encodes PDUs of the DICOM Upper Layer (PS3.8 §9.3).

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
    encodeItem(ITEM.negotiatedContext, [
      Uint8Array.of(id, 0, CONTEXT_RESULTS.indexOf(result), 0),
      encodeItem(ITEM.transferSyntax, [ascii(transferSyntax)]),
    ]),
  );
  return encodeAssociate(PDU.associateAccept, accept, 1, APPLICATION_CONTEXT, contexts);
}

type AssociateFields = Omit<AssociateAccept, "contexts"> & Pick<AssociateRequest, "acceptScpScuRole">;

function encodeAssociate(
  type: number,
  {
    calledAe,
    callingAe,
    acceptScpScuRole = [],
    maxPduLength,
    implementationClassUid,
    implementationVersion,
  }: AssociateFields,
  protocolVersion: number,
  applicationContext: string,
  contexts: readonly Uint8Array[],
): Uint8Array {
  const fixed = new Uint8Array(ASSOCIATE_FIXED_BYTES).fill(0x20, 4, 36);
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

function bytes32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
}
