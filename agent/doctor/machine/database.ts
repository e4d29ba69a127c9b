import fs from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import Database from "better-sqlite3";
import { newerRemedy } from "../../../shared/platform/care/schema-steps.ts";
import { storedSchema } from "../../../shared/platform/care/sqlite-schema.ts";
import { describeDamage } from "../../../shared/files/damaged-file.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { longLog } from "../../../shared/log/long-log.ts";
import { trustedDatabase } from "../../../shared/files/folder-owner.ts";
import { moduleFile } from "../../../shared/files/program-files.ts";
import { SCHEMA_VERSION } from "../../spool/thread/schema.ts";
import { DAMAGED_MESSAGES_REMEDY } from "../../spool/damaged-messages.ts";
import { configCheck } from "../check/check.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { ok, problem, skipped, warning } from "../check/finding.ts";
import type { DatabaseAnswer } from "./quick-check.ts";

/** Time for the check of all tables. A large database is then checked in part. */
const CHECK_MS = 10_000;

/** Checks that the stored results are undamaged, also while the agent writes them. */
export const database = configCheck("database", "Stored results", async ({ data }) => {
  const file = path.join(data, "spool.db");
  if (!fs.existsSync(file)) return [skipped("database.none", "nothing is stored yet")];
  try {
    const opened = openedFindings(file);
    if (opened.some(({ status }) => status === "problem")) return opened;
    const log = longLog(file);
    const long = log === null ? [] : [warning(log.code, log.fault, log.remedy)];
    return [...opened, ...long, ...(await integrity(file))];
  } catch (error) {
    return [damaged(errorMessage(describeDamage(error, file)))];
  }
});

function openedFindings(file: string): Finding[] {
  const db = new Database(trustedDatabase(file), { readonly: true, fileMustExist: true });
  try {
    const stored = storedSchema(db);
    if (stored.version > SCHEMA_VERSION) {
      return [
        problem("database.newer", "a newer version of Vetwire has written the stored results", newerRemedy(stored)),
      ];
    }
    if (stored.version < SCHEMA_VERSION)
      return [ok("database.older", "the agent updates the stored results when it starts")];
    return [];
  } finally {
    db.close();
  }
}

/** Reads the database in a thread, so that a running agent goes on with its devices. */
async function integrity(file: string): Promise<Finding[]> {
  const worker = new Worker(moduleFile("agent/doctor/machine/quick-check"), { workerData: { file, ms: CHECK_MS } });
  const answer = await new Promise<DatabaseAnswer>((resolve) => {
    worker.once("message", resolve);
    worker.once("error", (error) => resolve({ is: "damaged", reason: error.message }));
  });
  await worker.terminate();
  switch (answer.is) {
    case "whole":
      return [ok("database.whole", "the stored results are whole")];
    case "in part": {
      const remedy = "run the doctor again at night, when no device sends";
      return [warning("database.large", "the stored results are whole as far as they were checked in 10 s", remedy)];
    }
    case "damaged":
      return [damaged(answer.reason)];
    case "messages":
      return [problem("database.messages", answer.reason, DAMAGED_MESSAGES_REMEDY)];
  }
}

function damaged(reason: string): Finding {
  const remedy = "stop the agent, copy the data folder, then restore the last backup; the devices keep their results";
  return problem("database.damaged", `the stored results are damaged: ${reason}`, remedy);
}
