import type { SupportLook } from "../../dashboard/types/operator.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { auditCommand } from "../audit/audit.ts";

// Looks of an operator into a clinic: for an hour, with a reason that the clinic reads in its audit.

const LOOK_MS = 3_600_000;

const LOOKS_SHOWN = 20;

interface NewLook {
  readonly clinic: { readonly id: number; readonly fp: string };
  readonly operator: { readonly userId: number; readonly name: string };
  readonly reason: string;
  readonly now: number;
}

/** Lets an operator read a clinic for an hour, and notes it in the clinic's audit. Needs a transaction. */
export async function beginLook(session: Session, { clinic, operator, reason, now }: NewLook): Promise<void> {
  const { userId, name } = operator;
  // One clinic at a time, so that the dashboard shows the one that was asked for.
  await session.all(endOthers, { userId, now });
  await session.all(insert, { clinicId: clinic.id, userId, reason, now, endsAt: now + LOOK_MS });
  await auditCommand(session, `support: ${reason}`, [clinic.fp], { by: name, now, userId, clinicId: clinic.id });
}

/** Lists the last looks into a clinic, the newest first. */
export async function listLooks(session: Session, clinicId: number): Promise<SupportLook[]> {
  const rows = await session.all(ofClinic, { clinicId });
  return rows.map(({ begins_at, ends_at, ...look }) => ({
    ...look,
    begins_at: new Date(begins_at).toISOString(),
    ends_at: new Date(ends_at).toISOString(),
  }));
}

const endOthers = uncachedWrite((db, p: { userId: number; now: number }) =>
  db.updateTable("support_access").set({ ends_at: p.now }).where("user_id", "=", p.userId).where("ends_at", ">", p.now),
);

const insert = uncachedWrite(
  (db, p: { clinicId: number; userId: number; reason: string; now: number; endsAt: number }) =>
    db.insertInto("support_access").values({
      clinic_id: p.clinicId,
      user_id: p.userId,
      reason: p.reason,
      begins_at: p.now,
      ends_at: p.endsAt,
    }),
);

const ofClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("support_access")
    .innerJoin("dashboard_user as user", "user.id", "support_access.user_id")
    .select(["user.name as by", "support_access.reason", "support_access.begins_at", "support_access.ends_at"])
    .where("support_access.clinic_id", "=", p.clinicId)
    .orderBy("support_access.id", "desc")
    .limit(LOOKS_SHOWN),
);
