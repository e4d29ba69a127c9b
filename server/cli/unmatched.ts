import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import readline from "node:readline";
import { type Command, Option } from "commander";
import { conflictLine, explainLines, historyLines, unmatchedLine, viewLines } from "./study-text.ts";
import { fpOption } from "./fp-option.ts";
import { type ManualStudy, readManualStudy, readMeasurement } from "../domain/manual-study.ts";
import { listRowsOf } from "../store/audit.ts";
import {
  type Act,
  assignStudy,
  candidatesFor,
  historyOf,
  listConflicts,
  listUnmatched,
  rejectStudy,
  type StoredView,
  undoPlacing,
  viewStudy,
} from "../store/unmatched.ts";
import { addStudy, clinicsOfPatient } from "../store/manual.ts";
import type { Session } from "../store/query.ts";
import { rangesOfVersion } from "../store/ranges.ts";
import type { Store } from "../store/types.ts";

// The desk's commands: studies that wait for a person, studies that a person types in, and what became of any of them.

interface Data {
  data: string;
}

/** What the commands need of the program that they are part of. */
export interface Shell {
  withStore: (data: string, work: (store: Store) => Promise<void>) => Promise<void>;
  say: (line: string) => void;
  sayJson: (value: unknown) => void;
  warn: (text: string) => void;
  dataOption: () => Option;
  /** @throws when there is no such clinic */
  clinicIdOf: (store: Store, fp: string) => Promise<number>;
}

export function addDeskCommands(program: Command, shell: Shell): void {
  const { withStore, say, sayJson, warn, dataOption, clinicIdOf } = shell;

  /** Runs what a person does to a study in one transaction. @throws when it says why not */
  const act = (data: string, done: string, work: (session: Session, act: Act) => Promise<string | null>) =>
    withStore(data, async (store) => {
      const problem = await store.transaction((session) => work(session, { by: userInfo().username, now: Date.now() }));
      if (problem !== null) throw new Error(problem);
      say(done);
    });

  const unmatched = program.command("unmatched").description("studies that wait for a person to say whose they are");

  unmatched
    .command("list")
    .description("list them, the oldest first")
    .option("--clinic <fp>", "of one clinic", fpOption("clinic"))
    .option("--rejected", "those that a person took off the list")
    .option("--json", "as a JSON array")
    .addOption(dataOption())
    .action(({ data, clinic, rejected = false, json }: Data & { clinic?: string; rejected?: boolean; json?: true }) =>
      withStore(data, async (store) => {
        const clinicId = clinic === undefined ? null : await clinicIdOf(store, clinic);
        const found = [];
        for await (const study of listUnmatched(store, { clinicId, rejected })) {
          if (json) found.push(study);
          else say(unmatchedLine(study));
        }
        if (json) sayJson(found);
      }),
    );

  unmatched
    .command("show <fp>")
    .description("show one with the patients whom it may be of, the likeliest first, each with the reasons")
    .option("--json", "as JSON")
    .addOption(dataOption())
    .action((fp: string, { data, json }: Data & { json?: true }) =>
      withStore(data, async (store) => {
        const view = await viewOf(store, fp);
        const candidates = view.study.patient_fp === "" ? await candidatesFor(store, fp) : [];
        const conflicts = await listConflicts(store, { fp });
        if (json) sayJson({ ...view, candidates, conflicts });
        else for (const line of viewLines(view, candidates, conflicts)) say(line);
      }),
    );

  unmatched
    .command("assign <fp>")
    .description("file it to a patient, with range and flag for that animal; one that is filed already moves")
    .requiredOption("--patient <fp>", "whose it is", fpOption("patient"))
    .addOption(
      new Option("--despite <contradiction>", "file it although the device states another species").choices([
        "species",
      ]),
    )
    .addOption(dataOption())
    .action((fp: string, { data, patient, ...options }: Data & { patient: string; despite?: "species" }) =>
      act(data, `${fp} is filed to ${patient}`, (session, by) =>
        assignStudy(session, { ...by, ...options, fp, patientFp: patient }),
      ),
    );

  unmatched
    .command("reject <fp>")
    .description("take it off the list: it is nobody's")
    .requiredOption("--reason <text>", "why")
    .addOption(dataOption())
    .action((fp: string, { data, reason }: Data & { reason: string }) =>
      act(data, `${fp} is rejected`, (session, by) => rejectStudy(session, { ...by, fp, reason })),
    );

  unmatched
    .command("undo <fp>")
    .description("take back what a person assigned or rejected: it waits again")
    .addOption(dataOption())
    .action((fp: string, { data }: Data) =>
      act(data, `${fp} is unmatched again`, (session, by) => undoPlacing(session, { ...by, fp })),
    );

  const study = program.command("study").description("studies that a person types in, and what became of any study");

  study
    .command("add")
    .description("store what a person measured, with range and flag; prints the study as the API shows it")
    .requiredOption("--patient <fp>", "whose it is", fpOption("patient"))
    .option("--clinic <fp>", "which of the patient's clinics; needed where there are several", fpOption("clinic"))
    .addOption(new Option("--file <file>", "JSON: modality, acquired_at, results of analyte, value, unit"))
    .addOption(new Option("--interactive", "asks for it").conflicts("file"))
    .addOption(dataOption())
    .action(async (options: Data & { patient: string; clinic?: string; file?: string; interactive?: true }) => {
      const { data, patient, clinic, file, interactive } = options;
      if (file === undefined && !interactive) throw new Error("nothing to add: expected --file or --interactive");
      const typed = file === undefined ? await ask(warn) : (JSON.parse(readFileSync(file, "utf8")) as unknown);
      const now = Date.now();
      const read = readManualStudy(typed, now);
      if ("problems" in read) throw new Error(read.problems.join("\n"));
      await withStore(data, async (store) => {
        const clinicId = await (clinic === undefined ? onlyClinicOf(store, patient) : clinicIdOf(store, clinic));
        const wanted = { clinicId, patientFp: patient, entry: read.entry, by: userInfo().username, now };
        const added = await store.transaction((session) => addStudy(session, wanted));
        if ("problem" in added) throw new Error(added.problem);
        sayJson((await viewOf(store, added.fp)).study);
      });
    });

  study
    .command("history <fp>")
    .description("list its revisions, the first one first, and what contradicted them")
    .option("--json", "as JSON")
    .addOption(dataOption())
    .action((fp: string, { data, json }: Data & { json?: true }) =>
      withStore(data, async (store) => {
        await viewOf(store, fp);
        const revisions = await historyOf(store, fp);
        const conflicts = await listConflicts(store, { fp });
        if (json) sayJson({ revisions, conflicts });
        else for (const line of [...historyLines(revisions), ...conflicts.map(conflictLine)]) say(line);
      }),
    );

  study
    .command("conflicts")
    .description("list what agents sent that contradicts what is stored")
    .option("--clinic <fp>", "of one clinic's agents", fpOption("clinic"))
    .option("--json", "as a JSON array")
    .addOption(dataOption())
    .action(({ data, clinic, json }: Data & { clinic?: string; json?: true }) =>
      withStore(data, async (store) => {
        const conflicts = await listConflicts(
          store,
          clinic === undefined ? {} : { clinicId: await clinicIdOf(store, clinic) },
        );
        if (json) sayJson(conflicts);
        else for (const conflict of conflicts) say(conflictLine(conflict));
      }),
    );

  program
    .command("explain <fp>")
    .description("one time line of a study, and by which interval each of its results has its flag")
    .addOption(dataOption())
    .action((fp: string, { data }: Data) =>
      withStore(data, async (store) => {
        const view = await viewOf(store, fp);
        const version = view.snapshot?.ranges ?? null;
        const clinicId = view.clinic_fp === null ? null : await clinicIdOf(store, view.clinic_fp);
        const told = {
          history: await historyOf(store, fp),
          conflicts: await listConflicts(store, { fp }),
          audit: await listRowsOf(store, fp),
          ranges: clinicId === null || version === null ? undefined : await rangesOfVersion(store, clinicId, version),
        };
        for (const line of explainLines(view, told)) say(line);
      }),
    );
}

