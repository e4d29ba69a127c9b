import type { Soap, SoapStatus } from "../../../shared/api/soap.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";

// Legal changes of a SOAP record. Triggers of the database hold the same rules.

const next: Readonly<Record<SoapStatus, SoapStatus | null>> = {
  DRAFT: "IN_PROGRESS",
  IN_PROGRESS: "SIGNED",
  SIGNED: "LOCKED",
  LOCKED: null,
};

/** @returns the only status that may follow; null after the last one */
export function nextSoapStatus(from: SoapStatus): SoapStatus | null {
  return next[from];
}

/** Allows one step forward. @returns the reason of an illegal change, else null */
export function soapStatusProblem(from: SoapStatus, to: SoapStatus): Refusal | null {
  const following = next[from];
  if (following === to) return null;
  return following === null ? refusal("SOAP.FINAL", to, from) : refusal("SOAP.STATUS", to, from, following);
}

/** Whether the content of a record is final. Corrections are amendments. */
export function isSigned(status: SoapStatus): boolean {
  return status === "SIGNED" || status === "LOCKED";
}

/** Checks a changed record; `differing` names its changed fields except the status. @returns the problem, else null */
export function soapChangeProblem(from: SoapStatus, to: SoapStatus, differing: readonly string[]): Refusal | null {
  if (isSigned(from) && differing.length > 0) {
    return refusal("SOAP.SIGNED", from, ...differing);
  }
  return from === to ? null : soapStatusProblem(from, to);
}

/** @returns the problem if signed_at contradicts the status, else null */
export function signedAtProblem({ status, signed_at }: Pick<Soap, "status" | "signed_at">): string | null {
  if (isSigned(status) === (signed_at !== null)) return null;
  return signed_at === null
    ? `signed_at is null, expected a time for a ${status} record`
    : `signed_at is ${JSON.stringify(signed_at)}, expected null for a ${status} record`;
}

/** Allows amendments of signed records of the same patient. @returns the problem, else null */
export function amendmentProblem(
  amendment: { fp: string; patientId: number },
  original: { fp: string; patientId: number; status: SoapStatus },
): Refusal | null {
  if (amendment.fp === original.fp) return refusal("SOAP.AMENDS_ITSELF");
  if (amendment.patientId !== original.patientId) return refusal("SOAP.AMENDS_OTHER", original.fp);
  return isSigned(original.status) ? null : refusal("SOAP.AMENDS_OPEN", original.fp, original.status);
}
