import { userInfo } from "node:os";
import { Command } from "commander";
import { printLine, printTable, type Table } from "../../shared/platform/cli/output.ts";
import { hashPassword, randomPassword } from "../dashboard/auth/password.ts";
import { auditCommand } from "../records/audit/audit.ts";
import { removeSessionsOf } from "../records/users/sessions.ts";
import { findUserByName, insertUser, listOperators, resetUser, setDisabled } from "../records/users/users.ts";
import { type DataOption, dataOption } from "./common/options.ts";
import { withNewStore, withStore } from "./common/with-store.ts";

const addCommand = new Command("add")
  .requiredOption("--name <name>", "name that the operator types to sign in")
  .description("add an operator, or enable one again, and print a new password, once")
  .addOption(dataOption())
  .action(add);

const listCommand = new Command("list").description("list the operators").addOption(dataOption()).action(list);

const removeCommand = new Command("remove")
  .argument("<name>", "name of the operator")
  .description("disable an operator and end the operator's sessions; the audit keeps the name")
  .addOption(dataOption())
  .action(remove);

export const operatorsCommand = new Command("operators")
  .description("operators of the server, for run --operator-console")
  .addCommand(addCommand)
  .addCommand(listCommand)
  .addCommand(removeCommand);

async function add({ data, name }: DataOption & { readonly name: string }): Promise<void> {
  if (name.trim() === "" || name.length > 100)
    throw new Error("the name is empty or too long, expected 1 to 100 characters");
  await withNewStore(data, async (store) => {
    const password = randomPassword();
    const hash = await hashPassword(password);
    await store.transaction(async (session) => {
      const known = await findUserByName(session, name);
      if (known !== undefined && known.is_operator === 0)
        throw new Error(`a user named ${name.trim()} exists already, expected another name`);
      const added = known ?? (await insertUser(session, { name, password: hash, now: Date.now(), isOperator: true }));
      if (added === undefined) throw new Error(`a user named ${name.trim()} exists already, expected another name`);
      if (known !== undefined) {
        await resetUser(session, known.id, hash);
        await setDisabled(session, known.id, null);
      }
      await auditCommand(session, "operators add", [added.public_id], actor());
    });
    printLine(password);
  });
}

type Operator = Awaited<ReturnType<typeof listOperators>>[number];

async function list({ data }: DataOption): Promise<void> {
  await withStore(data, async (store) => printTable(operatorTable, await listOperators(store)));
}

async function remove(name: string, { data }: DataOption): Promise<void> {
  await withStore(data, async (store) => {
    await store.transaction(async (session) => {
      const user = await findUserByName(session, name);
      if (user === undefined || user.is_operator === 0)
        throw new Error(`operator ${name} does not exist, expected a name that operators list shows`);
      await setDisabled(session, user.id, Date.now());
      await removeSessionsOf(session, user.id);
      await auditCommand(session, "operators remove", [user.public_id], actor());
    });
    printLine(`${name} cannot sign in any more`);
  });
}

function actor() {
  return { by: userInfo().username, now: Date.now() };
}

const operatorTable: Table<Operator> = {
  head: ["ID", "STATE", "SECOND FACTOR", "NAME"],
  cells: ({ public_id, disabled_at, totp_secret, name }) => [
    public_id,
    disabled_at === null ? "active" : `disabled ${new Date(disabled_at).toISOString()}`,
    totp_secret === null ? "off" : "on",
    name,
  ],
};
