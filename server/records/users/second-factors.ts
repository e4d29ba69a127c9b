import { query, type Session, uncachedWrite } from "../../database/query.ts";

// The second factor of users: the secret of the app, the recovery codes that replace it, and the wrong codes of whoever has the password.

/** Wrong codes after the right password that end the codes of this password's sign-ins. */
export const WRONG_FACTORS_MAX = 10;

/** Switches the second factor on, with the step of the code that proved it; null switches it off. Recovery codes of before end. */
export async function setSecondFactor(
  session: Session,
  id: number,
  factor: { secret: string; step: number } | null,
): Promise<void> {
  await session.all(updateSecondFactor, { id, secret: factor?.secret ?? null, step: factor?.step ?? null });
  await session.all(removeRecoveryCodes, { id });
}

/** Notes the step of an accepted code. @returns whether no code of this step or a later one was accepted before */
export async function takeStep(session: Session, id: number, step: number): Promise<boolean> {
  return (await session.first(updateStep, { id, step })) !== undefined;
}

/** Replaces the recovery codes of a user. Needs a transaction. */
export async function setRecoveryCodes(session: Session, id: number, digests: readonly string[]): Promise<void> {
  await session.all(removeRecoveryCodes, { id });
  const rows = digests.map((digest) => ({ id, digest }));
  await session.each(insertRecoveryCode, rows);
}

/** Uses a recovery code up. @returns whether the user had it */
export async function takeRecoveryCode(session: Session, id: number, digest: string): Promise<boolean> {
  return (await session.first(removeRecoveryCode, { id, digest })) !== undefined;
}

/** Counts the unused recovery codes of a user. */
export async function countRecoveryCodes(session: Session, id: number): Promise<number> {
  return (await session.first(recoveryCodes, { id }))?.total ?? 0;
}

/** Counts a code as wrong before it is compared. @returns the number of wrong codes; undefined if they were too many before */
export async function takeFactorTry(session: Session, id: number): Promise<number | undefined> {
  return (await session.first(countTry, { id }))?.wrong_factors;
}

/** Corrects the number of wrong codes after a right one. */
export async function setFactorTries(session: Session, id: number, tries: number): Promise<void> {
  await session.all(updateTries, { id, tries });
}

/** Ends the codes of the app for the user's password. */
export async function endFactorTries(session: Session, id: number, now: number): Promise<void> {
  await session.all(endTries, { id, now });
}

const updateSecondFactor = uncachedWrite((db, p: { id: number; secret: string | null; step: number | null }) =>
  db.updateTable("dashboard_user").set({ totp_secret: p.secret, totp_last_step: p.step }).where("id", "=", p.id),
);

const updateStep = uncachedWrite((db, p: { id: number; step: number }) =>
  db
    .updateTable("dashboard_user")
    .set({ totp_last_step: p.step })
    .where("id", "=", p.id)
    .where((where) => where.or([where("totp_last_step", "is", null), where("totp_last_step", "<", p.step)]))
    .returning("id"),
);

const removeRecoveryCodes = uncachedWrite((db, p: { id: number }) =>
  db.deleteFrom("recovery_code").where("user_id", "=", p.id),
);

const insertRecoveryCode = uncachedWrite((db, p: { id: number; digest: string }) =>
  db.insertInto("recovery_code").values({ user_id: p.id, digest: p.digest }),
);

const removeRecoveryCode = uncachedWrite((db, p: { id: number; digest: string }) =>
  db.deleteFrom("recovery_code").where("user_id", "=", p.id).where("digest", "=", p.digest).returning("user_id"),
);

const recoveryCodes = query((db, p: { id: number }) =>
  db
    .selectFrom("recovery_code")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where("user_id", "=", p.id),
);

const countTry = uncachedWrite((db, p: { id: number }) =>
  db
    .updateTable("dashboard_user")
    .set((set) => ({ wrong_factors: set("wrong_factors", "+", 1) }))
    .where("id", "=", p.id)
    .where("factors_ended_at", "is", null)
    .returning("wrong_factors"),
);

const updateTries = uncachedWrite((db, p: { id: number; tries: number }) =>
  db.updateTable("dashboard_user").set({ wrong_factors: p.tries }).where("id", "=", p.id),
);

const endTries = uncachedWrite((db, p: { id: number; now: number }) =>
  db.updateTable("dashboard_user").set({ factors_ended_at: p.now }).where("id", "=", p.id),
);
