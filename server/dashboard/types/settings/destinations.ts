// Destinations of a clinic's results: practice software that gets HL7 messages, or a folder that gets CSV files.

export type DestinationKind = "hl7" | "csv";

/**
 * State of a delivery: `new` waits for its turn, `sending` is under way, `retrying` waits for the next attempt. `parked` was refused
 * or set aside and waits for a person, `refused` was refused and is dealt with. `replaced` gave way to a newer revision before it was acknowledged.
 */
export type DestinationState = "new" | "sending" | "retrying" | "acknowledged" | "parked" | "refused" | "replaced";

/** How an attempt ended. A refused message is not sent again by itself. */
export type DeliveryOutcome = "acknowledged" | "refused" | "failed";

/** The expectations of the site of a destination. */
export interface DestinationOptions {
  /** Order of the names in PID-5: `owner_first` is owner^animal. */
  name_order: "owner_first" | "animal_first";
  /** Whether OBX-3 has the local code first and LOINC second. */
  local_first: boolean;
  /** Whether the report is the last OBX of a message. */
  pdf: boolean;
  /** MSH-5 and MSH-6; empty without one. */
  application: string;
  facility: string;
}

export const DEFAULT_OPTIONS: DestinationOptions = {
  name_order: "owner_first",
  local_first: false,
  pdf: false,
  application: "",
  facility: "",
};

/** Most destinations of a clinic that the server reaches itself. */
export const DESTINATIONS_MAX = 10;

export interface DestinationRow {
  id: string;
  /** The name that a user gave it, or its id in agent.yaml. */
  name: string;
  kind: DestinationKind;
  /** Null for a destination of an agent. */
  address: string | null;
  /** The clinic PC that delivers; null for the server. */
  agent: string | null;
  /** False while a clinic PC names it. */
  removable: boolean;
  paused: boolean;
  options: DestinationOptions;
  waiting: number;
  parked: number;
  /** Since when the oldest waits. */
  oldest_at: string | null;
  acknowledged_at: string | null;
}

export interface DestinationList {
  destinations: DestinationRow[];
  /** Whether the operator allows addresses in the local network. */
  private_allowed: boolean;
}

export interface DestinationAttempt {
  number: number;
  at: string;
  outcome: DeliveryOutcome | null;
  code: string | null;
  text: string | null;
}

export interface DestinationDelivery {
  id: number;
  study_fp: string;
  state: DestinationState;
  changed_at: string;
  next_at: string | null;
  /** The last ones, the newest first. */
  attempts: DestinationAttempt[];
}

export interface DestinationPage {
  destination: DestinationRow;
  waiting: DestinationDelivery[];
  parked: DestinationDelivery[];
}

/** The outcome of a test connection; `code` is null if it opened. */
export interface DestinationTest {
  code: string | null;
  text: string | null;
}
