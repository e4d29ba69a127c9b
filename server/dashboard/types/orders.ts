import type { NamedPatient } from "./records.ts";

// Orders of tests, as the pages show and write them. Times are those of the API.

/**
 * `ordered`: no device has it. `offered`: a device got it. `in progress`: some of its tests have results. `not run`: it has none for
 * hours. `without order`: results that answer no order of this server.
 */
export type OrderState = "ordered" | "offered" | "in progress" | "resulted" | "cancelled" | "not run" | "without order";

export interface ListedOrder {
  fp: string;
  accession: string;
  state: Exclude<OrderState, "without order">;
  patient: NamedPatient;
  panel: string | null;
  tests: string[];
  /** Tests of the catalogue without a result, once there are results. */
  missing: string[];
  /** Null for any device. */
  device: string | null;
  /** Number in the software that sent it. */
  placer_number: string | null;
  ordered_at: string;
  /** The user who ordered it; null for software. */
  by: string | null;
  offered_at: string | null;
  cancelled_at: string | null;
  /** Fps of its studies, the newest first. */
  studies: string[];
  /** The study that a user attached by its last change, so that it can be detached. */
  attached: string | null;
}

/** A filed study of the clinic's devices without an order. */
export interface UnorderedStudy {
  /** The user who marked it as settled, charged or not; null while it is open. */
  charged: { by: string; at: string } | null;
  fp: string;
  patient: NamedPatient;
  device_name: string;
  acquired_at: string;
}

/** Tests that the clinic orders together, by name. */
export interface Panel {
  name: string;
  tests: string[];
  device: string | null;
}

/** The response to `GET orders`: the newest orders of 30 days. */
export interface OrdersBody {
  orders: ListedOrder[];
  /** Empty for a clinic without orders: it does not use them. */
  without_order: UnorderedStudy[];
  /** Hours without results after which an order counts as not run. */
  not_run_hours: number;
}

/** Numbers of orders for the page of today. */
export interface OrderCounts {
  /** Orders that no device has run yet, a while ago or less. */
  ordered: number;
  running: number;
  not_run: number;
  /** Results without an order whose charge is open. */
  without_order: number;
  not_run_hours: number;
}

/** The response to `GET orders/choices`. */
export interface OrderChoices {
  /** Ids of the devices that the clinic's agents report, with their names. */
  devices: { id: string; name: string }[];
  panels: Panel[];
  /** The catalogue: a code and all names of each analyte, the one for people first. */
  analytes: { code: string; names: string[] }[];
}

/** The response to `POST orders`. */
export interface OrderPlaced {
  fp: string;
  accession: string;
}

/** The body of `POST orders`. */
export interface NewOrder {
  patient_fp: string;
  device: string | null;
  panel: string | null;
  tests: string[];
}

/** The body of `POST orders/<fp>/attach` and `.../detach`. */
export interface OrderAttach {
  study_fp: string;
}

/** The body of `PUT orders/without-order/<fp of the study>`. */
export interface ChargeBody {
  charged: boolean;
}
