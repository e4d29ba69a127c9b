import type { Reason } from "../../../../shared/api/reason.ts";
import { filingReasonText } from "../../../../shared/clinical/filing-reasons.ts";
import { flagReasonText } from "../../../../shared/clinical/flag-reasons.ts";
import { language } from "../../text.ts";

/** Translates the reason for a missing range or flag. */
export function flagReason(reason: Reason): string {
  return flagReasonText(reason, language.value);
}

/** Translates the reason of an unmatched or contradicting study. */
export function filingReason(reason: Reason): string {
  return filingReasonText(reason, language.value);
}
