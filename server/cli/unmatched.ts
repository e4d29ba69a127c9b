import { userInfo } from "node:os";
import { Command, Option } from "commander";
import { printJson, printLine, printTable, printTimes } from "../../shared/cli/output.ts";
import type { AuditActor } from "../store/audit.ts";
import type { Session } from "../store/database/query.ts";
import { candidatesFor } from "../store/studies/candidates.ts";
import { listConflicts } from "../store/studies/conflicts.ts";
import { assignStudy, rejectStudy, reopenStudy } from "../store/studies/placement.ts";
import { listUnmatched } from "../store/studies/unmatched.ts";
import { clinicOption, type DataOption, dataOption, fpParser } from "./options.ts";
import { storedStudy } from "./stored-study.ts";
import { unmatchedTable, viewLines } from "./study-text.ts";
import { clinicIdOf, withStore } from "./with-store.ts";

const listCommand = new Command("list")
  .description("list them, the oldest first")
  .addOption(clinicOption("only studies of the clinic"))
  .option("--rejected", "list the studies that a user rejected")
  .option("--sample <id>", "only studies of the sample with this identifier")
  .option("--json", "print a JSON array")
  .addOption(dataOption())
  .action(list);

const showCommand = new Command("show")
  .argument("<fp>")
  .description("show a study with the patients that it may be of, the likeliest first, each with the reasons")
  .option("--json", "print JSON")
  .addOption(dataOption())
  .action(show);

const assignCommand = new Command("assign")
  .argument("<fp>")
  .description("file a study to a patient, with range and flag for that patient; a filed study moves")
  .requiredOption("--patient <fp>", "patient of the study", fpParser("patient"))
  .addOption(
    new Option("--despite <contradiction>", "file it although the device states another species").choices(["species"]),
  )
  .addOption(dataOption())
  .action((fp: string, { data, patient, ...options }: DataOption & { patient: string; despite?: "species" }) =>
    change(data, `${fp} is filed to ${patient}`, (session, user) =>
      assignStudy(session, { ...user, ...options, fp, patientFp: patient }),
    ),
  );

const rejectCommand = new Command("reject")
  .argument("<fp>")
  .description("take a study off the list: it is of no patient")
  .requiredOption("--reason <text>", "reason that the history shows")
  .addOption(dataOption())
  .action((fp: string, { data, reason }: DataOption & { reason: string }) =>
    change(data, `${fp} is rejected`, (session, user) => rejectStudy(session, { ...user, fp, reason })),
  );

const reopenCommand = new Command("reopen")
  .argument("<fp>")
  .description("undo an assignment or a rejection: the study is unmatched again")
  .addOption(dataOption())
  .action((fp: string, { data }: DataOption) =>
    change(data, `${fp} is unmatched again`, (session, user) => reopenStudy(session, { ...user, fp })),
  );

export const unmatchedCommand = new Command("unmatched")
  .description("studies that wait for a user to assign them to a patient")
  .addCommand(listCommand)
  .addCommand(showCommand)
  .addCommand(assignCommand)
  .addCommand(rejectCommand)
  .addCommand(reopenCommand);

interface ListOptions extends DataOption {
  readonly clinic?: string;
  readonly rejected?: boolean;
  readonly sample?: string;
  readonly json?: true;
}

async function list({ data, clinic, rejected = false, json, ...sample }: ListOptions): Promise<void> {
  await withStore(data, async (store) => {
    const clinicId = clinic === undefined ? null : await clinicIdOf(store, clinic);
    const found = listUnmatched(store, { clinicId, rejected, ...sample });
    if (!json) return printTable(unmatchedTable, found);
    const all = [];
    for await (const study of found) all.push(study);
    printJson(all);
  });
}

async function show(fp: string, { data, json }: DataOption & { json?: true }): Promise<void> {
  await withStore(data, async (store) => {
    const view = await storedStudy(store, fp);
    const candidates = view.study.patient_fp === "" ? await candidatesFor(store, fp) : [];
    const conflicts = await listConflicts(store, { fp });
    if (json) printJson({ ...view, candidates, conflicts });
    else for (const line of viewLines(view, candidates, conflicts)) printTimes(line);
  });
}

/** Runs a user's change of a study in one transaction. @throws Error with the problem that the change returns */
async function change(
  data: string,
  done: string,
  work: (session: Session, user: AuditActor) => Promise<string | null>,
): Promise<void> {
  await withStore(data, async (store) => {
    const user = { by: userInfo().username, now: Date.now() };
    const problem = await store.transaction((session) => work(session, user));
    if (problem !== null) throw new Error(problem);
    printLine(done);
  });
}
