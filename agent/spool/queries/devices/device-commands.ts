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
  return {
    deviceCommandOf,

    placeDeviceCommand(directive: DeviceCommand): void {
      upsert.run(keyOf(directive.device), JSON.stringify(directive));
    },

    /** Records the outcome of a command, unless a newer command replaced it. */
    settleDeviceCommand(directive: DeviceCommand): void {
      if (deviceCommandOf(directive.device)?.at === directive.at) {
        upsert.run(keyOf(directive.device), JSON.stringify(directive));
      }
    },
  };
}

function keyOf(device: string): string {
  return `device-command:${device}`;
}
