import type { FastifyRequest } from "fastify";
import { randomText } from "../../../shared/runtime/random-text.ts";
import { digest } from "../../http/auth/api-keys.ts";
import { ApiError } from "../../http/errors.ts";
import { auditCommand } from "../../records/audit/audit.ts";
import {
  countRecoveryCodes,
  endFactorTries,
  setFactorTries,
  setRecoveryCodes,
  takeFactorTry,
  takeRecoveryCode,
  takeStep,
  WRONG_FACTORS_MAX,
} from "../../records/users/second-factors.ts";
import { clinicsOfUser, type StoredUser } from "../../records/users/users.ts";
import type { Session } from "../../database/query.ts";
import type { DashboardContext } from "../context.ts";
import { stepOf } from "./second-factor.ts";
import { type Attempt, stranger } from "./sign-in-limit.ts";

// Checks the code that follows a right password: one of the app, or a recovery code. The odds:
//
// - Three codes of the app are right at a time, out of a million. Whoever has the password has ten tries, 3 in 100 000 together; then
//   codes of the app end for this password, except in a browser in which the user was before. A sign-in of the user in a new browser
//   renews the ten tries. The user is notified, and a new password starts again at zero.
// - A recovery code has 59 bits, so that it needs no such end: it lets the user in whose app a stranger shut.

const RECOVERY_CODES = 10;
const RECOVERY_CODE_CHARS = 12;

interface Tried {
  readonly request: FastifyRequest;
  readonly user: StoredUser;
  readonly code: string | undefined;
  /** By default that of a session, which counts as a stranger's: sessions are stolen. */
  readonly attempt?: Attempt;
}

/** @returns the number of recovery codes left, if one was used; else null. @throws ApiError unless the code is right and unused */
export async function checkSecondFactor(
  context: Pick<DashboardContext, "store" | "pepper" | "now">,
  tried: Tried,
): Promise<number | null> {
  if (tried.user.totp_secret === null) return null;
  const { code } = tried;
  if (code === undefined) throw new ApiError("SESSION.SECOND_FACTOR", "Enter the code of your second factor.");
  // The count of a wrong code is part of the transaction, so that it is an outcome and no error.
  const outcome = await context.store.transaction((session) => judge(session, context, { ...tried, code }));
  if (outcome === "ended") throw new ApiError("SESSION.SECOND_FACTOR_ENDED");
  if (outcome === "wrong")
    throw new ApiError("SESSION.SECOND_FACTOR", "This code is wrong or was used already. Wait for the next one.");
  return outcome;
}

async function judge(
  session: Session,
  { pepper, now }: Pick<DashboardContext, "pepper" | "now">,
  { request, user, code, attempt = stranger }: Tried & { readonly code: string },
): Promise<number | null | "wrong" | "ended"> {
  const { id, totp_secret: secret } = user;
  if (await takeRecoveryCode(session, id, recoveryDigest(pepper, code))) return countRecoveryCodes(session, id);
  const tries = await takeFactorTry(session, id);
  if (tries === undefined && !attempt.isKnown) return "ended";
  const step = secret === null ? null : stepOf(code, secret, now());
  if (step !== null && (await takeStep(session, id, step))) {
    // A known browser takes back only its own tries, because a stranger's guesses must stay counted.
    const own = attempt.isKnown ? attempt.browserTries : WRONG_FACTORS_MAX;
    if (tries !== undefined) await setFactorTries(session, id, Math.max(0, tries - own));
    return null;
  }
  if (tries !== undefined && tries >= WRONG_FACTORS_MAX) {
    await endFactorTries(session, id, now());
    const clinics = await clinicsOfUser(session, id);
    for (const { clinic_id: clinicId } of clinics) {
      const actor = { by: request.ip, now: now(), clinicId };
      await auditCommand(session, "users second-factor-ended", [user.public_id], actor);
    }
  }
  return "wrong";
}

/** Makes the recovery codes of a user, in place of those before. Needs a transaction. @returns the codes, to be shown once */
export async function makeRecoveryCodes(session: Session, pepper: Buffer, userId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomText(RECOVERY_CODE_CHARS));
  const digests = codes.map((code) => recoveryDigest(pepper, code));
  await setRecoveryCodes(session, userId, digests);
  return codes;
}

/** Spaces, dashes and letter case do not count. The prefix keeps the digests apart from those of keys. */
function recoveryDigest(pepper: Buffer, code: string): string {
  return digest(pepper, `recovery code ${code.toUpperCase().replaceAll(/[\s-]/g, "")}`);
}
