export interface ImageLimits {
  /** null: however old. */
  readonly keepMs: number | null;
  /** null: whatever they take. */
  readonly bytesMax: number | null;
  /** What stays free on their disk; null: what is usual. */
  readonly freeBytes: number | null;
}
