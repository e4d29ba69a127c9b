import path from "node:path";
import type Database from "better-sqlite3";
import { readTextFile } from "../../../shared/files/text-file.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { type ConfigResult, checkConfig } from "../../config/check.ts";
import { useOwnProfiles } from "../../devices/index.ts";
import type { Config } from "../../config/values/schema.ts";
import { readSpool } from "../../spool/access.ts";
import { isRunning } from "../../spool/queries/status.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { skipped } from "./finding.ts";

// A check of the doctor, and the facts that all checks share.

/** One question of the doctor. */
export interface Check {
  readonly id: string;
  readonly title: string;
  run(facts: Facts): Promise<readonly Finding[]>;
}

export interface DoctorContext {
  /** Path of agent.yaml. */
  readonly configFile: string;
  /** Skips the server and the devices of the network. */
  readonly isOffline: boolean;
}

export interface Facts extends DoctorContext {
  /** The checked configuration, or the reason why the file cannot be read. */
  readonly read: ConfigResult | { readonly unreadable: NodeJS.ErrnoException };
  /** Null for a wrong configuration. */
  readonly config: Config | null;
  /** An agent has the data folder open: another process, or this one. */
  readonly isAgentRunning: boolean;
}

type Findings = readonly Finding[] | Promise<readonly Finding[]>;

export function readFacts(context: DoctorContext): Facts {
  const read = readConfiguration(path.resolve(context.configFile));
  const config = "config" in read ? read.config : null;
  if (config !== null) useOwnProfiles(config.data);
  return { ...context, read, config, isAgentRunning: config !== null && holdsLock(config.data) };
}

function readConfiguration(file: string): Facts["read"] {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    return { unreadable: error as NodeJS.ErrnoException };
  }
  return checkConfig(text, path.dirname(file));
}

/** A folder that cannot be read has no running agent of this user. The check of the folder reports it. */
function holdsLock(folder: string): boolean {
  try {
    return isRunning(folder);
  } catch {
    return false;
  }
}

/** Creates a check that needs a right configuration. */
export function configCheck(id: string, title: string, run: (config: Config, facts: Facts) => Findings): Check {
  return {
    id,
    title,
    run: async (facts) =>
      facts.config === null
        ? [skipped(`${id}.skipped`, "not checked, because the configuration has problems")]
        : run(facts.config, facts),
  };
}

/** Creates a check that reads the spool, which may be in use. */
export function spoolCheck(
  id: string,
  title: string,
  read: (db: Database.Database, config: Config, facts: Facts) => readonly Finding[],
): Check {
  return configCheck(id, title, (config, facts) => {
    try {
      return readSpool(config.data, (db) => read(db, config, facts));
    } catch (error) {
      return [skipped(`${id}.skipped`, `not checked: ${errorMessage(error)}`)];
    }
  });
}
