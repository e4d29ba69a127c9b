import fs from "node:fs";
import path from "node:path";
import type Database from "better-sqlite3";
import { timestampOrNull } from "../../shared/runtime/timestamp.ts";
import { imageFile } from "./files/image-folder.ts";
import type { Preview } from "./files/render-frame.ts";
import { type ForwardCount, type ForwardState, forwardOperationsOn } from "../spool/queries/images/forwards.ts";
import { drawPreview } from "./preview.ts";
import type { MessageState } from "../spool/queries/messages/message-outcome.ts";
import { type CodedReason, shownReason } from "../page/types/message-codes.ts";

// Lists, exports and previews of stored images, for `agent images`.

export interface ImageSummary {
  readonly id: string;
  readonly device: string;
  readonly received_at: string;
  readonly state: MessageState;
  readonly study_uid: string;
  readonly sop_instance_uid: string;
  readonly sop_class_uid: string;
  readonly transfer_syntax_uid: string;
  readonly calling_ae: string;
  readonly bytes: number;
  /** SHA-256 of the dataset as received. */
  readonly sha256: string;
  /** null if the file is in the image folder. */
  readonly removed_at: string | null;
  readonly forwards: readonly {
    readonly destination: string;
    readonly state: ForwardState;
    readonly reason: string | null;
    /** A MessageCode. Absent without one. */
    readonly code?: string;
  }[];
}

type StoredForward = Omit<ImageSummary["forwards"][number], "code"> & Required<CodedReason>;

export interface ImageTotals {
  readonly kept: number;
  readonly bytes: number;
  readonly removed: number;
  readonly forwards: readonly ForwardCount[];
}

/** Returns the instances of a study, or of all studies if `study` is null, the oldest first. */
export function listImages(db: Database.Database, study: string | null): ImageSummary[] {
  const rows = db
    .prepare(
      `SELECT m.id, m.device, m.received_at, m.state, i.study_uid, i.sop_instance_uid,
         i.sop_class_uid, i.transfer_syntax_uid, i.calling_ae_title AS calling_ae, i.file_bytes AS bytes, i.sha256,
         i.removed_at, (SELECT json_group_array(json_object('destination', destination, 'state', state, 'reason', reason, 'code', code))
           FROM forward f WHERE f.message = m.id) AS forwards
       FROM instance i JOIN message m ON m.id = i.message WHERE i.study_uid = COALESCE(?, i.study_uid) ORDER BY m.id`,
    )
    .all(study) as (Omit<ImageSummary, "received_at" | "removed_at" | "forwards"> & {
    received_at: number;
    removed_at: number | null;
    forwards: string;
  })[];
  return rows.map((row) => ({
    ...row,
    received_at: new Date(row.received_at).toISOString(),
    removed_at: timestampOrNull(row.removed_at),
    forwards: (JSON.parse(row.forwards) as StoredForward[]).map(({ reason, code, ...forward }) => ({
      ...forward,
      ...shownReason({ reason, code }),
    })),
  }));
}

/** Image whose file is in the image folder. */
export interface DrawableImage {
  readonly id: string;
  readonly headerBytes: number;
  readonly transferSyntax: string;
}

/** Returns the image with that id, or a study's images, if their files are in the image folder. */
export function drawableImages(db: Database.Database, name: string): DrawableImage[] {
  return db
    .prepare(
      `SELECT message AS id, header_bytes AS headerBytes, transfer_syntax_uid AS transferSyntax FROM instance
       WHERE removed_at IS NULL AND message IN (SELECT @name UNION SELECT message FROM message_study WHERE fp = @name) ORDER BY message`,
    )
    .all({ name }) as DrawableImage[];
}

/** Draws the first drawable image. @throws with the reason of the last one if none is drawable */
export async function previewImage(
  data: string,
  images: readonly DrawableImage[],
  frame: number,
): Promise<Preview & { readonly id: string }> {
  let problem: unknown = new Error("unknown image or study");
  for (const { id, headerBytes, transferSyntax } of images) {
    try {
      const location = { file: imageFile(data, id), headerBytes, transferSyntax };
      return { id, ...(await drawPreview({ ...location, frame, sideMax: PREVIEW_SIDE_MAX })) };
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

const PREVIEW_SIDE_MAX = 1024;

/** Counts the images. @returns null if no image was ever stored */
export function countImages(db: Database.Database): ImageTotals | null {
  const { kept, bytes, removed } = db
    .prepare(
      `SELECT COUNT(*) FILTER (WHERE removed_at IS NULL) AS kept, COUNT(removed_at) AS removed,
         COALESCE(SUM(file_bytes) FILTER (WHERE removed_at IS NULL), 0) AS bytes FROM instance`,
    )
    .get() as Omit<ImageTotals, "forwards">;
  if (kept + removed === 0) return null;
  return { kept, bytes, removed, forwards: forwardOperationsOn(db).countForwards() };
}

/** Copies the files as ID.dcm and keeps existing copies. @returns the number of images in the folder */
export function exportImages(data: string, images: readonly ImageSummary[], folder: string): number {
  fs.mkdirSync(folder, { recursive: true });
  const kept = images.filter(({ removed_at }) => removed_at === null);
  for (const { id } of kept) {
    const copy = path.join(folder, `${id}.dcm`);
    if (!fs.existsSync(copy)) fs.copyFileSync(imageFile(data, id), copy, fs.constants.COPYFILE_EXCL);
  }
  return kept.length;
}
