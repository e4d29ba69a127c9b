import type { DashboardContext } from "../dashboard/context.ts";

/** The part of the context that only a server with an operator's console has. */
export interface Hosting {
  /** Returns the time of the last backup of the server; null if it knows of none. */
  readonly lastBackup: () => string | null;
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
