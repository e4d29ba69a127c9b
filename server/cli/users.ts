import { userInfo } from "node:os";
import { Command, Option } from "commander";
import { printError, printJson, printLine, printTable, type Table } from "../../shared/platform/cli/output.ts";
import { type Role, roles } from "../dashboard/types/settings/session.ts";
import { hashPassword, randomPassword } from "../dashboard/auth/password.ts";
import { auditCommand } from "../records/audit/audit.ts";
import {
  describeUsers,
  findUserByName,
  insertUser,
  resetUser,
  setRole,
  type UserDescription,
} from "../records/users/users.ts";
import { type ClinicOption, clinicOption, type DataOption, dataOption } from "./common/options.ts";
import { clinicIdOf, growingClinicId, withStore } from "./common/with-store.ts";

const createCommand = new Command("create")
  .description("create a user of the dashboard and print the first password, once")
  .addOption(clinicOption("clinic of the user").makeOptionMandatory())
  .requiredOption("--name <name>", "name that the user types to sign in")
  .addOption(new Option("--role <role>", "rights in the clinic").choices(roles).makeOptionMandatory())
  .addOption(dataOption())
  .action(create);

const listCommand = new Command("list")
  .description("list the users of the dashboard with their roles")
  .addOption(clinicOption("users of one clinic"))
  .option("--json", "print JSON")
  .addOption(dataOption())
  .action(list);

const resetCommand = new Command("reset")
  .argument("<name>", "name of the user")
  .description("print a new password, once; end the user's sessions and switch the second factor off")
  .addOption(dataOption())
  .action(reset);

export const usersCommand = new Command("users")
  .description("users of the dashboard")
  .addCommand(createCommand)
  .addCommand(listCommand)
  .addCommand(resetCommand);

interface CreateOptions extends DataOption, ClinicOption {
  readonly name: string;
  readonly role: Role;
}

async function create({ data, clinic, name, role }: CreateOptions): Promise<void> {
  if (name.trim() === "" || name.length > 100)
    throw new Error("the name is empty or too long, expected 1 to 100 characters");
  await withStore(data, async (store) => {
    const clinicId = await growingClinicId(store, clinic);
    const password = randomPassword();
    const hash = await hashPassword(password);
    const now = Date.now();
    await store.transaction(async (session) => {
      const user = await insertUser(session, { name, password: hash, now });
      if (user === undefined) throw new Error(`a user named ${name.trim()} exists already, expected another name`);
      await setRole(session, user.id, clinicId, role);
      await auditCommand(session, `users create --role ${role}`, [user.public_id], actor(now, clinicId));
    });
    printLine(password);
  });
}

async function list({ data, clinic, json }: DataOption & Partial<ClinicOption> & { json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    // An unknown clinic is an error, not an empty list.
    if (clinic !== undefined) await clinicIdOf(store, clinic);
    const users = (await describeUsers(store)).filter(
      ({ clinics }) => clinic === undefined || clinics.some(({ fp }) => fp === clinic),
    );
    if (json) printJson(users);
    else await printTable(userTable, users);
  });
}

async function reset(name: string, { data }: DataOption): Promise<void> {
  await withStore(data, async (store) => {
    const password = randomPassword();
    const hash = await hashPassword(password);
    await store.transaction(async (session) => {
      const user = await findUserByName(session, name);
      if (user === undefined) throw new Error(`user ${name} does not exist, expected a name that users list shows`);
      await resetUser(session, user.id, hash);
      await auditCommand(session, "users reset", [user.public_id], actor(Date.now()));
    });
    printLine(password);
    // Scripts read the password from stdout.
    printError(`the sessions of ${name} are over, and the second factor is off`);
  });
}

function actor(now: number, clinicId?: number) {
  return { by: userInfo().username, now, ...(clinicId !== undefined && { clinicId }) };
}

const userTable: Table<UserDescription> = {
  head: ["ID", "STATE", "SECOND FACTOR", "ROLES", "NAME"],
  cells: ({ id, name, clinics, second_factor, recovery_codes, password_known_at, disabled_at }) => {
    const places = clinics.map(({ fp, role }) => `${role} of ${fp}`).join(", ");
    const state = disabled_at === null ? "active" : `disabled ${disabled_at}`;
    const factor = second_factor ? `on, ${recovery_codes} recovery codes` : "off";
    const known = password_known_at === null ? "" : `, password known to somebody since ${password_known_at}`;
    return [id, state + known, `second factor ${factor}`, places || "no clinic", name];
  },
};
