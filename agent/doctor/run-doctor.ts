import { errorMessage } from "../../shared/runtime/error-message.ts";
import { backlog } from "./backlog.ts";
import { backups } from "./backups.ts";
import { buckets } from "./buckets.ts";
import { type Check, type DoctorContext, type Facts, readFacts } from "./check.ts";
import { configuration } from "./configuration.ts";
import { dataFolder, freeSpace } from "./data-folder.ts";
import { database } from "./database.ts";
import { devices } from "./devices.ts";
import { dialled } from "./dialled.ts";
import type { Finding, TitledFinding } from "../../shared/local/doctor.ts";
import { problem, warning } from "./finding.ts";
import { listeners } from "./listeners.ts";
import { network } from "./network.ts";
import { openFiles } from "./open-files.ts";
import { serialLines } from "./serial-lines.ts";
import { server } from "./server-check.ts";
import { service } from "./service.ts";
import { timeZone } from "./time-zone.ts";

// Runs all checks, for the command line and for the local page.

/** Time after which a check counts as failed. Each step of a check has a shorter limit of its own. */
const DEADLINE_MS = 30_000;

/** The checks in the order in which a person repairs. */
const CHECKS: readonly Check[] = [
  configuration,
  dataFolder,
  freeSpace,
  database,
  openFiles,
  listeners,
  serialLines,
  network,
  dialled,
  buckets,
  server,
  timeZone,
  service,
  devices,
  backlog,
  backups,
];

/** Runs the checks one after another, and passes each finding on as soon as it is known. */
export async function runDoctor(
  context: DoctorContext,
  onFinding: (finding: TitledFinding) => void = () => undefined,
): Promise<readonly TitledFinding[]> {
  const facts = readFacts(context);
  const found: TitledFinding[] = [];
  for (const check of CHECKS) {
    for (const finding of await findingsOf(check, facts)) {
      const titled = { check: check.title, ...finding };
      found.push(titled);
      onFinding(titled);
    }
  }
  return found;
}

async function findingsOf(check: Check, facts: Facts): Promise<readonly Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Finding[]>((resolve) => {
    const remedy = "run the doctor again; if it is late again, restart this machine";
    const finding = warning(`${check.id}.late`, `no answer within ${DEADLINE_MS / 1000} s`, remedy);
    timer = setTimeout(() => resolve([finding]), DEADLINE_MS);
  });
  try {
    return await Promise.race([check.run(facts), late]);
  } catch (error) {
    const remedy = "give the file of agent doctor --bundle to the support of Vetwire";
    return [problem(`${check.id}.failed`, `the check itself failed: ${errorMessage(error)}`, remedy)];
  } finally {
    clearTimeout(timer);
  }
}
