import { storedText } from "../../../shared/runtime/stored-text.ts";
import type { Session } from "../../database/query.ts";
import type { SignedInSubject } from "../../oidc/provider.ts";
import { type AuditActor, auditCommand } from "../../records/audit/audit.ts";
import { findClinicState } from "../../records/clinics/clinics.ts";
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
import type { Realm, Role } from "../types/settings/session.ts";
import { isOperatorByGroup, rolesOfGroups } from "./group-roles.ts";

// The user and the roles of a subject of the provider. Its groups decide alone: a role that a person gave by hand to such a user ends
// with the next sign-in, so that whoever leaves a group at the provider keeps nothing here.

const NAME_CHARS_MAX = 100;

/** A user to sign in, or why there is none. What was changed before a refusal stays changed. */
export type SubjectOutcome =
  | { readonly user: StoredUser }
  | { readonly refused: "OIDC.NO_ROLE" | "OIDC.NO_OPERATOR" | "OIDC.DISABLED" };

interface Given {
  /** Where the subject signs in. */
  readonly realm: Realm;
  readonly rows: readonly GroupRole[];
  readonly now: number;
  /** Address of the browser, for the audit. */
  readonly address: string;
}

/**
 * Finds the user of a subject in a realm, or makes one, and gives the user the rights of the groups. The user of the subject in the
 * other realm loses there what the groups no longer give. Needs a transaction.
 */
export async function admitSubject(
  session: Session,
  subject: SignedInSubject,
  { realm, rows, now, address }: Given,
): Promise<SubjectOutcome> {
  const roles = await rolesById(session, rolesOfGroups(subject.groups, rows));
  const rights: Rights = { clinic: roles, operator: isOperatorByGroup(subject.groups, rows) };
  const given = { rights, now, address };
  await settle(session, subject, realm === "clinic" ? "operator" : "clinic", given);
  return settle(session, subject, realm, { ...given, mayMake: true });
}

interface Rights {
  /** Roles by the id of a clinic. */
  readonly clinic: ReadonlyMap<number, Role>;
  readonly operator: boolean;
}

type Settled = Pick<Given, "now" | "address"> & { readonly rights: Rights; readonly mayMake?: true };

/** Gives the user of a subject in a realm the rights of the groups there. Without any, the sessions of this user end. */
async function settle(
  session: Session,
  subject: SignedInSubject,
  realm: Realm,
  { rights, now, address, mayMake }: Settled,
): Promise<SubjectOutcome> {
  const { issuer, subject: name } = subject;
  const refused = realm === "clinic" ? "OIDC.NO_ROLE" : "OIDC.NO_OPERATOR";
  const hasRight = realm === "clinic" ? rights.clinic.size > 0 : rights.operator;
  const found = await findUserOfSubject(session, { issuer, subject: name, realm });
  if (found === undefined && !(hasRight && mayMake)) return { refused };
  const user = found ?? (await makeUser(session, subject, realm, now));
  if (user.disabled_at !== null) return { refused: "OIDC.DISABLED" };
  const actor = { by: address, now, userId: user.id };
  if (found === undefined && realm === "operator")
    await auditCommand(session, "operators add by group", [user.public_id], actor);
  if (realm === "clinic") await setRoles(session, user, rights.clinic, actor);
  if (hasRight) return { user };
  await removeSessionsOf(session, user.id);
  return { refused };
}

/** Gives a user the roles of the groups, and no other. */
async function setRoles(
  session: Session,
  user: StoredUser,
  wanted: Rights["clinic"],
  actor: AuditActor,
): Promise<void> {
  const audit = (command: string, clinicId: number) =>
    auditCommand(session, `${command} by group`, [user.public_id], { ...actor, clinicId });
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
}

/** A clinic that the rows name gives nothing if the server does not have it, or since its erasure began. */
async function rolesById(session: Session, roles: ReadonlyMap<string, Role>): Promise<Map<number, Role>> {
  const byId = new Map<number, Role>();
  for (const [fp, role] of roles) {
    const clinic = await findClinicState(session, fp);
    if (clinic?.erasure === null) byId.set(clinic.id, role);
  }
  return byId;
}

/** Makes a user. The name of another user stays the other's: this one gets a number. */
async function makeUser(
  session: Session,
  { issuer, subject, name }: SignedInSubject,
  realm: Realm,
  now: number,
): Promise<StoredUser> {
  const clean =
    storedText(name)
      .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
      .trim() || subject;
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? "" : ` (${number})`;
    const chosen = storedText(clean.slice(0, NAME_CHARS_MAX - suffix.length)) + suffix;
    const made = await insertUser(session, {
      name: chosen,
      password: NO_PASSWORD,
      now,
      isOperator: realm === "operator",
    });
    if (made === undefined) continue;
    await insertIdentity(session, { issuer, subject, realm }, made.id);
    const user = await findUser(session, made.id);
    if (user === undefined) throw new Error("expected the user that was just stored");
    return user;
  }
}
