import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { timestampOrNull } from "../../../../shared/runtime/timestamp.ts";
import type { GivenPassword, UserList } from "../../types/settings/users.ts";
import { accountProblem } from "../../../records/users/member-rules.ts";
import { ApiError } from "../../../http/errors.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import {
  adminsOf,
  clinicsOfMembers,
  findMember,
  listMembers,
  type Member,
  removeMember,
} from "../../../records/users/members.ts";
import { isOfProvider } from "../../../records/users/oidc.ts";
import { removeSessionsOf } from "../../../records/users/sessions.ts";
import {
  clinicsOfUser,
  findUserByName,
  insertUser,
  resetUser,
  setDisabled,
  setRole,
} from "../../../records/users/users.ts";
import type { Session } from "../../../database/query.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { hashPassword, randomPassword } from "../../auth/password.ts";
import { bodyReader, Name } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { actorOf } from "../commands.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// The users of a clinic, for its admins.

const UserRole = Type.Union([Type.Literal("reader"), Type.Literal("staff"), Type.Literal("admin")]);

const newUserBody = bodyReader({ name: Name, role: UserRole, password: Type.Optional(Type.String()) });
const addBody = bodyReader({ name: Name, role: UserRole });
const roleBody = bodyReader({ role: UserRole });
const resetBody = bodyReader({ password: Type.Optional(Type.String()) });

const USERS = "/clinic/v1/clinics/:clinic/users";
const access = "admin";

export function userRoutes(app: FastifyInstance, context: DashboardContext): void {
  listRoute(app, context);
  newUserRoutes(app, context);
  placeRoutes(app, context);
  accountRoutes(app, context);
}

function listRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(USERS, { config: { access } }, async (request): Promise<UserList> => {
    const clinicId = clinicOf(request).id;
    const admin = await adminBehind(store, request);
    const admins = await adminsOf(store, clinicId);
    const pairs = await clinicsOfMembers(store, clinicId);
    const users = (await listMembers(store, clinicId, now())).map((member) => {
      const clinics = pairs.filter(({ user_id }) => user_id === member.id).map(({ clinic_id }) => clinic_id);
      return {
        id: member.public_id,
        name: member.name,
        role: member.role,
        is_disabled: member.disabled_at !== null,
        has_second_factor: member.totp_secret !== null,
        is_password_known: member.factors_ended_at !== null,
        sessions: member.sessions,
        last_used_at: timestampOrNull(member.last_used_at),
        is_you: member.id === admin.userId,
        is_manageable: accountProblem(admin, { userId: member.id, clinics }) === null,
        is_last_admin: admins.length === 1 && admins[0] === member.id,
      };
    });
    return { users };
  });
}

function newUserRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(
    USERS,
    { config: { access }, preHandler: hashFirst(newUserBody) },
    async (request): Promise<GivenPassword> => {
      const { name, role } = newUserBody(request.body);
      const { hash, shown } = newPasswordOf(request);
      await store.transaction(async (session) => {
        const user = await insertUser(session, { name, password: hash, now: now() });
        if (user === undefined) refuse(refusal("USER.NAME_TAKEN"));
        await setRole(session, user.id, clinicOf(request).id, role);
        await auditCommand(session, `users create --role ${role}`, [user.public_id], actorOf(request, now()));
      });
      return { name: name.trim(), password: shown };
    },
  );
  app.post(`${USERS}/add`, { config: { access } }, async (request) => {
    const { name, role } = addBody(request.body);
    const clinicId = clinicOf(request).id;
    await store.transaction(async (session) => {
      const user = await findUserByName(session, name);
      // The name of a user of others alone must not bring that user under this admin. The command line can.
      const { adminOf } = await adminBehind(session, request);
      const clinics = user === undefined ? [] : await clinicsOfUser(session, user.id);
      if (user === undefined || !clinics.some(({ clinic_id }) => adminOf.includes(clinic_id))) {
        throw new ApiError("RECORD.NOT_FOUND", "A user with this name in a clinic of yours");
      }
      if ((await findMember(session, clinicId, user.public_id)) !== undefined) {
        refuse(refusal("USER.IN_CLINIC"));
      }
      await setRole(session, user.id, clinicId, role);
      await auditCommand(session, `users add --role ${role}`, [user.public_id], actorOf(request, now()));
    });
    return {};
  });
}