async function viewOf(store: Store, fp: string): Promise<StoredView> {
  const view = await viewStudy(store, fp);
  if (view === undefined) throw new Error(`study ${fp} does not exist`);
  return view;
}

/** The patient's only clinic. @throws where there are several */
async function onlyClinicOf(store: Store, patientFp: string): Promise<number> {
  const [clinic, ...others] = await clinicsOfPatient(store, patientFp);
  if (clinic === undefined) throw new Error(`patient ${patientFp} does not exist, or no clinic is connected to it`);
  if (others.length === 0) return clinic.id;
  const fps = [clinic, ...others].map(({ fp }) => fp).join(", ");
  throw new Error(`patient ${patientFp} has several clinics, expected --clinic with one of ${fps}`);
}

/** Asks for a study row by row; what is not understood is asked for again. */
async function ask(tell: (text: string) => void): Promise<unknown> {
  const terminal = readline.promises.createInterface({ input: process.stdin, output: process.stderr });
  const lines = terminal[Symbol.asyncIterator]();
  const answer = async (question: string) => {
    terminal.setPrompt(question);
    terminal.prompt();
    const next = await lines.next();
    return next.done === true ? "" : next.value.trim();
  };
  try {
    const modality = (await answer("modality (HEMATOLOGY, BIOCHEMISTRY, URINALYSIS): ")).toUpperCase();
    const acquired_at =
      (await answer("time of the sample (2026-11-21T09:30:00.000Z, empty: now): ")) || new Date().toISOString();
    const device_name = await answer("device (empty: none): ");
    const results: ManualStudy["results"] = [];
    for (;;) {
      const line = await answer("analyte value unit (empty: done): ");
      if (line === "") break;
      const [analyte = "", value = "", ...unit] = line.split(/\s+/);
      const result = { analyte, value, unit: unit.join(" ") };
      const read = readMeasurement(result, modality as ManualStudy["modality"]);
      if ("problem" in read) tell(`${read.problem}: not taken`);
      else results.push(result);
    }
    return { modality, acquired_at, ...(device_name !== "" && { device_name }), results };
  } finally {
    terminal.close();
  }
}
