import type { Modality } from "../../shared/api/study.ts";

// A profile is a table that describes one model of device. Each protocol adds its own columns. How messages stand on the
// wire (`link`) is declared there too: the agent never guesses it.

/** The columns that profiles of every protocol have. */
export interface ProfileBase {
  readonly id: string;
  /** null: decided by the analytes, one study a modality. */
  readonly modality: Modality | null;
  /** Serial settings in which the device leaves its factory, where they are not LIS01's 9600 8N1. */
  readonly serial?: { readonly dataBits: 7; readonly parity: "none" | "even"; readonly stopBits: 1 | 2 };
  /** What may follow a value and is no part of it. */
  readonly valueSuffix?: RegExp;
}