/** Changes of a user's place in this clinic. The account and other clinics stay as they are. */
function placeRoutes(app: FastifyInstance, context: DashboardContext): void {
  app.patch(`${USERS}/:user`, { config: { access } }, async (request) => {
    const { role } = roleBody(request.body);
    await changeMember(request, context, `users role ${role}`, (session, { id }) =>
      setRole(session, id, clinicOf(request).id, role),
    );
    return {};
  });
  app.delete(`${USERS}/:user`, { config: { access } }, async (request) => {
    await changeMember(request, context, "users remove", (session, { id }) =>
      removeMember(session, clinicOf(request).id, id),
    );
    return {};
  });
}

/** Changes of how a user signs in, in all clinics. */
function accountRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { now } = context;
  const reset = { config: { access }, preHandler: hashFirst(resetBody) } as const;
  app.post(`${USERS}/:user/reset`, reset, async (request): Promise<GivenPassword> => {
    const { hash, shown } = newPasswordOf(request);
    const { name } = await changeMember(request, context, "users reset", async (session, member) => {
      await refuseForeignAccount(session, request, member);
      if (await isOfProvider(session, member.id)) refuse(refusal("USER.OF_PROVIDER"));
      await resetUser(session, member.id, hash);
    });
    return { name, password: shown };
  });
  const changes = {
    "end-sessions": (session: Session, id: number) => removeSessionsOf(session, id),
    async disable(session: Session, id: number) {
      await setDisabled(session, id, now());
      await removeSessionsOf(session, id);
    },
    enable: (session: Session, id: number) => setDisabled(session, id, null),
  };
  for (const [name, change] of Object.entries(changes)) {
    app.post(`${USERS}/:user/${name}`, { config: { access } }, async (request) => {
      await changeMember(request, context, `users ${name}`, async (session, member) => {
        await refuseForeignAccount(session, request, member);
        await change(session, member.id);
      });
      return {};
    });
  }
}

interface NewPassword {
  readonly hash: string;
  /** The password, if the server chose it. */
  readonly shown: string | null;
}

const newPasswords = new WeakMap<FastifyRequest, NewPassword>();

/** Hashes the new password of a request before its handler, whose transaction would hold up other writes meanwhile. */
function hashFirst(read: (body: unknown) => { password?: string }): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const { password: chosen } = read(request.body);
    const password = chosen ?? randomPassword();
    newPasswords.set(request, { hash: await hashPassword(password), shown: chosen === undefined ? password : null });
  };
}

function newPasswordOf(request: FastifyRequest): NewPassword {
  const found = newPasswords.get(request);
  if (found === undefined) throw new Error("expected a hashed password, got none: the route lacks hashFirst");
  return found;
}

/** Changes the user of the path in one transaction, and audits it. The clinic keeps an admin. */
async function changeMember(
  request: FastifyRequest,
  { store, now }: DashboardContext,
  command: string,
  change: (session: Session, member: Member) => Promise<void>,
): Promise<Member> {
  const clinicId = clinicOf(request).id;
  const { user } = request.params as { user: string };
  return store.transaction(async (session) => {
    const member = await findMember(session, clinicId, user);
    if (member === undefined) throw new ApiError("RECORD.NOT_FOUND", "This user");
    await change(session, member);
    if ((await adminsOf(session, clinicId)).length === 0) {
      refuse(refusal("USER.LAST_ADMIN"));
    }
    await auditCommand(session, command, [member.public_id], actorOf(request, now()));
    return member;
  });
}

async function refuseForeignAccount(session: Session, request: FastifyRequest, { id }: Member): Promise<void> {
  const clinics = (await clinicsOfUser(session, id)).map(({ clinic_id }) => clinic_id);
  const problem = accountProblem(await adminBehind(session, request), { userId: id, clinics });
  if (problem !== null) refuse(problem);
}

async function adminBehind(session: Session, request: FastifyRequest) {
  const { userId } = userOf(request);
  const clinics = await clinicsOfUser(session, userId);
  return { userId, adminOf: clinics.filter(({ role }) => role === "admin").map(({ clinic_id }) => clinic_id) };
}
