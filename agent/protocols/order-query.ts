import type { Patient } from "../../shared/api/patient.ts";

// Order query of an analyzer and its reply, independent of the protocol.

export interface OrderQuery {
  readonly samples: readonly QueriedSample[];
  /** The query covers all open orders. */
  readonly all: boolean;
  /** Start and end of the requested period, as sent. */
  readonly from: string;
  readonly to: string;
  /** Only orders that the device has not received yet. */
  readonly newOnly: boolean;
  /** Only patients, without their orders. */
  readonly demographicsOnly: boolean;
  /** Only results, which the host does not have. */
  readonly resultsOnly: boolean;
  /** Requested tests in upper case; empty for all tests of each order. */
  readonly tests: readonly string[];
  /** Reason why the query gets no orders; null for a valid query. */
  readonly problem: string | null;
}

/** Sample that the query names. Fields that the device leaves out are "". */
export interface QueriedSample {
  readonly patient: string;
  readonly specimen: string;
  /** All components as sent, if there are more: `rack^position^number` of a tray. */
  readonly rackPosition?: readonly string[];
}

export interface OrderReply {
  /** null for an unknown patient. `asked`: the identifier that the device sent. */
  readonly patient: Patient | null;
  readonly asked: string;
  readonly orders: readonly RepliedOrder[];
}

export interface RepliedOrder {
  readonly specimen: string;
  /** Report type. Q: reply to the query; Y: no order for this sample; Z: unknown patient. */
  readonly report: "Q" | "Y" | "Z";
  readonly tests: readonly string[];
  /** The order has more tests than the query requests. */
  readonly partial?: boolean;
  /** Rack position and number as the device sent them, if it sent more than the number. */
  readonly rackPosition?: readonly string[];
  /** `YYYYMMDDHHMMSS` in the device's zone; "" without an order. */
  readonly orderedAt: string;
}

/** Message for the device, and the accessions that it holds after accepting it. */
export interface OrderMessage {
  readonly message: Uint8Array;
  readonly accessions: readonly string[];
}
