import { createHash, randomBytes } from "node:crypto";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import type { Language } from "../../../shared/api/language.ts";
import { newUlid } from "../../../shared/api/fp.ts";
import type { SharedLink } from "../../dashboard/types/results/sharing.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { survivorOf } from "../patients/patients.ts";
import { openStudy } from "../studies/open-studies.ts";

// Links under which an owner opens the report of one study. The secret is in the address alone: the store has its digest.

/** 192 bits. */
const SECRET_BYTES = 24;
const SECRET = /^[\w-]{32}$/;
const DAY_MS = 86_400_000;

export interface LinkToMake {
  readonly clinicId: number;
  readonly studyFp: string;
  readonly patientFp: string;
  readonly userId: number;
  readonly language: Language;
  readonly zone: string;
  readonly days: number;
}

/** Makes a link. @returns its secret, which nobody can read again */
export async function makeLink(
  session: Session,
  { days, ...link }: LinkToMake,
  now: number,
): Promise<{ id: string; secret: string; endsAt: number }> {
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const study = await session.first(openStudy, { clinicId: link.clinicId, fp: link.studyFp });
  if (study === undefined) throw new Error("expected a study of the clinic");
  const id = `link_${newUlid()}`;
  const endsAt = now + days * DAY_MS;
  await session.all(insert, { ...link, id, studyId: study.id, digest: digestOf(secret), now, endsAt });
  return { id, secret, endsAt };
}

/** Lists the links of a study that the clinic made, the newest first. `patientFp` is the animal that has the study now. */
export async function listLinks(
  session: Session,
  { clinicId, studyFp, patientFp, now }: { clinicId: number; studyFp: string; patientFp: string | null; now: number },
): Promise<SharedLink[]> {
  const links: SharedLink[] = [];
  for (const row of await session.all(ofStudy, { clinicId, studyFp })) {
    const { first_opened_at: first, last_opened_at: last } = row;
    const isMoved = patientFp === null || !(await isOfPatient(session, row.patient_fp, patientFp));
    const isOver = row.ends_at <= now;
    links.push({
      ...{ id: row.public_id, by: row.by, language: row.language },
      ...{ made_at: timestampOf(row.made_at), ends_at: timestampOf(row.ends_at) },
      ended: row.revoked_at === null ? endOf(isOver, isMoved) : "revoked",
      opened:
        first === null || last === null
          ? null
          : { first_at: timestampOf(first), last_at: timestampOf(last), times: row.opened },
    });
  }
  return links;
}

/** Ends a link of the clinic's study. Ending it twice keeps the first time. @returns false for a missing one */
export async function revokeLink(
  session: Session,
  { clinicId, studyFp, id, now }: { clinicId: number; studyFp: string; id: string; now: number },
): Promise<boolean> {
  const links = await session.all(ofStudy, { clinicId, studyFp });
  const found = links.find(({ public_id }) => public_id === id);
  if (found === undefined) return false;
  if (found.revoked_at === null) await session.all(revoke, { id, now });
  return true;
}

export interface OpenLink {
  readonly id: number;
  readonly clinicId: number;
  readonly clinicName: string;
  readonly studyFp: string;
  readonly language: Language;
  readonly zone: string;
  readonly endsAt: number;
  /** Whether the animal has the owner for whom the link was made. */
  readonly isForOwner: boolean;
}

/**
 * Finds the link that a secret opens. @returns undefined for a wrong, revoked or ended one, for a suspended clinic, and if the
 * study has left the animal for which the link was made
 */
export async function findOpenLink(session: Session, secret: string, now: number): Promise<OpenLink | undefined> {
  if (!SECRET.test(secret)) return undefined;
  const row = await session.first(byDigest, { digest: digestOf(secret), now });
  if (row === undefined || row.patient_now === null) return undefined;
  const { id, clinicId, clinicName, studyFp, language, zone, endsAt } = row;
  if ((await session.first(openStudy, { clinicId, fp: studyFp })) === undefined) return undefined;
  if (!(await isOfPatient(session, row.patient_fp, row.patient_now))) return undefined;
  const isForOwner = row.owner_id === row.owner_now;
  return { id, clinicId, clinicName, studyFp, language, zone, endsAt, isForOwner };
}

/** Counts that somebody opened the report. Nothing notes who. */
export async function noteOpened(session: Session, id: number, now: number): Promise<void> {
  await session.all(countOpened, { id, now });
}

/** Whether it is the same animal, also after a merge. */
async function isOfPatient(session: Session, madeFor: string, now: string): Promise<boolean> {
  return madeFor === now || (await survivorOf(session, madeFor)) === now;
}

function endOf(isOver: boolean, isMoved: boolean): SharedLink["ended"] {
  if (isOver) return "expired";
  return isMoved ? "moved" : null;
}

function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

const insert = uncachedWrite(
  (db, p: Omit<LinkToMake, "days"> & { id: string; studyId: number; digest: string; now: number; endsAt: number }) =>
    db.insertInto("report_link").values((rows) => ({
      public_id: p.id,
      digest: p.digest,
      clinic_id: p.clinicId,
      study_id: p.studyId,
      patient_fp: p.patientFp,
      owner_id: rows
        .selectFrom("patient")
        .select("patient.owner_customer_id")
        .where("patient.fp", "=", p.patientFp)
        .$asScalar()
        .$notNull(),
      user_id: p.userId,
      language: p.language,
      zone: p.zone,
      made_at: p.now,
      ends_at: p.endsAt,
      revoked_at: null,
      first_opened_at: null,
      last_opened_at: null,
    })),
);

const ofStudy = query((db, p: { clinicId: number; studyFp: string }) =>
  db
    .selectFrom("report_link as link")
    .innerJoin("study", "study.id", "link.study_id")
    .innerJoin("dashboard_user as user", "user.id", "link.user_id")
    .select(["link.public_id", "link.patient_fp", "link.language", "link.made_at", "link.ends_at", "link.revoked_at"])
    .select(["link.first_opened_at", "link.last_opened_at", "link.opened", "user.name as by"])
    .where("study.fp", "=", p.studyFp)
    .where("link.clinic_id", "=", p.clinicId)
    .orderBy("link.id", "desc"),
);

const byDigest = query((db, p: { digest: string; now: number }) =>
  db
    .selectFrom("report_link as link")
    .innerJoin("study", "study.id", "link.study_id")
    .innerJoin("clinic", "clinic.id", "link.clinic_id")
    .leftJoin("patient", "patient.id", "study.patient_id")
    .select(["link.id", "link.clinic_id as clinicId", "link.patient_fp", "link.language", "link.zone"])
    .select(["link.ends_at as endsAt", "study.fp as studyFp", "clinic.name as clinicName"])
    .select(["patient.fp as patient_now", "link.owner_id", "patient.owner_customer_id as owner_now"])
    .where("link.digest", "=", p.digest)
    .where("link.revoked_at", "is", null)
    .where("link.ends_at", ">", p.now)
    .where("clinic.suspended_at", "is", null),
);

const revoke = uncachedWrite((db, p: { id: string; now: number }) =>
  db.updateTable("report_link").set({ revoked_at: p.now }).where("public_id", "=", p.id),
);

const countOpened = uncachedWrite((db, p: { id: number; now: number }) =>
  db
    .updateTable("report_link")
    .set((set) => ({
      opened: set("opened", "+", 1),
      first_opened_at: set.fn.coalesce("first_opened_at", set.val(p.now)),
      last_opened_at: p.now,
    }))
    .where("id", "=", p.id),
);
