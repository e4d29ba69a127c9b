import { concat } from "../bytes.ts";
import { ascii } from "./bytes.ts";
import { type Dataset, encodeDataset } from "./encode.ts";

// Encodes the head of a DICOM file before its dataset (PS3.10 §7.1).

/** Implementation class UID of the agent, made from a UUID (PS3.5 annex B.2). */
export const IMPLEMENTATION_CLASS_UID = "2.25.284520651568792438234364113214113150493";
export const IMPLEMENTATION_VERSION = "VETWIRE";

export interface FileMeta {
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly transferSyntax: string;
  /** AE title of the sender. */
  readonly sourceAe: string;
}

/** Encodes the preamble, "DICM" and the File Meta Information, which is always in Explicit VR Little Endian. */
export function encodeFileHead({ sopClass, sopInstance, transferSyntax, sourceAe }: FileMeta): Uint8Array {
  const meta: Dataset = [
    [0x0002_0001, "OB", Uint8Array.of(0, 1)],
    [0x0002_0002, "UI", sopClass],
    [0x0002_0003, "UI", sopInstance],
    [0x0002_0010, "UI", transferSyntax],
    [0x0002_0012, "UI", IMPLEMENTATION_CLASS_UID],
    [0x0002_0013, "SH", IMPLEMENTATION_VERSION],
    [0x0002_0016, "AE", sourceAe],
  ];
  const rest = encodeDataset(meta);
  const groupLength = new Uint8Array(4);
  new DataView(groupLength.buffer).setUint32(0, rest.length, true);
  const group = encodeDataset([[0x0002_0000, "UL", groupLength]]);
  return concat([new Uint8Array(128), ascii("DICM"), group, rest]);
}
