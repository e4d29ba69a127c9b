import type { PlacementList } from "../../../shared/api/placements.ts";
import { query, type Session } from "../database/query.ts";
import { timestampOf } from "./study-content.ts";

const LISTED_MAX = 200;

/** Lists where a clinic's pushed studies are that were changed here since a time (ms since 1970), the earliest change first. */
export async function listPlacements(session: Session, clinicId: number, since: number): Promise<PlacementList> {
  const rows = await session.all(changedHere, { clinicId, since, limit: LISTED_MAX + 1 });
  const items = rows.slice(0, LISTED_MAX).map(({ fp, patient_id, rejected_reason, received_at }) => ({
    fp,
    place:
      patient_id !== null ? ("patient" as const) : rejected_reason === null ? ("desk" as const) : ("rejected" as const),
    updated_at: timestampOf(received_at),
  }));
  return { items, has_more: rows.length > LISTED_MAX };
}

const changedHere = query((db, p: { clinicId: number; since: number; limit: number }) =>
  db
    .selectFrom("study")
    .select(["fp", "patient_id", "rejected_reason", "received_at"])
    .where("clinic_id", "=", p.clinicId)
    .where("received_at", ">=", p.since)
    .where("cause", "!=", "pushed")
    .orderBy("received_at")
    .orderBy("id")
    .limit(p.limit),
);
