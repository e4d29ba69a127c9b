import { type Kysely, sql } from "kysely";
import { timestampOf, timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type {
  DestinationDelivery,
  DestinationRow,
  DestinationState,
} from "../../dashboard/types/settings/destinations.ts";
import { readAttempts } from "./attempts.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { endAttempted, optionsOf, type StoredDestination } from "./destinations.ts";

// The destinations of a clinic for its people: what waits, what was refused, and how long. One of another clinic counts as missing.

/** Lists the destinations of a clinic, the oldest first. */
export async function listDestinations(session: Session, clinicId: number): Promise<DestinationRow[]> {
  return (await session.all(ofClinic, { clinicId, id: "" })).map(toRow);
}

export async function findDestination(
  session: Session,
  of: { readonly clinicId: number; readonly id: string },
): Promise<{ readonly stored: StoredDestination; readonly row: DestinationRow } | undefined> {
  const found = await session.first(ofClinic, of);
  return found && { stored: found, row: toRow(found) };
}

/** Max rows of each list of a queue. */
const SHOWN_MAX = 50;

/** Lists what waits, the next one first, and what was refused, the newest first. */
export async function readQueue(
  session: Session,
  destinationId: number,
): Promise<{ waiting: DestinationDelivery[]; parked: DestinationDelivery[] }> {
  const shown = async (rows: readonly DeliveryOfQueue[]): Promise<DestinationDelivery[]> =>
    Promise.all(
      rows.map(async ({ id, study_fp, state, changed_at, next_at }) => ({
        ...{ id, study_fp, state, changed_at: timestampOf(changed_at) },
        next_at: state === "retrying" ? timestampOf(next_at) : null,
        attempts: await readAttempts(session, id),
      })),
    );
  return {
    waiting: await shown(await session.all(waitingOf, { destinationId })),
    parked: await shown(await session.all(parkedOf, { destinationId })),
  };
}

/** The facts that the alerts of a clinic need. */
export interface QueueFacts {
  readonly clinic_id: number;
  readonly public_id: string;
  readonly slug: string;
  readonly parked: number;
  readonly parked_since: number | null;
  readonly waiting: number;
  /** Since when the oldest waits; null if none does, or if the destination is paused. */
  readonly oldest: number | null;
}

/** Reads the queues of all clinics that hold something. */
export async function readQueueFacts(session: Session): Promise<QueueFacts[]> {
  return (await session.all(heldQueues, {})).map(({ paused, oldest, parked, waiting, ...row }) => ({
    ...{ ...row, parked: Number(parked), waiting: Number(waiting), oldest: paused === 1 ? null : oldest },
  }));
}

export async function pauseDestination(session: Session, id: number, isPaused: boolean): Promise<void> {
  await session.all(pause, { id, paused: isPaused ? 1 : 0 });
}

export async function setDestinationOptions(session: Session, id: number, options: string): Promise<void> {
  await session.all(setOptions, { id, options });
}

/** Removes a destination. What it got and what was tried stay as proof. */
export async function removeDestination(session: Session, id: number, now: number): Promise<void> {
  await session.all(endAttempted, { destinationId: id, now });
  await session.all(dropNew, { id });
  await session.all(remove, { id, now });
}

interface DeliveryOfQueue {
  readonly id: number;
  readonly study_fp: string;
  readonly state: DestinationState;
  readonly changed_at: number;
  readonly next_at: number;
}

function toRow(row: StoredDestination & CountsOfQueue): DestinationRow {
  return {
    ...{ id: row.public_id, name: row.slug, kind: row.kind, address: row.address, paused: row.paused === 1 },
    ...{ agent: row.agent, options: optionsOf(row), waiting: Number(row.waiting), parked: Number(row.parked) },
    removable: row.agent === null || row.paused === 1 || row.agent_revoked_at !== null,
    oldest_at: timestampOrNull(row.oldest),
    acknowledged_at: timestampOrNull(row.acknowledged_at),
  };
}

interface CountsOfQueue {
  readonly agent: string | null;
  readonly agent_revoked_at: number | null;
  readonly waiting: number | null;
  readonly oldest: number | null;
  readonly parked: number | null;
  readonly parked_since: number | null;
  readonly acknowledged_at: number | null;
}

const OPEN = sql<boolean>`delivery.state in ('new', 'retrying', 'sending')`;
const PARKED = sql<boolean>`delivery.state = 'parked'`;

const ofDestination = (db: Kysely<Tables>) =>
  db.selectFrom("destination_delivery as delivery").where(sql<boolean>`delivery.destination_id = destination.id`);

/** The results that wait in a queue, and those that were refused. */
function queueCounts(db: Kysely<Tables>) {
  return [
    ofDestination(db)
      .where(OPEN)
      .select((each) => each.fn.countAll<number>().as("total"))
      .as("waiting"),
    ofDestination(db)
      .where(OPEN)
      .select((each) => each.fn.min("delivery.changed_at").as("at"))
      .as("oldest"),
    ofDestination(db)
      .where(PARKED)
      .select((each) => each.fn.countAll<number>().as("total"))
      .as("parked"),
    ofDestination(db)
      .where(PARKED)
      .select((each) => each.fn.min("delivery.ended_at").as("at"))
      .as("parked_since"),
  ] as const;
}

const heldQueues = query((db) =>
  db
    .selectFrom("destination")
    .select(["clinic_id", "public_id", "slug", "paused"])
    .select(queueCounts(db))
    .where("removed_at", "is", null)
    .where((where) =>
      where.or([OPEN, PARKED].map((held) => where.exists(ofDestination(db).select("delivery.id").where(held)))),
    )
    .orderBy("destination.id"),
);

// An empty id means all destinations of the clinic.
const ofClinic = query((db, p: { clinicId: number; id: string }) =>
  db
    .selectFrom("destination")
    .leftJoin("agent", "agent.id", "destination.agent_id")
    .leftJoin("api_key", "api_key.id", "agent.api_key_id")
    .selectAll("destination")
    .select(["api_key.name as agent", "api_key.revoked_at as agent_revoked_at"])
    .select(queueCounts(db))
    .select(
      ofDestination(db)
        .where("delivery.state", "=", "acknowledged")
        .select((each) => each.fn.max("delivery.ended_at").as("at"))
        .as("acknowledged_at"),
    )
    .where("destination.clinic_id", "=", p.clinicId)
    .where("destination.removed_at", "is", null)
    .where(sql<boolean>`(${p.id} = '' or destination.public_id = ${p.id})`)
    .orderBy("destination.id"),
);

const waitingOf = query((db, p: { destinationId: number }) =>
  db
    .selectFrom("destination_delivery as delivery")
    .select(["delivery.id", "study_fp", "state", "changed_at", "next_at"])
    .where("destination_id", "=", p.destinationId)
    .where(OPEN)
    .orderBy("place")
    .orderBy("delivery.id")
    .limit(SHOWN_MAX),
);

const parkedOf = query((db, p: { destinationId: number }) =>
  db
    .selectFrom("destination_delivery as delivery")
    .select(["delivery.id", "study_fp", "state", "changed_at", "next_at"])
    .where("destination_id", "=", p.destinationId)
    .where(sql<boolean>`delivery.state = 'parked'`)
    .orderBy("delivery.id", "desc")
    .limit(SHOWN_MAX),
);

const pause = uncachedWrite((db, p: { id: number; paused: number }) =>
  db.updateTable("destination").set({ paused: p.paused }).where("id", "=", p.id),
);

const setOptions = uncachedWrite((db, p: { id: number; options: string }) =>
  db.updateTable("destination").set({ options: p.options }).where("id", "=", p.id),
);

const dropNew = uncachedWrite((db, p: { id: number }) =>
  db.deleteFrom("destination_delivery").where("destination_id", "=", p.id).where("state", "=", "new"),
);

const remove = uncachedWrite((db, p: { id: number; now: number }) =>
  db.updateTable("destination").set({ removed_at: p.now, paused: 1 }).where("id", "=", p.id),
);
