import { locale } from "../text.ts";

/** Prints bytes as megabytes. */
export function megabytes(bytes: number): string {
  const format = new Intl.NumberFormat(locale(), { maximumFractionDigits: 1 });
  return `${format.format(bytes / 1e6)}\u00a0MB`;
}
