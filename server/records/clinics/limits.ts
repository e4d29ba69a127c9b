import type { AcceptedLimit, OfferedLimit } from "../../../shared/clinical/critical-limits.ts";

/** A decision of a clinic's vet: the limits that apply from now on, none included. */
export interface LimitDecision {
  readonly ids: readonly string[];
  /** The vet. */
  readonly by: string;
  readonly at: string;
}

/**
 * Returns the limits of a clinic after a decision. A limit that stays keeps its vet and its day, also if the catalogue no longer offers
 * it. Null if an id is neither accepted nor offered.
 */
export function limitsAfter(
  { ids, by, at }: LimitDecision,
  accepted: readonly AcceptedLimit[],
  offered: readonly OfferedLimit[],
): AcceptedLimit[] | null {
  const all = [...new Set(ids)].map((id) => {
    const kept = accepted.find((limit) => limit.id === id);
    if (kept !== undefined) return kept;
    const limit = offered.find((each) => each.id === id);
    return limit && acceptedFrom(limit, by, at);
  });
  return all.includes(undefined) ? null : all.filter((limit) => limit !== undefined);
}

function acceptedFrom(limit: OfferedLimit, by: string, at: string): AcceptedLimit {
  const { basis: _basis, text: _text, source_url: _url, grade: _grade, note: _note, ...fields } = limit;
  return { ...fields, accepted_by: by, accepted_at: at };
}
