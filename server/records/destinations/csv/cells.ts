import { DateTime } from "luxon";

/** A text that anyone may have written, a number with its digits, or a word of ours. */
export type Cell = { readonly text: string } | { readonly number: string } | { readonly id: string };

/** `2026-11-21T10:00:30+03:00` */
export function isoTime(instant: number, zone: string): string {
  return DateTime.fromMillis(instant, { zone, locale: "en" }).toFormat("yyyy-MM-dd'T'HH:mm:ssZZ");
}

/**
 * Starts of a formula: of a text, and after a mark at which a spreadsheet of some language splits cells, such as `;` in Turkish Excel
 * (OWASP ASVS 1.2.10). It takes the quotes of a later cell for text, so that a line break within them starts a row.
 */
const FORMULA = /^(?=[=+\-@\t\r\0])|(?<=[;\r\n]\s*)(?=[=+\-@])/g;

export function cellText(cell: Cell | undefined): string {
  if (cell === undefined) return "";
  if ("text" in cell) return cell.text.replaceAll(FORMULA, "'");
  return "number" in cell ? cell.number : cell.id;
}
