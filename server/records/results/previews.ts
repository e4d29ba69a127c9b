import type { StudyPreview } from "../../dashboard/types/results/previews.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { splitPng } from "./png-frames.ts";
import { openStudy } from "../studies/open-studies.ts";

// Small pictures of the images of a study, as the agent of its clinic drew them.

export interface NewPreview {
  clinicId: number;
  fp: string;
  /** Index of the image in its study, from 1. */
  position: number;
  /** The picture in Base64. */
  png: string;
  width: number;
  height: number;
  /** Frames of a clip in the picture. */
  frames: number;
  now: number;
}

/** Stores or replaces a picture. Needs a transaction. @returns false unless an agent of the clinic pushed the study */
export async function storePreview(session: Session, { clinicId, fp, ...preview }: NewPreview): Promise<boolean> {
  const study = await session.first(pushedBy, { clinicId, fp });
  if (study === undefined) return false;
  await session.all(upsert, { ...preview, studyId: study.id });
  return true;
}

/** Lists the pictures of a study that the clinic may open. @returns undefined if it may not */
export async function listPreviews(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<StudyPreview[] | undefined> {
  const study = await session.first(openStudy, { clinicId, fp });
  return study && session.all(ofStudy, { studyId: study.id });
}

/** Reads a picture of a study that the clinic may open, or a frame of it by its number from 1. */
export async function readPreview(
  session: Session,
  clinicId: number,
  fp: string,
  position: number,
  frame: number | null = null,
): Promise<Buffer | undefined> {
  const study = await session.first(openStudy, { clinicId, fp });
  const row = study && (await session.first(picture, { studyId: study.id, position }));
  if (row === undefined) return undefined;
  const bytes = Buffer.from(row.png, "base64");
  if (frame === null && row.frames === 0) return bytes;
  const clip = splitPng(bytes);
  if ("problem" in clip) return undefined;
  return frame === null ? clip.still : clip.frames[frame - 1];
}

const pushedBy = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("study")
    .select("id")
    .where("fp", "=", p.fp)
    .where("clinic_id", "=", p.clinicId)
    .where("pushed_revision", "is not", null),
);

const ofStudy = query((db, p: { studyId: number }) =>
  db
    .selectFrom("study_preview")
    .select(["position", "width", "height", "frames"])
    .where("study_id", "=", p.studyId)
    .orderBy("position"),
);

const picture = query((db, p: { studyId: number; position: number }) =>
  db
    .selectFrom("study_preview")
    .select(["png", "frames"])
    .where("study_id", "=", p.studyId)
    .where("position", "=", p.position),
);

// The read API shows no pictures.
const upsert = uncachedWrite((db, p: Omit<NewPreview, "clinicId" | "fp"> & { studyId: number }) =>
  db
    .insertInto("study_preview")
    .values({
      study_id: p.studyId,
      position: p.position,
      width: p.width,
      height: p.height,
      frames: p.frames,
      png: p.png,
      received_at: p.now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["study_id", "position"])
        .doUpdateSet({ width: p.width, height: p.height, frames: p.frames, png: p.png, received_at: p.now }),
    ),
);
