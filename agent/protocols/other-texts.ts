import { OTHER_TEXTS_MAX, type PatientHint } from "../../shared/api/study.ts";
import { readDate } from "../report/device-time.ts";
import { given, identifier } from "./field-text.ts";

// The text of a patient or an order that no field of the hint has. A person at the desk may know the animal by it.

type OtherTexts = NonNullable<PatientHint["other"]>;

/** A record or a segment. Fields and components count from 1. */
interface Fields {
  readonly length: number;
  field(number: number): string;
  components(number: number): readonly string[];
}

/** Max characters of a text. */
const TEXT_MAX = 200;

/** Two letters or digits: a single one is a code. */
const TEXT = /[\p{L}\p{N}].*[\p{L}\p{N}]/su;

/**
 * Returns the unknown texts of a record as sent. `name` is the record's type, for
 * the names of the fields. `first` is the first field with a text, and `codes` are fields without any.
 */
export function otherTexts(
  record: Fields | null,
  { name, first, codes = [] }: { readonly name: string; readonly first: number; readonly codes?: readonly number[] },
  known: readonly (string | null)[],
): OtherTexts {
  const folded = new Set(known.flatMap((text) => (text === null ? [] : [fold(text)])));
  const found: OtherTexts = [];
  for (let number = first; number <= (record?.length ?? 0); number += 1) {
    if (record === null || codes.includes(number)) continue;
    const parts = record.components(number).map(identifier).map(given).filter(Boolean);
    const text = given(record.field(number));
    const isKnown = [text, readDate(text) ?? text].some((each) => folded.has(fold(each)));
    if (!isKnown && !parts.every((part) => folded.has(fold(part))) && TEXT.test(text)) {
      found.push({ field: `${name}-${number}`, text: text.slice(0, TEXT_MAX) });
    }
  }
  return found;
}

export function otherField(texts: OtherTexts): Pick<PatientHint, "other"> {
  return texts.length === 0 ? {} : { other: texts.slice(0, OTHER_TEXTS_MAX) };
}

function fold(text: string): string {
  return text.trim().toLowerCase();
}
