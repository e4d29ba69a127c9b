import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { AGENT_BACKUP, restoreTarget } from "../../../agent/backup-source.ts";
import { imageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { restoreTarget as serverTarget, SERVER_BACKUP } from "../../../server/cli/common/backup-source.ts";
import { readManifest } from "../../../shared/platform/care/backup-file.ts";
import { readBackupState } from "../../../shared/platform/care/backup-state.ts";
import { finishRestore } from "../../../shared/platform/care/restore-steps.ts";
import {
  checkBackup,
  restoreBackup,
  restoreConfig,
  type RestoreTarget,
} from "../../../shared/platform/care/restore.ts";
import { newKey } from "../../../shared/runtime/api-key.ts";
import { isBackupName } from "../../../shared/platform/care/schedule.ts";
import {
  AGENT,
  AGENT_KEY_OPTIONS,
  clinicFile,
  runAgentCommand,
  runServerCommand,
  SERVER,
  temporaryFolder,
  testPatients,
} from "../../support/machine/processes.ts";
import { agentProblems, serverProblems } from "./after-cut.ts";
import { type Change, recordChange, toldLines } from "./change.ts";
import type { Acknowledged } from "./recordings.ts";
import { addImage, addMessage, instanceUid, messageMark, openAgent } from "./stored-results.ts";

// Backups and restores of agent and server.

const CONFIG = "config/agent.yaml";
const KEY = "config/agent.key";
const BACKUP = "one.backup";
const KEY_TEXT = `${newKey()}\n`;
/** Numbers of the messages and images before the backup, and of those after it. */
const SAVED = [1, 2, 3, 4];
const LATER = [5, 6];

const nothing = () => undefined;

function marksOf(numbers: readonly number[]): Acknowledged[] {
  return numbers.flatMap((number): Acknowledged[] => [
    { mark: messageMark(number), kind: "message", at: 0 },
    { mark: instanceUid(number), kind: "instance", at: 0 },
  ]);
}

async function addResults(root: string, numbers: readonly number[]): Promise<void> {
  const agent = await openAgent(path.join(root, "agent"));
  for (const number of numbers) {
    await addMessage(agent, number, nothing);
    await addImage(agent, number);
  }
  await agent.close();
}

/** A configured agent with results. */
async function makeAgent(root: string): Promise<void> {
  fs.mkdirSync(path.join(root, "config"));
  fs.writeFileSync(path.join(root, KEY), KEY_TEXT, { mode: 0o600 });
  const devices = [{ id: "hl7-1", profile: "generic-hl7", connection: { listen: "127.0.0.1:2575" } }];
  const server = { url: "http://127.0.0.1:8080", keyFile: "./agent.key" };
  const config = { server, data: "../agent", timeZone: "Europe/Istanbul", devices };
  fs.writeFileSync(path.join(root, CONFIG), JSON.stringify(config), { mode: 0o600 });
  await addResults(root, SAVED);
}

/** @returns why a backup does not restore all saved results into an empty folder */
async function backupProblems(file: string, saved: readonly number[]): Promise<string[]> {
  const fresh = temporaryFolder();
  try {
    restoreBackup(file, checkBackup(file, AGENT_BACKUP, nothing), restoreTarget(fresh), false);
    return await agentProblems(fresh, marksOf(saved));
  } catch (error) {
    return [`${path.basename(file)} is not complete: ${String(error)}`];
  } finally {
    fs.rmSync(fresh, { recursive: true });
  }
}

const agentBackup: Change = {
  name: "a backup of the agent",
  async record() {
    return recordChange(makeAgent, (root, trace) => [
      trace("made", [AGENT, "backup", path.join(root, BACKUP), "--images", "--config", path.join(root, CONFIG)]),
    ]);
  },
  async check(root, told) {
    const file = path.join(root, BACKUP);
    const problems = await agentProblems(path.join(root, "agent"), marksOf(SAVED));
    if (fs.existsSync(file)) problems.push(...(await backupProblems(file, SAVED)));
    else if (told.has("made")) problems.push("the backup is missing");
    return problems;
  },
};

const scheduledBackup: Change = {
  name: "the backups of the schedule",
  async record() {
    const prepare = async (root: string) => {
      await makeAgent(root);
      fs.mkdirSync(path.join(root, "backups"));
    };
    return recordChange(prepare, (root, trace) => [trace(toldLines, scriptOf("backups", root))]);
  },
  async check(root, told) {
    const [data, folder] = [path.join(root, "agent"), path.join(root, "backups")];
    const names = fs.readdirSync(folder).filter(isBackupName);
    const problems = names.length === 0 && told.size > 0 ? ["every backup is missing"] : [];
    for (const name of names) problems.push(...(await backupProblems(path.join(folder, name), SAVED)));
    const isTold = readBackupState(data)?.succeeded !== undefined;
    const isHalf = !isTold && fs.existsSync(path.join(data, "backup.json"));
    if (isHalf || (told.size > 0 && !isTold)) problems.push("the outcome of the backups is lost");
    return [...problems, ...(await agentProblems(data, marksOf(SAVED)))];
  },
};

export function scriptOf(change: string, root: string): string[] {
  return [path.join(import.meta.dirname, "small-changes.ts"), change, root];
}

/** A folder whose images lack one of the backup, and have some that the backup does not know. */
async function makeAgentWithBackup(root: string): Promise<void> {
  await makeAgent(root);
  runAgentCommand("backup", path.join(root, BACKUP), "--images", "--config", path.join(root, CONFIG));
  await addResults(root, LATER);
  fs.rmSync(path.join(imageFolder(path.join(root, "agent")), missingImage(root)));
}

/** The file of the first saved image. */
function missingImage(root: string): string {
  const { members } = readManifest(path.join(root, BACKUP));
  return path.basename(members.find(({ name }) => name.endsWith(".dcm"))!.name);
}

const agentRestore: Change = {
  name: "a restore of the agent over existing data",
  async record() {
    return recordChange(makeAgentWithBackup, (root, trace) => [
      trace("restored", [AGENT, "restore", path.join(root, BACKUP), "--force", "--config", path.join(root, CONFIG)]),
    ]);
  },
  async check(root, told) {
    const data = path.join(root, "agent");
    finishRestore(data);
    const isNew = fs.readdirSync(data).some((name) => name.startsWith("before-restore-"));
    if (!isNew) {
      if (told.has("restored")) return ["the old data is still there"];
      const held = marksOf([...SAVED, ...LATER]).filter(({ mark }) => mark !== instanceUid(1));
      const problems = await agentProblems(data, held);
      if (problems.length > 0) return problems.map((problem) => `old data: ${problem}`);
      const file = path.join(root, BACKUP);
      restoreBackup(file, readManifest(file), restoreTarget(data), true);
    }
    return restoredProblems(data);
  },
};

/** @returns what a restored folder lacks, and what is missing among the old files */
async function restoredProblems(data: string): Promise<string[]> {
  const aside = fs.readdirSync(data).filter((name) => name.startsWith("before-restore-"));
  if (aside.length !== 1) return [`there are ${aside.length} folders of old files`];
  const restored = await agentProblems(data, marksOf(SAVED));
  const lacking = await agentProblems(data, marksOf(LATER));
  const old = [...marksOf(SAVED).filter(({ kind }) => kind === "message"), ...marksOf(LATER)];
  return [
    ...restored,
    ...(lacking.filter((problem) => problem.endsWith("0 times")).length === marksOf(LATER).length
      ? []
      : ["the restored data has later results"]),
    ...(await agentProblems(path.join(data, aside[0]!), old)).map((problem) => `old files: ${problem}`),
  ];
}

const newMachine: Change = {
  name: "a restore of the agent on a new machine",
  async record() {
    const prepare = async (root: string) => {
      await makeAgent(root);
      runAgentCommand("backup", path.join(root, BACKUP), "--images", "--config", path.join(root, CONFIG));
      for (const name of ["agent", "config"]) fs.rmSync(path.join(root, name), { recursive: true });
    };
    return recordChange(prepare, (root, trace) => [
      trace("restored", [AGENT, "restore", path.join(root, BACKUP), "--config", path.join(root, CONFIG)]),
    ]);
  },
  async check(root, told) {
    const [data, file] = [path.join(root, "agent"), path.join(root, BACKUP)];
    const manifest = readManifest(file);
    const hasConfig = fs.existsSync(path.join(root, CONFIG));
    if (!hasConfig) {
      if (told.has("restored")) return ["agent.yaml is missing"];
      restoreConfig(file, manifest, path.join(root, "config"));
    }
    const key = fs.existsSync(path.join(root, KEY)) ? fs.readFileSync(path.join(root, KEY), "utf8") : "nothing";
    const problems = key === KEY_TEXT ? [] : [`the key is ${key.length} characters long`];
    JSON.parse(fs.readFileSync(path.join(root, CONFIG), "utf8"));
    if (!told.has("restored")) restoreBackup(file, manifest, restoreTarget(data), false);
    return [...problems, ...(await agentProblems(data, marksOf(SAVED)))];
  },
};

const FIRST_KEY = "first.key";
const SECOND_KEY = "second.key";

/** Sets up a server with a key. */
function makeServer(data: string, keyFile: string): void {
  const clinic = path.join(path.dirname(data), "clinic.ndjson");
  fs.writeFileSync(clinic, clinicFile(testPatients(2)));
  runServerCommand("import", clinic, "--data", data);
  fs.writeFileSync(keyFile, runServerCommand("keys", "create", ...AGENT_KEY_OPTIONS, "--data", data).trim());
}

/** @returns the problems if this key has to work */
async function keyProblems(root: string, keyFile: string): Promise<string[]> {
  const mark = fs.readFileSync(path.join(root, keyFile), "utf8");
  return serverProblems(path.join(root, "server"), [{ mark, kind: "key", at: 0 }]);
}

const serverBackup: Change = {
  name: "a backup of the server",
  async record() {
    const prepare = async (root: string) => makeServer(path.join(root, "server"), path.join(root, FIRST_KEY));
    return recordChange(prepare, (root, trace) => [
      trace("made", [SERVER, "backup", path.join(root, BACKUP), "--data", path.join(root, "server")]),
    ]);
  },
  async check(root, told) {
    const [file, data] = [path.join(root, BACKUP), path.join(root, "server")];
    const problems = await keyProblems(root, FIRST_KEY);
    if (!fs.existsSync(file)) return told.has("made") ? ["the backup is missing"] : problems;
    fs.rmSync(data, { recursive: true });
    restoreBackup(file, checkBackup(file, SERVER_BACKUP, nothing), serverTarget(data), false);
    return [...problems, ...(await keyProblems(root, FIRST_KEY))];
  },
};

const serverRestore: Change = {
  name: "a restore of the server over another one",
  async record() {
    const prepare = async (root: string) => {
      const data = path.join(root, "server");
      makeServer(data, path.join(root, FIRST_KEY));
      runServerCommand("backup", path.join(root, BACKUP), "--data", data);
      fs.rmSync(data, { recursive: true });
      makeServer(data, path.join(root, SECOND_KEY));
    };
    return recordChange(prepare, (root, trace) => [
      trace("restored", [SERVER, "restore", path.join(root, BACKUP), "--force", "--data", path.join(root, "server")]),
    ]);
  },
  async check(root, told) {
    const data = path.join(root, "server");
    // The database shows which state it is. The other one's key must not work with it.
    finishRestore(data);
    const [isOld, isNew] = await Promise.all(
      [SECOND_KEY, FIRST_KEY].map(async (key) => (await keyProblems(root, key)).length === 0),
    );
    if (isOld === isNew || (isOld && told.has("restored"))) return [`old key: ${isOld}, restored key: ${isNew}`];
    if (isOld) {
      const file = path.join(root, BACKUP);
      restoreBackup(file, readManifest(file), serverTarget(data) satisfies RestoreTarget, true);
      return keyProblems(root, FIRST_KEY);
    }
    const aside = fs.readdirSync(data).find((name) => name.startsWith("before-restore-")) ?? "nowhere";
    const db = new Database(path.join(data, aside, "vetwire.db"));
    const keys = db.prepare("SELECT COUNT(*) FROM api_key").pluck().get();
    db.close();
    return keys === 1 ? [] : ["the old database is not among the old files"];
  },
};

export const CARE_CHANGES = [agentBackup, scheduledBackup, agentRestore, newMachine, serverBackup, serverRestore];
