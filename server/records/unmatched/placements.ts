import type { PlacementList } from "../../../shared/api/agent/agent-lists.ts";
import { query, type Session } from "../../database/query.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";

const LISTED_MAX = 200;

// The names of `GET /agent/v1/placements` are those of agents in use: there "desk" means unmatched.

/** A position in the list: the time of a change, in ms since 1970, and the id of its study. */
export interface PlacementPosition {
  readonly at: number;
  readonly id: number;
}

/** Lists where a clinic's pushed studies are that were changed here after a position, the earliest change first. */
export async function listPlacements(
  session: Session,
  clinicId: number,
  after: PlacementPosition,
): Promise<PlacementList> {
  const rows = await session.all(changedHere, { clinicId, ...after, limit: LISTED_MAX + 1 });
  const items = rows.slice(0, LISTED_MAX).map(({ fp, patient_id, rejected_reason, received_at }) => ({
    fp,
    place: placeOf(patient_id, rejected_reason !== null),
    updated_at: timestampOf(received_at),
  }));
  const last = rows[LISTED_MAX - 1];
  return { items, next: last === undefined || rows.length <= LISTED_MAX ? null : `${last.received_at}.${last.id}` };
}

function placeOf(patientId: number | null, isRejected: boolean): PlacementList["items"][number]["place"] {
  if (patientId !== null) return "patient";
  return isRejected ? "rejected" : "desk";
}

const changedHere = query((db, p: PlacementPosition & { clinicId: number; limit: number }) =>
  db
    .selectFrom("study")
    .select(["id", "fp", "patient_id", "rejected_reason", "received_at"])
    .where("clinic_id", "=", p.clinicId)
    .where((where) => where(where.refTuple("received_at", "id"), ">", where.tuple(p.at, p.id)))
    .where("cause", "!=", "pushed")
    .orderBy("received_at")
    .orderBy("id")
    .limit(p.limit),
);
