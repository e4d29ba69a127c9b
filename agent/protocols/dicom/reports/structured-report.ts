import { type Code, codes, type Elements, items, text } from "./elements.ts";
import type { Modifier } from "./measurement-codes.ts";

// Reads the measurements of a structured report (PS3.3 §C.17.3): its NUM content items in any template. Modifiers of
// the containers around an item (finding site, laterality) apply to the item too.

/** Measurement as the device wrote it. */
export interface Measurement {
  readonly concept: Code;
  /** Modifiers, the outermost first. An item's own modifier replaces that of a container. */
  readonly modifiers: readonly Modifier[];
  /** Decimal string; "" without a measured value. */
  readonly value: string;
  /** UCUM unit; null without one. */
  readonly unit: string | null;
}

const MEASUREMENTS_MAX = 1_000;
/** Max content items of a report; further ones are not read. */
const CONTENT_ITEMS_MAX = 50_000;
const NO_CODE: Code = { value: "", scheme: "", meaning: "" };
/** Code of Fetus ID (PS3.16 TID 1008), which separates littermates. */
const FETUS_ID = "11951-1";

export function readMeasurements(report: Elements): Measurement[] {
  const found: Measurement[] = [];
  const waiting: { readonly item: Elements; readonly context: readonly Modifier[] }[] = [{ item: report, context: [] }];
  for (let seen = 0; seen < CONTENT_ITEMS_MAX && found.length < MEASUREMENTS_MAX; seen++) {
    const next = waiting.pop();
    if (next === undefined) break;
    const { item } = next;
    const own = modifiersOf(item);
    const isOverridden = ({ name }: Modifier) => own.some((one) => isSame(one.name, name));
    const context = [...next.context.filter((modifier) => !isOverridden(modifier)), ...own];
    if (text(item, "0040A040") === "NUM") found.push(measurement(item, context));
    for (const child of items(item, "0040A730").toReversed()) waiting.push({ item: child, context });
  }
  return found;
}

function measurement(item: Elements, modifiers: readonly Modifier[]): Measurement {
  const [measured] = items(item, "0040A300");
  const [unit] = measured === undefined ? [] : codes(measured, "004008EA");
  return {
    concept: conceptOf(item),
    modifiers,
    value: measured === undefined ? "" : text(measured, "0040A30A"),
    unit: unit === undefined || unit.value === "1" ? null : unit.value,
  };
}

/** Returns the modifiers of an item, which apply to all items below it. */
function modifiersOf(item: Elements): Modifier[] {
  return items(item, "0040A730").flatMap((child) => {
    const [relationship, type] = [text(child, "0040A010"), text(child, "0040A040")];
    const name = conceptOf(child);
    if (relationship === "HAS CONCEPT MOD" && type === "CODE") {
      return codes(child, "0040A168").map((value) => ({ name, value }));
    }
    if (relationship === "HAS OBS CONTEXT" && type === "TEXT" && name.value === FETUS_ID) {
      return [
        { name, value: { value: text(child, "0040A160"), scheme: "", meaning: `fetus ${text(child, "0040A160")}` } },
      ];
    }
    return [];
  });
}

function conceptOf(item: Elements): Code {
  return codes(item, "0040A043")[0] ?? NO_CODE;
}

function isSame(one: Code, other: Code): boolean {
  return one.value === other.value && one.scheme === other.scheme;
}
