/** Retention of images. */
export interface ImageLimits {
  /** Max age of an image in ms; null for no limit. */
  readonly keepMs: number | null;
  /** Max bytes of all images; null for no limit. */
  readonly bytesMax: number | null;
  /** Min free bytes on the disk of the images; null for the default. */
  readonly freeBytes: number | null;
}
