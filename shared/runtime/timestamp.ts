/** Formats ms since 1970 as the API does: ISO 8601 in UTC. */
export function timestampOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Formats ms since 1970 as timestampOf() does; null stays null. */
export function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestampOf(ms);
}
