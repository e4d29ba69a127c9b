export interface ShownPicture {
  readonly src: string;
  readonly alt: string;
}

/** Frames of a clip. `turn` shows the frame `by` positions further. */
export interface Frames {
  readonly count: number;
  readonly turn: (by: number) => void;
  readonly status: string;
  /** Whether the picture of this frame is shown, so that a running clip may go on. */
  readonly isDrawn: boolean;
  /** Names of the buttons that turn. */
  readonly previous: string;
  readonly next: string;
}

/** The other images. `by` shows the image that many positions further. */
export interface Turn {
  readonly by: (by: number) => void;
  readonly previous: string;
  readonly next: string;
}
