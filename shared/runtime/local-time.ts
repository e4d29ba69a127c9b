/** Formats a time in the time zone of this machine: `2026-11-21 09:30:00`. */
export function localTime(at: number | string): string {
  return new Date(at).toLocaleString("sv-SE");
}
