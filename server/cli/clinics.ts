import { userInfo } from "node:os";
import { Command } from "commander";
import { newFp } from "../../shared/api/fp.ts";
import { printJson, printLine, printTable, type Table } from "../../shared/platform/cli/output.ts";
import { refusal, refusalWords } from "../dashboard/types/refusals.ts";
import { auditCommand } from "../records/audit/audit.ts";
import {
  type ClinicDescription,
  describeClinics,
  findClinicState,
  insertClinic,
  setSuspended,
} from "../records/clinics/clinics.ts";
import { type DataOption, dataOption, fpParser } from "./common/options.ts";
import { withNewStore, withStore } from "./common/with-store.ts";

const createCommand = new Command("create")
  .description("create a clinic and print its fp")
  .requiredOption("--name <name>", "name of the clinic")
  .addOption(dataOption())
  .action(create);

const listCommand = new Command("list")
  .description("list the clinics with the number of their patients, users and agents")
  .option("--json", "print JSON")
  .addOption(dataOption())
  .action(list);

const suspendCommand = new Command("suspend")
  .argument("<fp>", "clinic that clinics list shows", fpParser("clinic"))
  .description("refuse the clinic's users and integrations; its agents keep their studies until it is served again")
  .addOption(dataOption())
  .action((fp: string, options: DataOption) => suspend(fp, options, true));

const resumeCommand = new Command("resume")
  .argument("<fp>", "clinic that clinics list shows", fpParser("clinic"))
  .description("serve a suspended clinic again")
  .addOption(dataOption())
  .action((fp: string, options: DataOption) => suspend(fp, options, false));

export const clinicsCommand = new Command("clinics")
  .description("clinics of the server")
  .addCommand(createCommand)
  .addCommand(listCommand)
  .addCommand(suspendCommand)
  .addCommand(resumeCommand);

const NAME_CHARACTERS_MAX = 200;

async function create({ data, name: given }: DataOption & { readonly name: string }): Promise<void> {
  const name = given.trim();
  if (name === "" || name.length > NAME_CHARACTERS_MAX) {
    throw new Error(`the name has ${name.length} characters, expected 1 to ${NAME_CHARACTERS_MAX}`);
  }
  await withNewStore(data, async (store) => {
    const fp = newFp("clinic");
    await store.transaction(async (session) => {
      const { id } = await insertClinic(session, { fp, name });
      await auditCommand(session, "clinics create", [fp], { ...actor(), clinicId: id });
    });
    printLine(fp);
  });
}

async function list({ data, json }: DataOption & { json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const clinics = await describeClinics(store);
    if (json) printJson(clinics);
    else await printTable(clinicTable, clinics);
  });
}

async function suspend(fp: string, { data }: DataOption, isSuspended: boolean): Promise<void> {
  await withStore(data, async (store) => {
    await store.transaction(async (session) => {
      const { now, by } = actor();
      if ((await findClinicState(session, fp))?.erasure != null) {
        throw new Error(refusalWords(refusal("CLINIC.IS_ERASED")));
      }
      const found = await setSuspended(session, fp, isSuspended ? now : null);
      if (!found) throw new Error(`clinic ${fp} does not exist, expected an fp that clinics list shows`);
      await auditCommand(session, `clinics ${isSuspended ? "suspend" : "resume"}`, [fp], { by, now });
    });
    printLine(`${fp} is ${isSuspended ? "suspended" : "served again"}`);
  });
}

function actor() {
  return { by: userInfo().username, now: Date.now() };
}

const clinicTable: Table<ClinicDescription> = {
  head: ["CLINIC", "PATIENTS", "USERS", "AGENTS", "STATE", "NAME"],
  cells: ({ fp, name, patients, users, agents, suspended_at }) => {
    const state = suspended_at === null ? "served" : `suspended ${suspended_at}`;
    return [fp, String(patients), String(users), String(agents), state, name];
  },
};
