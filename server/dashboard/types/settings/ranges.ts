import type { ClinicRange } from "../../../../shared/clinical/clinic-ranges.ts";

// The clinic's own reference intervals, as the settings show them.

/** The response to `GET .../ranges`. */
export interface RangesInUse {
  /** Null if the clinic never imported any. */
  version: string | null;
  /** Whether published intervals of quality C and D apply, too. */
  low_quality: boolean;
  rows: ClinicRange[];
  /** The rows whose unit is not the reader's, by their ids, in the reader's. */
  shown: Record<string, ShownRange>;
  /** The species of a row with their subgroups, and whether a row needs one. */
  animals: { species: ClinicRange["species"]; subgroups: string[]; needs_subgroup: boolean }[];
}

/** The bounds of a row as a page prints them. */
export interface ShownRange {
  interval: string;
  /** The limit with its sign; empty without one. */
  critical_low: string;
  critical_high: string;
  unit: string;
}

export interface ChangedRange {
  /** The row as it would be. */
  row: ClinicRange;
  /** Its fields that would change; null for an absent one. */
  fields: {
    field: keyof ClinicRange;
    from: string | null;
    to: string | null;
    /** A bound with its unit, as the reader has it. */
    shown?: { from: string | null; to: string | null };
  }[];
}

/** The difference that an import makes, by the ids of the rows. */
export interface RangeDifference {
  added: ClinicRange[];
  removed: ClinicRange[];
  changed: ChangedRange[];
  unchanged: number;
}

/** A difference as the settings show it. */
export interface RangeChanges extends RangeDifference {
  /** The added and the removed rows whose unit is not the reader's, by their ids, in the reader's. */
  shown: Record<string, ShownRange>;
}

/** The body of `POST .../ranges/preview`. */
export interface PreviewBody {
  /** The content of the file. */
  text: string;
}

/** The response to it: the faults of the file with their lines, or what would change. */
export type RangePreview =
  | { state: "faulty"; problems: string[]; total: number }
  | { state: "valid"; changes: RangeChanges };

/** The body of `PUT .../ranges`. */
export interface ImportBody extends PreviewBody {
  low_quality: boolean;
  /** The version that the preview was compared with. */
  replaces: string | null;
}
