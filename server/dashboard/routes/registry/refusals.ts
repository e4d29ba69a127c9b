import { ApiError } from "../../../http/errors.ts";
import type { AnimalRefusal, FieldFault } from "../../types/animals.ts";

// Why a write about an animal or its owner changes nothing: a code for the page, and a sentence.

const sentences: Record<AnimalRefusal, string> = {
  "PATIENT.CHANGED": "Somebody changed this patient meanwhile. Look again.",
  "PATIENT.ALIKE": "Another patient of the clinic is alike. Look at it first.",
  "PATIENT.SHARED": "Another clinic sees this patient too: close the connection of this clinic instead.",
  "OWNER.CHANGED": "Somebody changed this owner meanwhile. Look again.",
  "ANIMAL.FAULTS": "A value is missing or impossible.",
};

export function refuseWith(code: AnimalRefusal): never {
  throw new ApiError("RECORD.REFUSED", sentences[code], { details: { code } });
}

/** Throws 400 with the fields alone, because the values of an owner stay out of every message. */
export function refuseFaults(faults: readonly FieldFault[]): void {
  if (faults.length === 0) return;
  const named = faults.map(({ field, code }) => `${field} is ${code}`).join("; ");
  throw new ApiError("REQUEST.INVALID_BODY", `${named}.`, { details: { code: "ANIMAL.FAULTS" } });
}
