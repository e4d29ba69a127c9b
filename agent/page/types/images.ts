// The images of the agent's page: `/local/v1/images`. A picture is `/local/v1/images/ID/preview?frame=N&side=S`, a PNG.

export interface LocalImages {
  /** The newest first. */
  readonly studies: readonly LocalImageStudy[];
  readonly has_older: boolean;
}

export interface LocalImageStudy {
  readonly study_uid: string;
  readonly device: string;
  /** When its newest image arrived. */
  readonly received_at: string;
  /** The states of its images, each once: pending, filed, unmatched, not-for-patients or quarantined */
  readonly states: readonly string[];
  readonly reason: string | null;
  /** A MessageCode. Absent without one. */
  readonly code?: string;
  readonly images: number;
  /** Whether the study has more images than were counted. */
  readonly has_more: boolean;
  /** Images whose files were removed to make room. */
  readonly removed: number;
  readonly forwards: readonly LocalForwards[];
  /** Its first images. */
  readonly shown: readonly LocalImage[];
}

export interface LocalImage {
  readonly id: string;
  readonly is_removed: boolean;
  /** Why its picture was set aside after two tries; null if it was not. A person can have it drawn again. */
  readonly fault: PictureFault | null;
}

/** The state of a study's images at one archive. */
export interface LocalForwards {
  readonly destination: string;
  readonly queued: number;
  readonly sent: number;
  readonly refused: number;
  /** Why an image is not sent yet. */
  readonly reason: string | null;
  /** A MessageCode. Absent without one. */
  readonly code?: string;
}

/** Max pixels per side of a picture: in the list, and alone. */
export const PICTURE_SIDES = { small: 256, large: 1024 } as const;

/** Header of a picture with the number of frames of its image. */
export const FRAMES_HEADER = "vetwire-frames";

/** Why the drawing of a picture had no end: memory or time beyond its limit, or an end of the decoder's process. */
export const PICTURE_FAULTS = ["IMAGE.MEMORY", "IMAGE.TIME", "IMAGE.ENDED"] as const;
export type PictureFault = (typeof PICTURE_FAULTS)[number];

export function isPictureFault(reason: string | null): reason is PictureFault {
  return PICTURE_FAULTS.some((fault) => fault === reason);
}
