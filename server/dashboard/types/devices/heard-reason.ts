import type { Language } from "../../../../shared/api/language.ts";
import { filingWords } from "../../../../shared/clinical/filing-reasons.ts";
import { lineText } from "../../../../shared/network/line-reasons.ts";

// A reason that an agent reports in its heartbeat: why a device is down, or why studies wait.

export interface HeardReason {
  /** The agent's words, in English; null or absent without a reason. */
  readonly reason?: string | null;
  /** Absent for a reason without a code, and for an agent of an older version. */
  readonly code?: string;
  /** The values that the words of the code name. */
  readonly values?: readonly string[];
}

/** A reason in the words of its code. */
export type ShownReason = Omit<HeardReason, "reason"> & { readonly reason: string };

/** Takes the reason of a heartbeat. @returns null without one */
export function heardReason({ reason, code, values }: HeardReason): ShownReason | null {
  if (reason == null) return null;
  const coded = { ...(code !== undefined && { code }), ...(values !== undefined && { values }) };
  return { reason: heardWords({ reason, ...coded }, "en").words, ...coded };
}

/** Returns the words of the code, else the agent's, with their language. */
export function heardWords(
  { reason, code = "", values = [] }: HeardReason,
  language: Language,
): { readonly lang: Language; readonly words: string } {
  const coded = { code, values: [...values] };
  const wordsIn = (wanted: Language) => lineText(coded, wanted) ?? filingWords(coded, wanted);
  const own = wordsIn(language);
  return own === null ? { lang: "en", words: wordsIn("en") ?? reason ?? "" } : { lang: language, words: own };
}
