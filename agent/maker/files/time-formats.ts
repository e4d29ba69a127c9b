import { timeReader } from "../../protocols/file/layouts/time-format.ts";

// The formats in which a column's texts can be times. Day and month are never guessed: where two orders fit, a person chooses.

const DATES = [
  ...["yyyy-M-d", "yyyy/M/d", "yyyy.M.d", "yyyyMMdd"],
  ...["d/M/yyyy", "M/d/yyyy", "d.M.yyyy", "M.d.yyyy", "d-M-yyyy", "M-d-yyyy", "d/M/yy", "M/d/yy", "d.M.yy"],
];
const CLOCKS = ["", " H:mm:ss", " H:mm", " h:mm:ss a", " h:mm a", "TH:mm:ss", "TH:mm"];

const READERS = DATES.flatMap((date) =>
  CLOCKS.map((clock) => ({ format: `${date}${clock}`, read: timeReader(`${date}${clock}`) })),
);

/** Max texts of a column that are looked at. */
const TEXTS_MAX = 500;

/** Returns the formats that read each text as a possible time; of those that read all alike, the first. */
export function timeFormats(texts: readonly string[]): string[] {
  const filled = texts.filter((text) => text.trim() !== "").slice(0, TEXTS_MAX);
  if (filled.length === 0) return [];
  const found = new Map<string, string>();
  for (const { format, read } of READERS) {
    const times = timesIn(filled, read);
    if (times !== null && !found.has(times)) found.set(times, format);
  }
  return [...found.values()];
}

/** Returns the times of all texts as one text. Most columns hold other texts, and the first one ends the search. @returns null for them */
function timesIn(texts: readonly string[], read: (text: string) => string | null): string | null {
  const times: string[] = [];
  for (const text of texts) {
    const time = read(text);
    if (time === null || !isPossible(time)) return null;
    times.push(time);
  }
  return times.join();
}

function isPossible(time: string): boolean {
  const [, month, day] = /^\d{4}(\d\d)(\d\d)/.exec(time) ?? [];
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31;
}
