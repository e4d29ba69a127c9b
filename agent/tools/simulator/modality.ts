import { EXPLICIT_LITTLE_ENDIAN } from "../../protocols/dicom/uids.ts";
import { randomUUID } from "node:crypto";
import { type Address, parseAddress } from "../../transport/address.ts";
import { COMMAND } from "../../protocols/dicom/dimse.ts";
import { hex } from "../../protocols/dicom/bytes.ts";
import { DicomClient } from "../../imaging/archive/scu.ts";
import {
  type GeneratedInstance,
  type GeneratedPatient,
  generateInstance,
  STUDY_KINDS,
  type StudyKind,
} from "./generated-study.ts";

// Plays an imaging device: sends a generated study over one association.

export interface DicomTarget {
  readonly address: Address;
  readonly calledAe: string;
  readonly callingAe: string;
}

/** Reads the images of a study: `us,us,sr` are two ultrasound clips and a report. */
export function parseKinds(text: string): StudyKind[] {
  return text.split(",").map((word) => {
    const kind = STUDY_KINDS.find((known) => known === word.trim().toLowerCase());
    if (kind === undefined) throw new Error(`unknown image kind ${word}, expected some of ${STUDY_KINDS.join(", ")}`);
    return kind;
  });
}

/** Reads `dicom://[CALLING@]host:port[/CALLED]`. @returns null for another scheme. @throws Error for an invalid target */
export function parseDicomTarget(text: string): DicomTarget | null {
  if (!text.startsWith("dicom://")) return null;
  const match = /^dicom:\/\/(?:([^@/]{1,16})@)?([^/@]+:\d{1,5})(?:\/([^/]{1,16}))?$/.exec(text);
  const address = parseAddress(match?.[2] ?? "");
  if (match === null || address === null)
    throw new Error(`invalid target ${text}, expected dicom://CALLING@host:port/CALLED`);
  const [, callingAe = "SIMULATOR", , calledAe = "VETWIRE"] = match;
  return { calledAe, callingAe, address };
}

/**
 * Sends one study on one association. @returns its Study Instance UID
 * @throws SendError if the association fails, Error if an instance is refused
 */
export async function playModality(
  { address, calledAe, callingAe }: DicomTarget,
  kinds: readonly StudyKind[],
  patient: GeneratedPatient,
  at: string,
): Promise<string> {
  const uid = `2.25.${BigInt(`0x${randomUUID().replaceAll("-", "")}`)}`;
  const instances = kinds.map((kind, nth) => generateInstance(kind, { patient, uid, at }, nth + 1));
  const client = await DicomClient.connect({
    address,
    calledAe,
    callingAe,
    contexts: contextsOf(instances),
  });
  try {
    for (const { sopClass, sopInstance, dataset } of instances) {
      const context = client.contextOf(sopClass);
      if (context === null) throw new Error(`the peer does not accept ${sopClass}`);
      const { status, comment } = await client.request(
        context,
        { field: COMMAND.cStoreRequest, sopClass, sopInstance },
        [dataset],
      );
      if (status !== 0) throw new Error(`${sopInstance} was refused with status ${hex(status, 4)} ${comment}`.trim());
    }
  } finally {
    await client.release();
  }
  return uid;
}

function contextsOf(instances: readonly GeneratedInstance[]) {
  const classes = [...new Set(instances.map(({ sopClass }) => sopClass))];
  return classes.map((abstractSyntax, index) => ({
    id: index * 2 + 1,
    abstractSyntax,
    transferSyntaxes: [EXPLICIT_LITTLE_ENDIAN],
  }));
}
