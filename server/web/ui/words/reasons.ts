import type { Reason } from "../../../../shared/api/reason.ts";
import { filingReasonText } from "../../../../shared/clinical/filing-reasons.ts";
import { flagReasonText } from "../../../../shared/clinical/flag-reasons.ts";
import { language } from "../../text.ts";

/** Returns the words of a missing range or flag in the page's language. */
export function flagReason(reason: Reason): string {
  return flagReasonText(reason, language.value);
}

/** Returns the words of an unmatched or contradicting study in the page's language. */
export function filingReason(reason: Reason): string {
  return filingReasonText(reason, language.value);
}
