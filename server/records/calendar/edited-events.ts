import type { ListedEvent, SeenEvent } from "../../dashboard/types/calendar.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";

// Checks of a changed event: the facts that a user may change, and the other events at its time.

/** @returns why the facts of the event stay as they are, else null */
export function editProblem(stored: ListedEvent, seen: SeenEvent): Refusal | null {
  if (stored.source !== null) return refusal("EVENT.OF_SOFTWARE", stored.source);
  const { title, type, status, start_at, end_at, patient, assigned_user_fp } = stored;
  const current: SeenEvent = {
    ...{ title, type, status, start_at, end_at },
    ...{ patient_fp: patient?.fp ?? null, assigned_user_fp },
  };
  const changed = (Object.keys(current) as (keyof SeenEvent)[]).filter((field) => current[field] !== seen[field]);
  return changed.length === 0 ? null : refusal("EVENT.CHANGED", ...changed);
}

/** @returns why the last step of the event is not undone, else null */
export function undoProblem(stored: ListedEvent, from: ListedEvent["status"]): Refusal | null {
  const { status, previous_status, source } = stored;
  if (status !== from) return refusal("EVENT.CHANGED", "status");
  if (previous_status !== null) return null;
  return source !== null && status === "CANCELLED"
    ? refusal("EVENT.CANCELLED_BY_SOFTWARE", source)
    : refusal("EVENT.NO_STEP_BACK");
}

/** An event before it is saved. */
interface Planned {
  /** The fp of the event that is edited; null for a new one. */
  readonly edited: string | null;
  readonly patient_fp: string | null;
  /** Null without anybody responsible. */
  readonly assigned: string | null;
}

/**
 * Keeps the events of the same time that get in the way of a planned one: those of the same animal or person, and all if one of the
 * two events names nobody.
 */
export function overlapping(during: readonly ListedEvent[], { edited, patient_fp, assigned }: Planned): ListedEvent[] {
  return during.filter(({ fp, patient, assigned_user_fp }) => {
    if (fp === edited) return false;
    if (assigned === null || assigned_user_fp === null || assigned === assigned_user_fp) return true;
    return patient !== null && patient.fp === patient_fp;
  });
}
