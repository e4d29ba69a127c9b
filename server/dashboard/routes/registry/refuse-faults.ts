import { ApiError } from "../../../http/errors.ts";
import type { FieldFault } from "../../types/animals.ts";

/** Throws 400 with the fields alone, because the values of an owner stay out of every message. */
export function refuseFaults(faults: readonly FieldFault[]): void {
  if (faults.length === 0) return;
  const named = faults.map(({ field, code }) => `${field} is ${code}`).join("; ");
  throw new ApiError("REQUEST.INVALID_BODY", `${named}.`, { details: { code: "ANIMAL.FAULTS" } });
}
