// The response to `GET /clinic/v1/clinics/:clinic/results/:fp/previews`.

/** A small picture of an image, at `previews/<position>`. */
export interface StudyPreview {
  /** Index of the image in its study, from 1. An image that could not be drawn leaves a gap. */
  position: number;
  width: number;
  height: number;
  /** Frames of a clip, at `previews/<position>?frame=<number from 1>`; 0 for an image that is not a clip. */
  frames: number;
}
