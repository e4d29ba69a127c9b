import { sql } from "kysely";
import { PARKED_MAX } from "../../../shared/api/agent/destinations.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { queueAt } from "./changes.ts";
import { readHeld } from "./held.ts";

// The results that a receiver refused or a person set aside, until a person sends them again or a later message settles them.

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

/**
 * Sets a delivery aside that blocks the later ones. One that is being sent has to end first, since its receiver may take it.
 * @returns false if it does not wait
 */
export async function setAside(
  session: Session,
  of: { readonly destinationId: number; readonly id: number; readonly now: number },
): Promise<boolean> {
  return (await session.all(park, of)).length > 0;
}

/**
 * Settles what was parked of a study before a message that the receiver took. A report that could not be taken back from another
 * animal stays parked: that animal still has it.
 */
export async function settleParked(
  session: Session,
  taken: Pick<Tables["destination_delivery"], "destination_id" | "study_fp" | "held"> & { readonly id: number },
): Promise<void> {
  const animal = taken.held === null ? null : readHeld(taken.held).patient_fp;
  for (const { id, held } of await session.all(parkedBefore, taken)) {
    const { patient_fp, withdrawn } = held === null ? { patient_fp: null, withdrawn: undefined } : readHeld(held);
    if (withdrawn === true && patient_fp !== animal) continue;
    await session.all(settleAsRefused, { destinationId: taken.destination_id, id });
  }
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
    .leftJoin("destination_attempt as attempt", (join) =>
      join.onRef("attempt.delivery_id", "=", "delivery.id").onRef("attempt.number", "=", "delivery.attempts"),
    )
    .select(["delivery.id", "delivery.study_fp", "attempt.code", "attempt.text"])
    .select(sql<number>`coalesce(attempt.ended_at, attempt.started_at, delivery.ended_at)`.as("at"))
    .where("delivery.destination_id", "=", p.destinationId)
    .where(sql<boolean>`delivery.state = 'parked'`)
    .orderBy("delivery.id", "desc")
    .limit(PARKED_MAX),
);

const park = uncachedWrite((db, p: { destinationId: number; id: number; now: number }) =>
  db
    .updateTable("destination_delivery")
    .set({ state: "parked", ended_at: p.now })
    .where("destination_id", "=", p.destinationId)
    .where("id", "=", p.id)
    .where("state", "in", ["new", "retrying"])
    .returning("id"),
);

const parkedBefore = query((db, p: { id: number; destination_id: number; study_fp: string }) =>
  db
    .selectFrom("destination_delivery")
    .select(["id", "held"])
    .where("study_fp", "=", p.study_fp)
    .where("destination_id", "=", p.destination_id)
    .where("id", "<", p.id)
    .where("state", "=", "parked"),
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
