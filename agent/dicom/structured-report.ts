import { codes, type Elements, items, text } from "./elements.ts";

// The measurements in a structured report (PS3.3 §C.17.3): its NUM content items, in whatever template they stand. What the
// containers around an item say of all in them (finding site, laterality) belongs to the item's name.

/** As the device wrote it. */
export interface Measurement {
  readonly name: string;
  /** DS; "" where the device measured nothing. */
  readonly value: string;
  /** UCUM; null where the value has none. */
  readonly unit: string | null;
}

const MEASUREMENTS_MAX = 1_000;
const CONTENT_ITEMS_MAX = 50_000;

export function readMeasurements(report: Elements): Measurement[] {
  const found: Measurement[] = [];
  const waiting: { readonly item: Elements; readonly context: readonly string[] }[] = [{ item: report, context: [] }];
  for (let seen = 0; seen < CONTENT_ITEMS_MAX && found.length < MEASUREMENTS_MAX; seen++) {
    const next = waiting.pop();
    if (next === undefined) break;
    const { item } = next;
    const context = [...next.context, ...modifiers(item)];
    if (text(item, "0040A040") === "NUM") found.push(measurement(item, context));
    for (const child of items(item, "0040A730").toReversed()) waiting.push({ item: child, context });
  }
  return found;
}

function measurement(item: Elements, context: readonly string[]): Measurement {
  const [concept] = codes(item, "0040A043");
  const [measured] = items(item, "0040A300");
  const [unit] = measured === undefined ? [] : codes(measured, "004008EA");
  const name = concept === undefined ? "" : concept.meaning || concept.value;
  const details = [...new Set(context)].join(", ");
  return {
    name: details === "" ? name : `${name} (${details})`,
    value: measured === undefined ? "" : text(measured, "0040A30A"),
    unit: unit === undefined || unit.value === "1" ? null : unit.value,
  };
}

/** What an item says of itself and of all below it. */
function modifiers(item: Elements): string[] {
  return items(item, "0040A730")
    .filter((child) => text(child, "0040A010") === "HAS CONCEPT MOD" && text(child, "0040A040") === "CODE")
    .flatMap((child) => codes(child, "0040A168").map(({ meaning, value }) => meaning || value))
    .filter((words) => words !== "");
}
