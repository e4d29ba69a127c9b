import { userInfo } from "node:os";
import { Command } from "commander";
import { oldestBackup } from "../../shared/platform/care/oldest-backup.ts";
import { printJson, printLine } from "../../shared/platform/cli/output.ts";
import { ERASED_KINDS, type ErasedKind, type ErasureReport } from "../dashboard/types/animals.ts";
import { eraseOwner, findOwner, planErasure } from "../records/erasure/erase-owner.ts";
import { readOwnerFacts } from "../records/registry/owners.ts";
import { type ClinicOption, clinicOption, type DataOption, dataOption, fpParser } from "./common/options.ts";
import { clinicIdOf, withStore } from "./common/with-store.ts";

const eraseCommand = new Command("erase")
  .argument("<fp>", "owner, as export lists it", fpParser("customer"))
  .description("erase the data of an owner; the animals and their studies stay under its number")
  .addOption(clinicOption("clinic of the owner").makeOptionMandatory())
  .option("--yes", "erase; without it, the command prints what it would erase")
  .option("--json", "print JSON")
  .addOption(dataOption())
  .action(erase);

export const ownersCommand = new Command("owners").description("owners of animals").addCommand(eraseCommand);

interface EraseOptions extends DataOption, ClinicOption {
  readonly yes?: true;
  readonly json?: true;
}

async function erase(fp: string, { data, clinic, yes, json }: EraseOptions): Promise<void> {
  const backup = oldestBackup(data);
  await withStore(data, async (store) => {
    const clinicId = await clinicIdOf(store, clinic);
    const owner = await findOwner(store, clinicId, fp);
    if (owner === undefined)
      throw new Error(`owner ${fp} does not exist in ${clinic}, expected an owner of its animals`);
    if (yes === undefined) {
      const { name } = await readOwnerFacts(store, owner.id);
      const plan = await planErasure(store, { clinicId, owner });
      if (json) return printJson({ name, ...plan, oldest_backup: backup });
      printLine(`${name ?? "an owner without a name"}: erases name, contacts, links and traces; --yes does it`);
      for (const line of whatStays({ ...plan, oldest_backup: backup })) printLine(line);
      return undefined;
    }
    const actor = { by: userInfo().username, now: Date.now(), clinicId };
    const report = await store.transaction((session) =>
      eraseOwner(session, { clinicId, clinicFp: clinic, owner, actor, oldestBackup: backup }),
    );
    if (report === null)
      throw new Error(`a file is being imported in ${clinic}, expected none: try again after its end`);
    if (json) return printJson(report);
    printLine(`${report.owner} of ${report.clinic}, erased ${report.at}`);
    for (const kind of ERASED_KINDS) printLine(`  ${words[kind]}: ${report.erased[kind]}`);
    for (const line of whatStays(report)) printLine(line);
    return undefined;
  });
}

function whatStays({
  animals,
  studies,
  other_clinics: others,
  mentions,
  oldest_backup: backup,
}: Pick<ErasureReport, "animals" | "studies" | "other_clinics" | "mentions" | "oldest_backup">): string[] {
  return [
    `${animals} animals and ${studies} studies stay under the number of the owner`,
    ...(others === 0 ? [] : [`${others} other clinics have this owner: it is erased there too`]),
    ...(mentions === 0 ? [] : [`${mentions} texts about the animals name the owner and stay: look at each`]),
    backup === null
      ? "the server knows of no backup; backups from before the erasure still have the data, until you remove them"
      : `backups from before the erasure still have the data: the oldest one is of ${backup}`,
  ];
}

const words: Readonly<Record<ErasedKind, string>> = {
  facts: "name, contacts, language, time zone",
  softwareNames: "names in practice software",
  reportLinks: "links to reports",
  undo: "changes that could be undone",
  files: "files kept after an import",
  answers: "kept answers to practice software",
  hints: "owner's names that came with studies",
  messages: "kept messages to practice software",
};
