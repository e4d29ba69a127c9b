import { withoutAccents } from "../../../shared/clinical/species.ts";
import { isRealDate } from "../../../shared/schema/timestamp.ts";

// Days as people and spreadsheets write them. The order of day and month is decided for a complete file.

export const DATE_ORDERS = ["dmy", "mdy"] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** A day as `2020-02-29`, null for none, or why it is refused. */
export type ReadDay = { day: string | null } | { code: "not_a_date" | "is_age" | "other_date_order" };

/** Placeholders of programs for no date. */
const NO_DAY =
  /^(?:0000-00-00|00?[./-]00?[./-]0000|1899-12-3[01]|1900-01-0[01]|30[./]12[./]1899|0?1[./]0?1[./]1900|[-–?.]+|n\/?a)$/i;

/** Day and month in numbers, in an order that the file decides. Dots mean day first everywhere. */
const NUMBERS = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})$/;
const YEAR_FIRST = /^(\d{4})[./-](\d{1,2})[./-](\d{1,2})$/;
const COMPACT = /^(?:19|20)\d{6}$/;
const WITH_MONTH = /^(\d{1,2})[. -]+(\p{L}{3,})[., -]+(\d{4}|\d{2})$/u;
const MONTH_FIRST = /^(\p{L}{3,})\.? (\d{1,2}),? (\d{4})$/u;

/** A time of day after a date, which a birth does not need. */
const TIME = /[T ]\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d+)?)?(?: ?[AP]M)?(?:Z|[+-]\d\d:?\d\d)?$/i;

/** Days since 1899-12-30, as Excel writes a date without its format: 1927 to 2064. */
const SERIAL = /^(?:[1-5]\d{4})(?:[.,]\d+)?$/;
const SERIAL_START_MS = Date.UTC(1899, 11, 30);

const AGE =
  /^\d{1,3}([.,]\d+)?\s*(?:y|yr|yrs|years?|j|jahre?|yaş|yaşında|ay|aylık|yıl|m|mo|months?|monate?|w|weeks?|ans?|años?|mois|meses)(?!\p{L})/iu;

/** First letters of the months in English, Turkish, German, French and Spanish, folded. */
const MONTHS: readonly (readonly string[])[] = [
  ["jan", "oca", "ene"],
  ["feb", "sub", "fev"],
  ["mar", "mrz", "maer"],
  ["apr", "nis", "avr", "abr"],
  ["may", "mai"],
  ["jun", "haz", "juin"],
  ["jul", "tem", "juil"],
  ["aug", "agu", "ago", "aou"],
  ["sep", "eyl"],
  ["oct", "okt", "eki"],
  ["nov", "kas"],
  ["dec", "dez", "ara", "dic"],
];

/**
 * Decides the order of day and month by the dates that allow one alone: a number over 12 is a day.
 * @returns null if none decides, and `needed` if a date then has two meanings
 */
export function decideDateOrder(texts: Iterable<string>): { order: DateOrder | null; needed: boolean } {
  let [dayFirst, monthFirst, open] = [0, 0, 0];
  for (const text of texts) {
    const [, first, mark, second] = NUMBERS.exec(text.replace(TIME, "")) ?? [];
    if (first === undefined) continue;
    const [one, two] = [Number(first), Number(second)];
    if (mark === ".") dayFirst += 1;
    else if (one > 12 && two <= 12) dayFirst += 1;
    else if (two > 12 && one <= 12) monthFirst += 1;
    else if (one !== two) open += 1;
  }
  if (dayFirst > 0 && monthFirst === 0) return { order: "dmy", needed: false };
  if (monthFirst > 0 && dayFirst === 0) return { order: "mdy", needed: false };
  return { order: null, needed: open + dayFirst + monthFirst > 0 };
}

/** Reads a day. `thisYear`: a year of two digits after it is of the last century. */
export function readDay(text: string, order: DateOrder, thisYear: number): ReadDay {
  const day = text.trim().replace(TIME, "");
  if (day === "" || NO_DAY.test(day)) return { day: null };
  if (AGE.test(day)) return { code: "is_age" };
  if (SERIAL.test(day))
    return {
      day: new Date(SERIAL_START_MS + Math.floor(Number(day.replace(",", "."))) * 86_400_000)
        .toISOString()
        .slice(0, 10),
    };
  if (COMPACT.test(day)) return real(day.slice(0, 4), day.slice(4, 6), day.slice(6));
  const [, year, month, ofMonth] = YEAR_FIRST.exec(day) ?? [];
  if (year !== undefined) return real(year, month, ofMonth);
  const [, first, mark, second, last = ""] = NUMBERS.exec(day) ?? [];
  if (first !== undefined && second !== undefined) {
    const isDayFirst = mark === "." || order === "dmy";
    const read = real(
      fullYear(last, thisYear),
      ...(isDayFirst ? ([second, first] as const) : ([first, second] as const)),
    );
    const isOther = "code" in read && (isDayFirst ? Number(second) : Number(first)) > 12;
    return isOther ? { code: "other_date_order" } : read;
  }
  const [, dayNamed, monthNamed, yearNamed = ""] = WITH_MONTH.exec(day) ?? [];
  if (monthNamed !== undefined) return real(fullYear(yearNamed, thisYear), monthOf(monthNamed), dayNamed);
  const [, monthBefore, dayAfter, yearAfter = ""] = MONTH_FIRST.exec(day) ?? [];
  if (monthBefore !== undefined) return real(yearAfter, monthOf(monthBefore), dayAfter);
  return { code: "not_a_date" };
}

function real(year: string, month = "", day = ""): ReadDay {
  const text = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  return isRealDate(text) ? { day: text } : { code: "not_a_date" };
}

function fullYear(year: string, thisYear: number): string {
  if (year.length === 4) return year;
  const century = Math.floor(thisYear / 100) * 100;
  const full = century + Number(year);
  return String(full > thisYear ? full - 100 : full);
}

function monthOf(name: string): string {
  const folded = withoutAccents(name);
  // The longest one, since juin and juil start as juni does.
  const found = MONTHS.map((starts, index) => {
    const lengths = starts.filter((start) => folded.startsWith(start)).map(({ length }) => length);
    return { month: index + 1, length: Math.max(0, ...lengths) };
  });
  const best = found.reduce((most, one) => (one.length > most.length ? one : most));
  return best.length === 0 ? "" : String(best.month);
}
