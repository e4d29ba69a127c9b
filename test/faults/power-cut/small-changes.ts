import path from "node:path";
import { backupSource } from "../../../agent/backup-source.ts";
import { loadConfig } from "../../../agent/config/load.ts";
import { readText, writeText } from "../../../agent/config/config-file.ts";
import { scheduleBackups } from "../../../shared/platform/care/scheduled-backup.ts";

// Changes of the disk that no command makes alone: the backups of the schedule, and the texts of agent.yaml that page and server
// write. argv: the change, the folder.

const [, , change, root] = process.argv as [string, string, string, string];
const DAY_MS = 24 * 60 * 60_000;
const realNow = Date.now;
const say = (word: string) => process.stdout.write(`told ${word} ${realNow()}\n`);

/** Two backups, a day apart, of which one stays. */
async function scheduledBackups(): Promise<void> {
  const loaded = loadConfig(path.join(root, "config/agent.yaml"));
  if ("problems" in loaded) throw new Error(JSON.stringify(loaded.problems));
  const source = backupSource(loaded.config, true);
  const schedule = { folder: path.join(root, "backups"), at: "03:30", keep: 1 };
  for (const day of [1, 2]) {
    Date.now = () => realNow() + day * DAY_MS;
    let end: (error: string | null) => void = () => undefined;
    const ended = new Promise<string | null>((resolve) => (end = resolve));
    const scheduled = scheduleBackups(
      schedule,
      () => source,
      ({ error }) => end(error),
      10,
    );
    const error = await ended;
    if (error !== null) throw new Error(error);
    say(`backup-${day}`);
    await scheduled.stop();
  }
}

function configurations(): void {
  const file = path.join(root, "new/config/agent.yaml");
  for (const nth of [1, 2, 3, 4]) {
    writeText(file, `# ${nth}\n`.repeat(500), readText(file));
    say(`text-${nth}`);
  }
}

// The timers of the schedule keep no process alive.
const alive = setInterval(() => undefined, 1_000);
await (change === "backups" ? scheduledBackups() : configurations());
clearInterval(alive);
