import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { Command, Option } from "commander";
import { printJson, printTable, printTimes } from "../../shared/cli/output.ts";
import { readManualStudy } from "../domain/manual-study.ts";
import { listConflicts } from "../store/studies/conflicts.ts";
import { historyOf } from "../store/studies/history.ts";
import { addStudy, clinicsOfPatient } from "../store/studies/manual-study.ts";
import type { Store } from "../store/database/store.ts";
import { clinicOption, type DataOption, dataOption, fpParser } from "./options.ts";
import { storedStudy } from "./stored-study.ts";
import { promptForStudy } from "./study-prompt.ts";
import { conflictLine, conflictTable, historyLines } from "./study-text.ts";
import { clinicIdOf, withStore } from "./with-store.ts";

const addCommand = new Command("add")
  .description("store a manual measurement, with range and flag; prints the study as the API shows it")
  .requiredOption("--patient <fp>", "patient of the study", fpParser("patient"))
  .addOption(clinicOption("clinic of the study; needed if the patient has several"))
  .option("--file <file>", "JSON: modality, acquired_at, results of analyte, value, unit")
  .addOption(new Option("--interactive", "prompt for the study").conflicts("file"))
  .addOption(dataOption())
  .action(add);

const historyCommand = new Command("history")
  .argument("<fp>")
  .description("list the revisions of a study, the first one first, and its conflicts")
  .option("--json", "print JSON")
  .addOption(dataOption())
  .action(history);

const conflictsCommand = new Command("conflicts")
  .description("list studies from agents that contradict the stored ones")
  .addOption(clinicOption("only conflicts of the clinic's agents"))
  .option("--json", "print a JSON array")
  .addOption(dataOption())
  .action(conflicts);

export const studyCommand = new Command("study")
  .description("manual measurements, and the history of any study")
  .addCommand(addCommand)
  .addCommand(historyCommand)
  .addCommand(conflictsCommand);

interface AddOptions extends DataOption {
  readonly patient: string;
  readonly clinic?: string;
  readonly file?: string;
  readonly interactive?: true;
}

async function add({ data, patient, clinic, file, interactive }: AddOptions): Promise<void> {
  if (file === undefined && !interactive) throw new Error("nothing to add: expected --file or --interactive");
  const entered = file === undefined ? await promptForStudy() : (JSON.parse(readFileSync(file, "utf8")) as unknown);
  const now = Date.now();
  const read = readManualStudy(entered, now);
  if ("problems" in read) throw new Error(read.problems.join("\n"));
  await withStore(data, async (store) => {
    const clinicId = await (clinic === undefined ? onlyClinicOf(store, patient) : clinicIdOf(store, clinic));
    const wanted = { clinicId, patientFp: patient, entry: read.entry, by: userInfo().username, now };
    const added = await store.transaction((session) => addStudy(session, wanted));
    if ("problem" in added) throw new Error(added.problem);
    printJson((await storedStudy(store, added.fp)).study);
  });
}

/** Returns the id of the patient's only clinic. @throws Error if the patient has none or several */
async function onlyClinicOf(store: Store, patientFp: string): Promise<number> {
  const [clinic, ...others] = await clinicsOfPatient(store, patientFp);
  if (clinic === undefined) throw new Error(`patient ${patientFp} does not exist, or no clinic is connected to it`);
  if (others.length === 0) return clinic.id;
  const fps = [clinic, ...others].map(({ fp }) => fp).join(", ");
  throw new Error(`patient ${patientFp} has several clinics, expected --clinic with one of ${fps}`);
}

async function history(fp: string, { data, json }: DataOption & { json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    await storedStudy(store, fp);
    const revisions = await historyOf(store, fp);
    const found = await listConflicts(store, { fp });
    if (json) printJson({ revisions, conflicts: found });
    else for (const line of [...historyLines(revisions), ...found.map(conflictLine)]) printTimes(line);
  });
}

async function conflicts({ data, clinic, json }: DataOption & { clinic?: string; json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const filter = clinic === undefined ? {} : { clinicId: await clinicIdOf(store, clinic) };
    const found = await listConflicts(store, filter);
    if (json) printJson(found);
    else await printTable(conflictTable, found);
  });
}
