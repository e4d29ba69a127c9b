import type { AcceptedLimit, LimitException, OfferedLimit } from "../../../../shared/clinical/critical-limits.ts";

// The critical limits that a clinic may accept, as the settings show them.

type Fields = Omit<AcceptedLimit, "accepted_by" | "accepted_at">;

export interface LimitShown extends Fields {
  /** The catalogue's entry; null if it offers the limit no longer. */
  offer: Pick<OfferedLimit, "basis" | "source_url" | "grade"> | null;
  /** Animals and samples in which it does not apply. */
  exceptions: LimitException["id"][];
  accepted: { by: string; at: string } | null;
  /** The bounds in the reader's unit, as people write it; null if they are in it already. */
  shown: { low?: string; high?: string; unit: string } | null;
}

/** The response to `GET .../ranges/limits`. */
export interface LimitsInUse {
  /** Version of the clinic's intervals and limits; null if it has neither. */
  version: string | null;
  /** Whether somebody decided, for some limits or none. */
  is_decided: boolean;
  limits: LimitShown[];
}

/** The body of `PUT .../ranges/limits`: all limits that apply from now on, by id. */
export interface LimitsBody {
  ids: string[];
  /** Name of the vet who accepts them. */
  by: string;
  /** The version that the user saw. */
  replaces: string | null;
}
