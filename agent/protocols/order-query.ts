import type { Patient } from "../../shared/api/patient.ts";

// What an analyzer asks of the worklist and what it is answered, whatever protocol it asks by.

export interface OrderQuery {
  readonly samples: readonly QueriedSample[];
  /** The whole worklist. */
  readonly all: boolean;
  /** The worklist from when to when, as sent. */
  readonly from: string;
  readonly to: string;
  /** Only what the device has not had yet. */
  readonly newOnly: boolean;
  /** The animals without their orders. */
  readonly demographicsOnly: boolean;
  /** Results, of which a worklist has none. */
  readonly resultsOnly: boolean;
  /** Only these tests of each order, in capitals; none: all. */
  readonly tests: readonly string[];
  /** Why it cannot be answered, in which case the answer says just that. */
  readonly problem: string | null;
}

/** "" for what the device does not say. */
export interface QueriedSample {
  readonly patient: string;
  readonly specimen: string;
  /** All components as sent, where there are more: `rack^position^number` of a tray. */
  readonly place?: readonly string[];
}

/** One animal of an answer. */
export interface OrderReply {
  /** null: nobody we know; `asked` is whom the device asked for. */
  readonly patient: Patient | null;
  readonly asked: string;
  readonly orders: readonly RepliedOrder[];
}

export interface RepliedOrder {
  readonly specimen: string;
  /** Q: what the device asked for; Y: no order for this sample; Z: no such animal. */
  readonly report: "Q" | "Y" | "Z";
  readonly tests: readonly string[];
  /** It has more tests, which were not asked for. */
  readonly partial?: boolean;
  /** How the device named it, where that says more than its number. */
  readonly place?: readonly string[];
  /** `YYYYMMDDHHMMSS` of the device's zone; "" where there is no order. */
  readonly orderedAt: string;
}

/** A message for the device, and the orders that it has once it took it. */
export interface OrderMessage {
  readonly message: Uint8Array;
  readonly accessions: readonly string[];
}
