// The units in which results are read.

export const UNIT_SYSTEMS = ["conventional", "si"] as const;
export type UnitSystem = (typeof UNIT_SYSTEMS)[number];

export interface UnitChoice {
  /** Null shows each result in the unit that was sent. */
  readonly system: UnitSystem | null;
  /** Units of single analytes, by their code in the catalogue. */
  readonly exceptions: Readonly<Record<string, string>>;
}

/** Each result as it was sent. */
export const AS_SENT: UnitChoice = { system: null, exceptions: {} };

/** Reads a stored choice. Without one (null) each result stays as it was sent. */
export function readUnitChoice(stored: string | null): UnitChoice {
  return stored === null ? AS_SENT : (JSON.parse(stored) as UnitChoice);
}
