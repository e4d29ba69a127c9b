import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";

// The remark of a vet for the owner on a study. /api/v1 never has it.

interface RemarkKey {
  clinicId: number;
  fp: string;
  /** The study's patient: a remark on another animal is not shown. */
  patientFp: string;
}

export async function readRemark(
  session: Session,
  key: RemarkKey,
): Promise<{ text: string; by: string; at: string } | null> {
  const row = await session.first(remarkOf, key);
  return row === undefined ? null : { text: row.remark, by: row.author, at: timestampOf(row.at) };
}

/** Stores the remark in place of the one that the user saw; an empty text removes it. @returns false if another one is stored */
export async function writeRemark(
  session: Session,
  key: RemarkKey,
  { text, seen }: { text: string; seen: string | null },
  { by, now }: { by: string; now: number },
): Promise<boolean> {
  const stored = await readRemark(session, key);
  if ((stored?.at ?? null) !== seen) return false;
  await session.all(remove, key);
  // `at` names the version, so that two writes of one millisecond differ.
  const at = stored === null ? now : Math.max(now, Date.parse(stored.at) + 1);
  if (text !== "") await session.all(insert, { ...key, text, by, at });
  return true;
}

/** Keeps a study's remarks when the record of its animal becomes another one: the animal is the same. */
export async function moveRemarks(session: Session, move: { fp: string; from: string; to: string }): Promise<void> {
  await session.all(rename, move);
}

const rename = uncachedWrite((db, p: { fp: string; from: string; to: string }) =>
  db
    .updateTable("study_remark")
    .set({ patient_fp: p.to })
    .where("study_fp", "=", p.fp)
    .where("patient_fp", "=", p.from),
);

const remarkOf = query((db, p: RemarkKey) =>
  db
    .selectFrom("study_remark")
    .select(["remark", "author", "at"])
    .where("clinic_id", "=", p.clinicId)
    .where("study_fp", "=", p.fp)
    .where("patient_fp", "=", p.patientFp),
);

const remove = uncachedWrite((db, p: RemarkKey) =>
  db.deleteFrom("study_remark").where("clinic_id", "=", p.clinicId).where("study_fp", "=", p.fp),
);

const insert = uncachedWrite((db, p: RemarkKey & { text: string; by: string; at: number }) =>
  db.insertInto("study_remark").values({
    clinic_id: p.clinicId,
    study_fp: p.fp,
    patient_fp: p.patientFp,
    remark: p.text,
    author: p.by,
    at: p.at,
  }),
);
