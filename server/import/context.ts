export type Change = "new" | "changed" | "unchanged";

/** State that an import carries from entity to entity. */
export interface ImportContext {
  readonly now: number;
  /** Clinics whose clients have synchronised: to them each change gets the time at which they can see it. */
  readonly served: ReadonlySet<number>;
  /** Patients that this import made. Connecting them to a clinic that was never served keeps the file's times. */
  readonly newPatients: Set<number>;
  /** The clinic whose SOAP records this import may give to another clinic; null: no record changes its owner. */
  readonly recordOwnerId: number | null;
  /** Patients that `stampPatients` will give the time of the import's end. */
  readonly stamped: Set<number>;
}

export function missing(field: string, fp: string | null): { problem: string } {
  return { problem: `${field} is ${fp}, which is neither in the file nor in the database` };
}
