import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { BackupSource } from "../../../../shared/platform/care/backup.ts";
import { type BackupAttempt, readBackupState } from "../../../../shared/platform/care/backup-state.ts";
import { scheduleBackups } from "../../../../shared/platform/care/scheduled-backup.ts";
import { temporaryFolder, until } from "../../../support/machine/processes.ts";

const CHECK_MS = 20;

function clinic() {
  const root = temporaryFolder();
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  const [data, folder] = ["data", "backups"].map((name) => path.join(root, name)) as [string, string];
  for (const each of [data, folder]) fs.mkdirSync(each);
  return { data, folder };
}

function sourceOf(folder: string): BackupSource {
  const db = new Database(path.join(folder, "app.db"));
  db.exec("CREATE TABLE IF NOT EXISTS meta (key TEXT, value TEXT)");
  db.close();
  const identity = { program: "agent", version: "1", schema: 1 } as const;
  return { ...identity, folder, database: "app.db", files: [], images: null };
}

/** Runs the schedule until it reports an attempt. */
async function attemptOf(data: string, folder: string, keep: number): Promise<BackupAttempt> {
  const attempts: BackupAttempt[] = [];
  const schedule = { folder, at: "03:30", keep };
  const source = sourceOf(data);
  const backups = scheduleBackups(
    schedule,
    () => source,
    (attempt) => attempts.push(attempt),
    CHECK_MS,
  );
  const [attempt] = await until("an attempt", () => (attempts.length > 0 ? attempts : null));
  await new Promise((resolve) => setTimeout(resolve, 5 * CHECK_MS));
  await backups.stop();
  expect(attempts.length).toBe(1);
  expect(backups.state()?.last).toEqual(attempt);
  return attempt!;
}

/** Makes the next backup due. */
const forget = (data: string) => fs.rmSync(path.join(data, "backup.json"));

test("the newest backups of a data folder stay, and those of another one too", async () => {
  const { data, folder } = clinic();
  const other = clinic();
  await attemptOf(other.data, folder, 2);
  const [others] = fs.readdirSync(folder);
  fs.writeFileSync(path.join(folder, "notes.txt"), "");
  const made: string[] = [];
  for (let day = 0; day < 3; day++) {
    // Names have seconds.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const { file, error, bytes } = await attemptOf(data, folder, 2);
    expect([error, bytes]).toEqual([null, fs.statSync(file).size]);
    made.push(path.basename(file));
    forget(data);
  }
  expect(fs.readdirSync(folder).toSorted((a, b) => a.localeCompare(b))).toEqual(
    [...made.slice(1), others, "notes.txt"].toSorted((a, b) => String(a).localeCompare(String(b))),
  );
});

test("a backup of a clock that was ahead is the first to go, not the ones made after it", async () => {
  const { data, folder } = clinic();
  const made: string[] = [];
  for (let day = 0; day < 3; day++) {
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const { file, error } = await attemptOf(data, folder, 2);
    expect(error).toBeNull();
    made.push(path.basename(file));
    forget(data);
    const ahead = file.replace(/-20\d\d-/, "-2099-");
    if (day === 0) fs.renameSync(file, ahead);
  }
  expect(fs.readdirSync(folder).toSorted((a, b) => (a < b ? -1 : 1))).toEqual(made.slice(1));
});

test("a failure is stored with its remedy and the last success, and is not repeated immediately", async () => {
  const { data, folder } = clinic();
  const succeeded = await attemptOf(data, folder, 7);
  const state = JSON.parse(fs.readFileSync(path.join(data, "backup.json"), "utf8")) as { succeeded: { at: string } };
  state.succeeded.at = "2026-01-01T00:00:00.000Z";
  fs.writeFileSync(path.join(data, "backup.json"), JSON.stringify(state));
  fs.renameSync(folder, `${folder}-unplugged`);
  const failed = await attemptOf(data, folder, 7);
  const error = `${folder} cannot be used (ENOENT), the folder is missing: plug in its disk or create the folder`;
  expect(failed).toMatchObject({ bytes: null, error });
  expect(readBackupState(data)).toEqual({ last: failed, succeeded: { ...succeeded, at: state.succeeded.at } });
  expect(fs.existsSync(folder)).toBe(false);
});

test("a stop ends a backup under way, and an abandoned part is removed a day later", async () => {
  const { data, folder } = clinic();
  const part = path.join(folder, "vetwire-agent-desk-2026-11-20T03-30-00Z.backup.partial");
  fs.writeFileSync(part, "");
  await attemptOf(data, folder, 7);
  expect(fs.existsSync(part)).toBe(true);
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  fs.utimesSync(part, yesterday, yesterday);
  forget(data);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await attemptOf(data, folder, 7);
  expect(fs.existsSync(part)).toBe(false);

  forget(data);
  const source = sourceOf(data);
  let [calls, reports] = [0, 0];
  let stopped: Promise<void> | undefined;
  const backups = scheduleBackups(
    { folder, at: "03:30", keep: 7 },
    () => {
      // The second call is that of a backup which begins.
      if (++calls === 2) queueMicrotask(() => void (stopped = backups.stop()));
      return source;
    },
    () => (reports += 1),
    CHECK_MS,
  );
  await until("the stop", () => stopped !== undefined);
  await stopped;
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(reports).toBe(0);
});
