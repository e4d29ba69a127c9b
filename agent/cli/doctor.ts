import { Command } from "commander";
import { EXIT_CONFIG } from "../../shared/platform/cli/exit-codes.ts";
import { printError, printJson, printLine } from "../../shared/platform/cli/output.ts";
import { makeBundle, writeBundle } from "../doctor/bundle.ts";
import { runDoctor } from "../doctor/run-doctor.ts";
import type { TitledFinding } from "../page/types/doctor.ts";
import { type ConfigOption, configOption } from "./common/options.ts";

export const doctorCommand = new Command("doctor")
  .description(
    "check the set-up of this machine, and show the remedy for each problem; a problem ends with exit code 1",
  )
  .addOption(configOption())
  .option("--offline", "contact neither the server nor devices of the network")
  .option("--bundle <file>", "also write a zip for the support, without names, keys and bytes of devices")
  .option("--json", "print a JSON array")
  .action(doctor);

interface DoctorOptions extends ConfigOption {
  readonly offline?: boolean;
  readonly bundle?: string;
  readonly json?: boolean;
}

async function doctor({ config, offline, bundle, json }: DoctorOptions): Promise<void> {
  const context = { configFile: config, isOffline: offline ?? false };
  let title = "";
  const found = await runDoctor(context, (finding) => {
    if (json) return;
    if (finding.check !== title) printLine(finding.check);
    title = finding.check;
    for (const line of findingLines(finding)) printLine(line);
  });
  if (json) printJson(found);
  else printLine(summary(found));
  if (bundle !== undefined) {
    writeBundle(bundle, makeBundle(context, found));
    printError(`${bundle} is written: it has no names, keys and results; read it before you give it away`);
  }
  process.exitCode = exitCode(found);
}

/** Words in place of colours, because a terminal may have none. */
const MARKS = { ok: "ok     ", warning: "WARNING", problem: "PROBLEM", skipped: "-      " } as const;

function findingLines({ status, sentence, remedy }: TitledFinding): string[] {
  const line = `  ${MARKS[status]}  ${sentence}`;
  return remedy === null ? [line] : [line, `           -> ${remedy}`];
}

function summary(found: readonly TitledFinding[]): string {
  const count = (wanted: string) => found.filter(({ status }) => status === wanted).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  return `${problems} problem${problems === 1 ? "" : "s"}, ${warnings} warning${warnings === 1 ? "" : "s"}`;
}

function exitCode(found: readonly TitledFinding[]): number {
  const problems = found.filter(({ status }) => status === "problem");
  if (problems.length === 0) return 0;
  return problems.some(({ id }) => ["configuration.wrong", "configuration.missing"].includes(id)) ? EXIT_CONFIG : 1;
}
