import type { Reason } from "../../../shared/api/reason.ts";
import { flagReasonText } from "../../../shared/dashboard/flag-reasons.ts";
import { language } from "../text.ts";

/** Returns the words of a missing range or flag in the page's language. */
export function flagReason(reason: Reason): string {
  return flagReasonText(reason, language.value);
}
