import { type Static, Type } from "typebox";

// Small pictures of the images of a study: an agent draws and sends them, the dashboard shows them. Not for diagnosis.

/** Max pictures of a study; further images have none. */
export const PREVIEWS_MAX = 12;

/** Max pixels of a side. */
export const PREVIEW_SIDE_MAX = 1024;

/** Max bytes of a picture with its frames. */
export const PREVIEW_BYTES_MAX = 1024 * 1024;

/**
 * Type of the chunks that hold frames of a clip, each a complete PNG, before IEND. Lower case first: a reader that does not know them
 * shows the picture alone (W3C PNG section 5.4). Servers of older versions therefore take the same picture.
 */
export const FRAME_CHUNK = "vwFR";

/** Max frames of a clip. They are spread over it evenly. */
export const CLIP_FRAMES_MAX = 24;

/** Path to which an agent sends the picture of an image, by its position in the study from 1. */
export function previewPath(fp: string, position: number): string {
  return `/agent/v1/previews/${fp}/${position}`;
}

/**
 * The response for a picture. It names the picture, because only then is it a verdict about it. `rejected`: the server never
 * takes this picture of this study.
 */
export const PreviewOutcome = Type.Object({
  fp: Type.String(),
  position: Type.Integer(),
  outcome: Type.Enum(["stored", "rejected"]),
  reason: Type.Union([Type.String(), Type.Null()]),
});
export type PreviewOutcome = Static<typeof PreviewOutcome>;
