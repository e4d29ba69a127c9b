import fs from "node:fs";
import path from "node:path";
import type Database from "better-sqlite3";
import { imageFile } from "./image-store.ts";
import type { MessageState } from "./spool-operations.ts";

// What `agent images` shows and exports.

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
  /** Of the dataset as it came. */
  readonly sha256: string;
}

/** Every instance, the oldest first; `study` null: of all studies. */
export function listImages(db: Database.Database, study: string | null): ImageSummary[] {
  const rows = db
    .prepare(
      `SELECT m.id, m.device, m.received_at, m.state, i.study AS study_uid, i.sop_instance AS sop_instance_uid,
         i.sop_class AS sop_class_uid, i.transfer_syntax AS transfer_syntax_uid, i.calling_ae, i.file_bytes AS bytes, i.sha256
       FROM instance i JOIN message m ON m.id = i.message WHERE i.study = COALESCE(?, i.study) ORDER BY m.id`,
    )
    .all(study) as (Omit<ImageSummary, "received_at"> & { received_at: number })[];
  return rows.map((row) => ({ ...row, received_at: new Date(row.received_at).toISOString() }));
}

/** Copies the files, named as in the list; one that is there already is left as it is. */
export function exportImages(data: string, images: readonly ImageSummary[], folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  for (const { id } of images) {
    const copy = path.join(folder, `${id}.dcm`);
    if (!fs.existsSync(copy)) fs.copyFileSync(imageFile(data, id), copy, fs.constants.COPYFILE_EXCL);
  }
}
