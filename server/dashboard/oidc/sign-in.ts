import { storedText } from "../../../shared/runtime/stored-text.ts";
import type { Session } from "../../database/query.ts";
import type { SignedInSubject } from "../../oidc/provider.ts";
import { auditCommand } from "../../records/audit/audit.ts";
import { findClinic } from "../../records/clinics/keys.ts";
import { removeMember } from "../../records/users/members.ts";
import { findUserOfSubject, insertIdentity } from "../../records/users/oidc.ts";
import { removeSessionsOf } from "../../records/users/sessions.ts";
import {
  clinicsOfUser,
  findUser,
  insertUser,
  NO_PASSWORD,
  setRole,
  type StoredUser,
} from "../../records/users/users.ts";
import type { GroupRole } from "../context.ts";
import type { Role } from "../types/settings/session.ts";
import { rolesOfGroups } from "./group-roles.ts";

// The user and the roles of a subject of the provider. Its groups decide alone: a role that a person gave by hand to such a user ends
// with the next sign-in, so that whoever leaves a group at the provider keeps nothing here.

const NAME_CHARS_MAX = 100;

/** A user to sign in, or why there is none. What was changed before a refusal stays changed. */
export type SubjectOutcome = { readonly user: StoredUser } | { readonly refused: "OIDC.NO_ROLE" | "OIDC.DISABLED" };

interface Given {
  readonly rows: readonly GroupRole[];
  readonly now: number;
  /** Address of the browser, for the audit. */
  readonly address: string;
}

/** Finds the user of a subject, or makes one, and gives the user the roles of the groups. Needs a transaction. */
export async function admitSubject(
  session: Session,
  subject: SignedInSubject,
  { rows, now, address }: Given,
): Promise<SubjectOutcome> {
  const wanted = await rolesById(session, rolesOfGroups(subject.groups, rows));
  const found = await findUserOfSubject(session, subject.issuer, subject.subject);
  if (found === undefined && wanted.size === 0) return { refused: "OIDC.NO_ROLE" };
  const user = found ?? (await makeUser(session, subject, now));
  if (user.disabled_at !== null) return { refused: "OIDC.DISABLED" };
  const audit = (command: string, clinicId: number) =>
    auditCommand(session, `${command} by group`, [user.public_id], { by: address, now, userId: user.id, clinicId });
  const current = new Map((await clinicsOfUser(session, user.id)).map(({ clinic_id: id, role }) => [id, role]));
  for (const clinicId of current.keys()) {
    if (wanted.has(clinicId)) continue;
    await removeMember(session, clinicId, user.id);
    await audit("users remove", clinicId);
  }
  for (const [clinicId, role] of wanted) {
    if (current.get(clinicId) === role) continue;
    await setRole(session, user.id, clinicId, role);
    await audit(`users role ${role}`, clinicId);
  }
  if (wanted.size > 0) return { user };
  await removeSessionsOf(session, user.id);
  return { refused: "OIDC.NO_ROLE" };
}

/** A clinic that the rows name and the server does not have gives nothing. */
async function rolesById(session: Session, roles: ReadonlyMap<string, Role>): Promise<Map<number, Role>> {
  const byId = new Map<number, Role>();
  for (const [fp, role] of roles) {
    const clinic = await findClinic(session, fp);
    if (clinic !== undefined) byId.set(clinic.id, role);
  }
  return byId;
}

/** Makes a user. The name of another user stays the other's: this one gets a number. */
async function makeUser(
  session: Session,
  { issuer, subject, name }: SignedInSubject,
  now: number,
): Promise<StoredUser> {
  const clean =
    storedText(name)
      .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
      .trim() || subject;
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? "" : ` (${number})`;
    const chosen = storedText(clean.slice(0, NAME_CHARS_MAX - suffix.length)) + suffix;
    const made = await insertUser(session, { name: chosen, password: NO_PASSWORD, now });
    if (made === undefined) continue;
    await insertIdentity(session, { issuer, subject, user_id: made.id });
    const user = await findUser(session, made.id);
    if (user === undefined) throw new Error("expected the user that was just stored");
    return user;
  }
}
