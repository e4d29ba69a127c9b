import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { describeDamage } from "../../../shared/files/damaged-file.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { damagedMessages } from "../../spool/damaged-messages.ts";
import { trustedDatabase } from "../../../shared/files/folder-owner.ts";

// The thread that checks the tables of a database one by one, until its time is over.

export type DatabaseAnswer =
  | { readonly is: "whole" | "in part" }
  | { readonly is: "damaged" | "messages"; readonly reason: string };

function checkTables(file: string, ms: number): DatabaseAnswer {
  const end = performance.now() + ms;
  try {
    const db = new Database(trustedDatabase(file), { readonly: true, fileMustExist: true });
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
    for (const table of tables) {
      if (performance.now() > end) return { is: "in part" };
      const found = db.pragma(`quick_check("${table}")`, { simple: true });
      if (found !== "ok") return { is: "damaged", reason: String(found) };
    }
    const { sentence, isComplete } = damagedMessages(db, () => performance.now() > end);
    if (sentence !== null) return { is: "messages", reason: sentence };
    return { is: isComplete ? "whole" : "in part" };
  } catch (error) {
    return { is: "damaged", reason: errorMessage(describeDamage(error, file)) };
  }
}

const { file, ms } = workerData as { readonly file: string; readonly ms: number };
parentPort?.postMessage(checkTables(file, ms) satisfies DatabaseAnswer);
