import type { Language } from "../../api/language.ts";
import { doubts, remarks } from "./doubts.ts";
import { translator } from "./translator.ts";

// The words for what a device says of its results. A study keeps them in English, as the agent wrote them; a page shows them in its
// language. Words of the device itself, and of a clinic's own profile, are in no table and are shown as they are.

const doubtIn = translator(doubts);
const remarkIn = translator(remarks);

/** Returns a device's doubt about a value, a sentence or several, in the language. */
export function doubtText(doubt: string, language: Language): string {
  return doubt
    .split("; ")
    .map((sentence) => doubtIn(sentence, language) ?? sentence)
    .join("; ");
}

/** Returns whether every sentence of a doubt has its words in both languages. */
export function isKnownDoubt(doubt: string): boolean {
  return doubt.split("; ").every((sentence) => doubtIn(sentence, "tr") !== null);
}

/** Returns a device's remark on a sample in the language. */
export function remarkText(remark: string, language: Language): string {
  return remarkIn(remark, language) ?? remark;
}
