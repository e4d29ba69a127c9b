import type Database from "better-sqlite3";
import type { Lock } from "../../report/device-report.ts";

// What the spool keeps of the words that a person has for a device, which another process hands over.

export interface Directive {
  readonly device: string;
  readonly command: Lock;
  readonly at: number;
  readonly state: "waiting" | "taken" | "refused";
  /** Why the device refused it. */
  readonly reason: string | null;
}

/** Part of operationsOn(): each runs inside the transaction of a group commit. */
export function directiveOperationsOn(db: Database.Database) {
  const select = db.prepare("SELECT value FROM meta WHERE key = ?").pluck();
  const upsert = db.prepare(
    "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  const directiveOf = (device: string) => {
    const value = select.get(keyOf(device)) as string | undefined;
    return value === undefined ? null : (JSON.parse(value) as Directive);
  };
  return {
    directiveOf,

    placeDirective(directive: Directive): void {
      upsert.run(keyOf(directive.device), JSON.stringify(directive));
    },

    /** Unless another was typed meanwhile. */
    settleDirective(directive: Directive): void {
      if (directiveOf(directive.device)?.at === directive.at) {
        upsert.run(keyOf(directive.device), JSON.stringify(directive));
      }
    },
  };
}

function keyOf(device: string): string {
  return `directive:${device}`;
}
