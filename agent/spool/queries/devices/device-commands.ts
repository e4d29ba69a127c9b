import type Database from "better-sqlite3";
import type { Lock } from "../../../report/device-report.ts";

// The last command of a user for each device. The command line writes it, and the running agent sends it.

export interface DeviceCommand {
  readonly device: string;
  readonly command: Lock;
  readonly at: number;
  readonly state: "waiting" | "taken" | "refused";
  /** The reason why the device refused it. */
  readonly reason: string | null;
}

/** Part of operationsOn(). */
export function deviceCommandOperationsOn(db: Database.Database) {
  const select = db.prepare("SELECT value FROM meta WHERE key = ?").pluck();
  const upsert = db.prepare(
    "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  const deviceCommandOf = (device: string) => {
    const value = select.get(keyOf(device)) as string | undefined;
    return value === undefined ? null : (JSON.parse(value) as DeviceCommand);
  };
  const place = (command: DeviceCommand) => void upsert.run(keyOf(command.device), JSON.stringify(command));
  return {
    deviceCommandOf,

    placeDeviceCommand(command: DeviceCommand): void {
      place(command);
    },

    /** Records the outcome of a command, unless a newer command replaced it. */
    settleDeviceCommand(command: DeviceCommand): void {
      if (deviceCommandOf(command.device)?.at === command.at) place(command);
    },
  };
}

function keyOf(device: string): string {
  return `device-command:${device}`;
}
