import type { StockHistory } from "../records/inventory/imported-movements.ts";

/** State of one import. */
export interface ImportContext {
  /** Start of the import. */
  readonly now: number;
  readonly clock: () => number;
  /** Clinics whose clients have synchronised. Their changed patients get the time of the import, so that the next sync finds them. */
  readonly served: ReadonlySet<number>;
  /**
   * Id of the newest patient before this import, which creates those of later ids. Connecting a new patient to a clinic without a
   * sync keeps the times of the file. A set of the new ids would grow with the file.
   */
  readonly lastPatientId: number;
  /** Clinic whose SOAP records the import may move to another clinic; null if no record may change its owner. */
  readonly recordOwnerId: number | null;
  /** The last movement of each item that the import has compared, by the fp of the item. */
  readonly histories: Map<string, StockHistory>;
}

export function missing(field: string, fp: string | null): { problem: string } {
  return { problem: `${field} is ${fp}, which is neither in the file nor in the database` };
}
