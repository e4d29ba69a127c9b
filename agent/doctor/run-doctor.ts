import { errorMessage } from "../../shared/runtime/error-message.ts";
import { backlog } from "./connections/backlog.ts";
import { backups } from "./machine/backups.ts";
import { buckets } from "./machine/buckets.ts";
import { type Check, type DoctorContext, type Facts, readFacts } from "./check/check.ts";
import { configuration } from "./configuration.ts";
import { dataFolder, freeSpace } from "./machine/data-folder.ts";
import { database } from "./machine/database.ts";
import { devices } from "./connections/devices.ts";
import { dialled } from "./connections/dialled.ts";
import type { Finding, TitledFinding } from "../page/types/doctor.ts";
import { problem, warning } from "./check/finding.ts";
import { listeners } from "./connections/listeners.ts";
import { network } from "./connections/network.ts";
import { openFiles } from "./machine/open-files.ts";
import { serialLines } from "./connections/serial-lines.ts";
import { server } from "./connections/server-check.ts";
import { service } from "./machine/service.ts";
import { timeZone } from "./machine/time-zone.ts";

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
