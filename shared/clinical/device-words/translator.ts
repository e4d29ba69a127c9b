import type { Language } from "../../api/language.ts";
import { unitText } from "../units/unit-text.ts";

// Translates sentences that are stored in English, by a table of pairs. Nothing is decided by them.

/** A sentence with gaps in braces, in both languages. */
export type SentencePair = readonly [english: string, turkish: string];

/**
 * Gaps that may hold several words; every other gap holds one. `{reason}` is a sentence of the same table, and a gap that ends with
 * `unit` or `units` is written as people write units.
 */
const LONG_GAP = /^(?:text\d?|reason|name|mark|units)$/;
/** Units of an analyte, as the agent lists them. */
const UNIT_LIST = / or /;

interface Sentence {
  readonly english: string;
  readonly turkish: string;
  readonly pattern: RegExp;
}

/** @returns a function that translates one sentence, or null if no pair fits it */
export function translator(pairs: readonly SentencePair[]): (text: string, language: Language) => string | null {
  const fixed = new Map(pairs.filter(([english]) => !english.includes("{")));
  const sentences = pairs.filter(([english]) => english.includes("{")).map(sentenceOf);
  const translate = (text: string, language: Language): string | null => {
    const whole = fixed.get(text);
    if (whole !== undefined) return language === "tr" ? whole : text;
    for (const { english, turkish, pattern } of sentences) {
      const values = pattern.exec(text)?.groups;
      if (values === undefined) continue;
      return (language === "tr" ? turkish : english).replace(/\{(\w+)\}/g, (_, gap: string) => {
        const value = values[gap] ?? "";
        if (gap === "reason") return translate(value, language) ?? value;
        return /units?$/.test(gap) ? unitsText(value, language) : value;
      });
    }
    return null;
  };
  return translate;
}

function unitsText(units: string, language: Language): string {
  return units
    .split(UNIT_LIST)
    .map(unitText)
    .join(language === "tr" ? " veya " : " or ");
}

function sentenceOf([english, turkish]: SentencePair): Sentence {
  const source = english
    .replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replace(/\{(\w+)\}/g, (_, gap: string) => `(?<${gap}>${LONG_GAP.test(gap) ? ".+" : String.raw`\S+`})`);
  return { english, turkish, pattern: new RegExp(`^${source}$`, "su") };
}
