import type { Logger } from "pino";
import type { SharedCounters } from "../store/rate-limit-counters.ts";
import type { Store } from "../store/database/store.ts";
import type { SetupCode } from "./auth/setup-code.ts";

/** Dependencies of the dashboard's routes. */
export interface DashboardContext {
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly logger: Logger;
  /** The secret of the key digests. */
  readonly pepper: Buffer;
  readonly counters: SharedCounters;
  /** Present until the first user exists. */
  readonly setupCode: SetupCode | undefined;
}
