import { sql } from "kysely";
import { PARKED_MAX } from "../../../shared/api/agent/destinations.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { queueAt } from "./changes.ts";

// What a receiver refused, until a person sends it again or a later message settles it.

export interface DestinationQueue {
  readonly slug: string;
  readonly waiting: number;
  /** The newest first. */
  readonly parked: readonly ParkedDelivery[];
}

export interface ParkedDelivery {
  readonly id: number;
  readonly study_fp: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly code: string | null;
  readonly text: string | null;
}

/** The queues of the destinations that an agent names. */
export async function queuesOfAgent(session: Session, agentId: number): Promise<DestinationQueue[]> {
  const found: DestinationQueue[] = [];
  for (const { id, slug } of await session.all(destinationsOf, { agentId })) {
    const counted = await session.first(openOf, { destinationId: id });
    found.push({
      slug,
      waiting: Number(counted?.open ?? 0),
      parked: await session.all(parkedOf, { destinationId: id }),
    });
  }
  return found;
}

/** Queues refused deliveries again, in their order, as their studies are now. @returns how many were parked */
export async function sendAgain(
  session: Session,
  {
    destinationId,
    ids,
    now,
  }: { readonly destinationId: number; readonly ids: readonly number[]; readonly now: number },
): Promise<number> {
  let queued = 0;
  for (const id of ids.toSorted((a, b) => a - b)) {
    const parked = await session.first(settleAsRefused, { destinationId, id });
    if (parked === undefined) continue;
    await session.all(queueAt, { destinationId, fp: parked.study_fp, place: null, now });
    queued += 1;
  }
  return queued;
}

const destinationsOf = query((db, p: { agentId: number }) =>
  db
    .selectFrom("destination")
    .select(["id", "slug"])
    .where("agent_id", "=", p.agentId)
    .where("paused", "=", 0)
    .where("removed_at", "is", null)
    .orderBy("slug"),
);

const openOf = query((db, p: { destinationId: number }) =>
  db
    .selectFrom("destination_delivery")
    .select((select) => select.fn.countAll().as("open"))
    .where("destination_id", "=", p.destinationId)
    .where(sql<boolean>`state in ('new', 'retrying', 'sending')`),
);

/** The parked deliveries with the outcome of their last attempt. */
const parkedOf = query((db, p: { destinationId: number }) =>
  db
    .selectFrom("destination_delivery as delivery")
    .innerJoin("destination_attempt as attempt", (join) =>
      join.onRef("attempt.delivery_id", "=", "delivery.id").onRef("attempt.number", "=", "delivery.attempts"),
    )
    .select(["delivery.id", "delivery.study_fp", "attempt.code", "attempt.text"])
    .select(sql<number>`coalesce(attempt.ended_at, attempt.started_at)`.as("at"))
    .where("delivery.destination_id", "=", p.destinationId)
    .where(sql<boolean>`delivery.state = 'parked'`)
    .orderBy("delivery.id", "desc")
    .limit(PARKED_MAX),
);

const settleAsRefused = uncachedWrite((db, p: { destinationId: number; id: number }) =>
  db
    .updateTable("destination_delivery")
    .set({ state: "refused" })
    .where("destination_id", "=", p.destinationId)
    .where("id", "=", p.id)
    .where("state", "=", "parked")
    .returning("study_fp"),
);
