import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";

// The rights of a clinic's admin over its users.

interface AdminOfClinics {
  readonly userId: number;
  /** The clinics in which the admin has the role admin. */
  readonly adminOf: readonly number[];
}

interface UserOfClinics {
  readonly userId: number;
  readonly clinics: readonly number[];
}

/**
 * Returns why an admin may not change how a user signs in: a new password, an end of sessions, disabling. Otherwise the admin of
 * one clinic could add a user of another one, give the user a new password, and sign in there. @returns null if the admin may
 */
export function accountProblem(admin: AdminOfClinics, user: UserOfClinics): Refusal | null {
  if (admin.userId === user.userId) return refusal("USER.ONESELF");
  if (user.clinics.every((clinic) => admin.adminOf.includes(clinic))) return null;
  return refusal("USER.OF_OTHERS");
}
