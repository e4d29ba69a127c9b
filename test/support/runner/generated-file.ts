import { encodeFileHead } from "../../../agent/protocols/dicom/part10.ts";
import { EXPLICIT_LITTLE_ENDIAN } from "../../../agent/protocols/dicom/uids.ts";
import type { GeneratedInstance } from "../../../agent/tools/simulator/generated-study.ts";

/** Encodes an instance as a DICOM file (PS3.10). */
export function generatedFile({ sopClass, sopInstance, dataset }: GeneratedInstance): Uint8Array {
  const head = encodeFileHead({ sopClass, sopInstance, transferSyntax: EXPLICIT_LITTLE_ENDIAN, sourceAe: "SIMULATOR" });
  return Buffer.concat([head, dataset]);
}
