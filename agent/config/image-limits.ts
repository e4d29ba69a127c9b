export interface ImageLimits {
  /** null: however old. */
  readonly keepMs: number | null;
  /** null: whatever they take. */
  readonly bytesMax: number | null;
  /** Bytes that stay free on the disk of the images; null for the default. */
  readonly freeBytes: number | null;
}
