import { Type } from "typebox";
import { textForm } from "../../shared/schema/text-form.ts";
import type { BackupState } from "../../shared/platform/care/backup-state.ts";
import type { DashboardContext } from "../dashboard/context.ts";
import { REASON_CHARS } from "../dashboard/types/operator.ts";

/** The reason for a look into a clinic's data, which its audit has. */
export const Reason = Type.String({
  minLength: REASON_CHARS.min,
  maxLength: REASON_CHARS.max,
  pattern: textForm("\\S", "text that is not blank"),
});

/** The part of the context that only a server with an operator's console has. */
export interface Hosting {
  /** Returns the outcome of the server's backups; null if it knows of none. */
  readonly backups: () => BackupState | null;
  /** Whether this server does the periodic work of all on its database now. */
  readonly isLeader: () => boolean;
}

/** Dependencies of the console's routes. */
export type OperatorContext = Pick<
  DashboardContext,
  | "store"
  | "now"
  | "logger"
  | "pepper"
  | "counters"
  | "limiter"
  | "network"
  | "singleSignOn"
  | "releaseFolder"
  | "oldestBackup"
> &
  Hosting;
