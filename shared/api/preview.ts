// Small pictures of the images of a study: an agent draws and sends them, the dashboard shows them. Not for diagnosis.

/** Max pictures of a study; further images have none. */
export const PREVIEWS_MAX = 12;

/** Max pixels of a side. */
export const PREVIEW_SIDE_MAX = 1024;

/** Max bytes of a picture. */
export const PREVIEW_BYTES_MAX = 1024 * 1024;

/** Path to which an agent sends the picture of an image, by its position in the study from 1. */
export function previewPath(fp: string, position: number): string {
  return `/agent/v1/previews/${fp}/${position}`;
}
