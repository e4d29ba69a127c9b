import { ApiError } from "../http/errors.ts";
import { type Refusal, refusalText } from "./types/refusals.ts";

/** Throws 400 with the reason for which a value that a user typed is not accepted. */
export function refuseValue(refused: Refusal): never {
  throw new ApiError("REQUEST.INVALID_BODY", refusalText(refused), { details: { ...refused } });
}

/** Throws 409 with the reason for which a command changes nothing: its code for the page, and a sentence. */
export function refuse(refused: Refusal): never {
  throw new ApiError("RECORD.REFUSED", refusalText(refused), { details: { ...refused } });
}
