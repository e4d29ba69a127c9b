import { type Dataset, encodeDataset } from "../../agent/dicom/encode.ts";
import { type Encoding, encodingOf } from "../../agent/dicom/dataset.ts";
import { APPLICATION_CONTEXT, type AssociateRequest, type PduEvent, PduReader } from "../../agent/dicom/pdu.ts";

// What a DICOM device sends, piece by piece.

export const VERIFICATION = "1.2.840.10008.1.1";
export const CR_STORAGE = "1.2.840.10008.5.1.4.1.1.1";
export const IMPLICIT = "1.2.840.10008.1.2";
export const EXPLICIT = "1.2.840.10008.1.2.1";
export const JPEG = "1.2.840.10008.1.2.4.50";

/** A request with one context for each of these, numbered 1, 3, 5. */
export function associateRequest(
  contexts: readonly (readonly [abstractSyntax: string, ...transferSyntaxes: string[]])[],
  others: Partial<AssociateRequest> = {},
): AssociateRequest {
  return {
    protocolVersion: 1,
    calledAe: "VETWIRE",
    callingAe: "DX1",
    applicationContext: APPLICATION_CONTEXT,
    contexts: contexts.map(([abstractSyntax, ...transferSyntaxes], index) => ({
      id: 2 * index + 1,
      abstractSyntax,
      transferSyntaxes,
    })),
    pduBytesMax: 16_384,
    implementationClassUid: "1.2.3.4",
    implementationVersion: "TEST",
    ...others,
  };
}

/** The PDUs in what was written. */
export function pdusIn(written: readonly Uint8Array[]): PduEvent[] {
  const reader = new PduReader();
  return written.flatMap((bytes) => reader.receive(bytes));
}

/** An instance of nothing much, in that transfer syntax. */
export function dataset(uid = "1.2.3.1", extra: Dataset = [], transferSyntax = EXPLICIT): Uint8Array {
  return encodeDataset(
    [
      [0x0008_0016, "UI", CR_STORAGE],
      [0x0008_0018, "UI", uid],
      [0x0008_0060, "CS", "CR"],
      [0x0010_0010, "PN", "Rex"],
      [0x0020_000d, "UI", "1.2.3"],
      ...extra,
    ],
    encodingOf(transferSyntax) as Encoding,
  );
}
