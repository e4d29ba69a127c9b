import { createHash } from "node:crypto";
import { sql } from "kysely";
import { newUlid } from "../../../shared/api/fp.ts";
import type { DeliveryOutcome } from "../../dashboard/types/settings/destinations.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import type { Store } from "../../database/store.ts";
import { queueAt } from "./changes.ts";
import type { StoredDestination } from "./destinations.ts";
import { type HeldBefore, heldBefore, readHeld } from "./held.ts";
import { settleParked } from "./parked.ts";

// The queue of a destination, which several servers and an agent share: one message at a time, in order. The bytes are made when a
// delivery becomes the oldest, and stay the same in every attempt. An attempt is written before it begins. If its sender dies, the
// lease ends, and the same bytes are sent again.
//
//   new ──render──▶ retrying ──attempt──▶ sending ──▶ acknowledged
//                      ▲  └──newer revision──▶ replaced  ├──▶ parked ──again──▶ refused, and a new one
//                      └───────── failed, backoff ───────┘
//
// A person may set aside what is `new` or `retrying`: it is parked, too.

/** An attempt to make now. */
export interface DueAttempt {
  readonly deliveryId: number;
  /** The first attempt is 1. */
  readonly number: number;
  readonly controlId: string;
  readonly fileName: string | null;
  readonly payload: Buffer;
  readonly sha256: string;
}

/** The next step of a destination: an attempt, or a wait. */
export type NextDelivery = DueAttempt | { readonly waitMs: number };

/** The bytes of a delivery. */
export interface Rendered {
  readonly payload: Buffer;
  readonly fileName: string | null;
  readonly revision: number | null;
  /** The text of the column. */
  readonly held: string;
  /** Whether the change takes another message after this one. */
  readonly continues: boolean;
}

/** Makes the bytes of a study for a destination; null if the receiver lacks nothing. */
export type Render = (asked: {
  readonly destination: StoredDestination;
  readonly studyFp: string;
  readonly controlId: string;
  readonly before: HeldBefore;
}) => Promise<Rendered | null>;

export interface NextOptions {
  readonly now: number;
  readonly leaseMs: number;
  readonly render: Render;
  /** For the one agent of a destination: an attempt under way is its own, and it asks again after a crash. */
  readonly repeats?: boolean;
}

/** Time until a look at an empty or paused queue. */
const IDLE_MS = 5000;

/** Studies that one call tries in vain: a fault of all of them must not read a long queue again and again. */
const FAILED_MAX = 20;

/**
 * Takes the oldest delivery of a destination, and writes the attempt. A study whose bytes cannot be made goes to the end of the queue, since
 * the others must not wait for it. @throws its error once it is the oldest again, or after FAILED_MAX studies
 */
export async function nextDelivery(
  store: Store,
  destination: StoredDestination,
  { now, leaseMs, render, repeats = false }: NextOptions,
): Promise<NextDelivery> {
  const failed = new Set<number>();
  for (;;) {
    const step = await store.transaction((session) => oldest(session, destination, { now, leaseMs, repeats }));
    if (!("toRender" in step)) return step;
    const { toRender: row } = step;
    const controlId = newUlid().slice(6);
    const before = await heldBefore(store, { destinationId: destination.id, fp: row.study_fp });
    try {
      const rendered = await render({ destination, studyFp: row.study_fp, controlId, before });
      await store.transaction((session) => keepRendered(session, { ...row, now }, { controlId, rendered }));
    } catch (error) {
      if (failed.has(row.id)) throw error;
      failed.add(row.id);
      await store.transaction((session) => session.all(moveToEnd, { id: row.id, destinationId: destination.id }));
      if (failed.size === FAILED_MAX) throw error;
    }
  }
}

/** Stores the outcome of an attempt. That of an attempt that was repeated changes its own row alone. @returns false if it is missing */
export async function endAttempt(
  session: Session,
  ended: {
    readonly destinationId: number;
    readonly deliveryId: number;
    readonly number: number;
    readonly now: number;
    readonly outcome: DeliveryOutcome;
    readonly code: string | null;
    readonly text: string | null;
  },
): Promise<boolean> {
  const row = await session.first(byId, ended);
  if (row === undefined) return false;
  await session.all(updateAttempt, ended);
  if (row.state !== "sending" || row.attempts !== ended.number) return true;
  const { outcome, now } = ended;
  if (outcome === "failed") {
    await session.all(setState, { ...row, state: "retrying", nextAt: now + backoffMs(ended.number), endedAt: null });
    return true;
  }
  const state = outcome === "acknowledged" ? "acknowledged" : "parked";
  await session.all(setState, { ...row, state, nextAt: now, endedAt: now });
  if (state === "acknowledged") await settleParked(session, row);
  return true;
}

/** Time between two attempts: doubles from a second up to five minutes. */
function backoffMs(attempts: number): number {
  return Math.min(300_000, 1000 * 2 ** Math.min(attempts - 1, 20));
}

/** Time for which the bytes of ended deliveries stay, and the facts of their attempts. */
const PAYLOAD_KEPT_MS = 30 * 86_400_000;
const KEPT_MS = 400 * 86_400_000;

/** Removes what is old. What a receiver holds of a study stays, because a later correction refers to it. */
export async function pruneDestinations(session: Session, now: number): Promise<void> {
  await session.all(dropPayloads, { before: now - PAYLOAD_KEPT_MS });
  await session.all(dropAttempts, { before: now - KEPT_MS });
  await session.all(dropDeliveries, { before: now - KEPT_MS });
}

type Row = Pick<
  Tables["destination_delivery"],
  "destination_id" | "study_fp" | "place" | "state" | "changes" | "attempts" | "next_at" | "held"
> & { readonly id: number };

async function oldest(
  session: Session,
  { id: destinationId, paused }: StoredDestination,
  { now, leaseMs, repeats }: { readonly now: number; readonly leaseMs: number; readonly repeats: boolean },
): Promise<NextDelivery | { readonly toRender: Row }> {
  for (;;) {
    const row = paused === 1 ? undefined : await session.first(head, { destinationId });
    if (row === undefined) return { waitMs: IDLE_MS };
    if (row.state === "new") return { toRender: row };
    // A withdrawal stays due, and the report that follows it waits behind it.
    const isWithdrawal = row.held !== null && readHeld(row.held).withdrawn === true;
    const newer = isWithdrawal ? undefined : await session.first(newOf, { destinationId, fp: row.study_fp });
    // A time far ahead comes from a clock that was set back.
    const waitMs = row.next_at - now > WAIT_MS_MAX ? 0 : row.next_at - now;
    if (row.state === "sending" && waitMs > 0 && !repeats) return { waitMs };
    if (newer !== undefined) {
      await session.all(setState, { ...row, state: "replaced", nextAt: now, endedAt: now });
      await session.all(setPlace, { id: newer.id, place: row.place });
      continue;
    }
    if (row.state === "retrying" && waitMs > 0) return { waitMs };
    return begin(session, row, now + leaseMs, now);
  }
}

/** Longer than any lease or backoff. */
const WAIT_MS_MAX = 3_600_000;

async function begin(session: Session, { id, attempts }: Row, until: number, now: number): Promise<DueAttempt> {
  const number = attempts + 1;
  await session.all(startAttempt, { id, number, until });
  await session.all(insertAttempt, { id, number, now });
  const row = await session.first(contentOf, { id });
  const { payload, control_id, file_name, sha256 } = row ?? {};
  if (payload == null || control_id == null || sha256 == null) throw new Error(`delivery ${id} has no bytes`);
  return {
    ...{ deliveryId: id, number, controlId: control_id, fileName: file_name ?? null },
    ...{ payload: Buffer.from(payload, "base64"), sha256 },
  };
}

/** Stores the bytes, unless the study changed meanwhile: then the next look renders it again. */
async function keepRendered(
  session: Session,
  { id, destination_id: destinationId, study_fp: fp, place, changes, now }: Row & { readonly now: number },
  { controlId, rendered }: { readonly controlId: string; readonly rendered: Rendered | null },
): Promise<void> {
  if (rendered === null) {
    await session.all(dropUnneeded, { id, changes });
    return;
  }
  const { payload, fileName, revision, held, continues } = rendered;
  const kept = await session.all(storeRendered, {
    ...{ id, changes, controlId, fileName, revision, held, now },
    payload: payload.toString("base64"),
    sha256: createHash("sha256").update(payload).digest("hex"),
  });
  if (kept.length > 0 && continues) await session.all(queueAt, { destinationId, fp, place, now });
}

const COLUMNS = [
  "id",
  "destination_id",
  "study_fp",
  "place",
  "state",
  "changes",
  "attempts",
  "next_at",
  "held",
] as const;

/** Literal, because an index holds these rows alone. */
const isOpen = sql<boolean>`state in ('new', 'retrying', 'sending')`;

const head = query((db, p: { destinationId: number }) =>
  db
    .selectFrom("destination_delivery")
    .select(COLUMNS)
    .where("destination_id", "=", p.destinationId)
    .where(isOpen)
    .orderBy("place")
    .orderBy("id")
    .limit(1),
);

const newOf = query((db, p: { destinationId: number; fp: string }) =>
  db
    .selectFrom("destination_delivery")
    .select(COLUMNS)
    .where("destination_id", "=", p.destinationId)
    .where("study_fp", "=", p.fp)
    .where(sql<boolean>`state = 'new'`),
);

const byId = query((db, p: { destinationId: number; deliveryId: number }) =>
  db
    .selectFrom("destination_delivery")
    .select(COLUMNS)
    .where("id", "=", p.deliveryId)
    .where("destination_id", "=", p.destinationId),
);

const contentOf = query((db, p: { id: number }) =>
  db.selectFrom("destination_delivery").select(["payload", "control_id", "file_name", "sha256"]).where("id", "=", p.id),
);

const storeRendered = uncachedWrite(
  (
    db,
    p: {
      id: number;
      changes: number;
      controlId: string;
      fileName: string | null;
      revision: number | null;
      held: string;
      payload: string;
      sha256: string;
      now: number;
    },
  ) =>
    db
      .updateTable("destination_delivery")
      .set({
        state: "retrying",
        control_id: p.controlId,
        file_name: p.fileName,
        revision: p.revision,
        held: p.held,
        payload: p.payload,
        sha256: p.sha256,
        next_at: p.now,
      })
      .where("id", "=", p.id)
      .where("state", "=", "new")
      .where("changes", "=", p.changes)
      .returning("id"),
);

const dropUnneeded = uncachedWrite((db, p: { id: number; changes: number }) =>
  db
    .deleteFrom("destination_delivery")
    .where("id", "=", p.id)
    .where("state", "=", "new")
    .where("changes", "=", p.changes),
);

const startAttempt = uncachedWrite((db, p: { id: number; number: number; until: number }) =>
  db
    .updateTable("destination_delivery")
    .set({ state: "sending", attempts: p.number, next_at: p.until })
    .where("id", "=", p.id),
);

const insertAttempt = uncachedWrite((db, p: { id: number; number: number; now: number }) =>
  db.insertInto("destination_attempt").values({
    ...{ delivery_id: p.id, number: p.number, started_at: p.now },
    ...{ ended_at: null, outcome: null, code: null, text: null },
  }),
);

const updateAttempt = uncachedWrite((db, p: Parameters<typeof endAttempt>[1]) =>
  db
    .updateTable("destination_attempt")
    .set({ ended_at: p.now, outcome: p.outcome, code: p.code, text: p.text })
    .where("delivery_id", "=", p.deliveryId)
    .where("number", "=", p.number)
    .where("ended_at", "is", null),
);

const setState = uncachedWrite((db, p: { id: number; state: Row["state"]; nextAt: number; endedAt: number | null }) =>
  db
    .updateTable("destination_delivery")
    .set({ state: p.state, next_at: p.nextAt, ended_at: p.endedAt })
    .where("id", "=", p.id),
);

const setPlace = uncachedWrite((db, p: { id: number; place: number }) =>
  db.updateTable("destination_delivery").set({ place: p.place }).where("id", "=", p.id),
);

const moveToEnd = uncachedWrite((db, p: { id: number; destinationId: number }) =>
  db
    .updateTable("destination_delivery")
    .set({
      place: sql`(select max(last.place) + 1 from destination_delivery as last where last.destination_id = ${p.destinationId})`,
    })
    .where("id", "=", p.id)
    // Another server may have made its bytes meanwhile, and send them now: the others wait for it.
    .where("state", "=", "new"),
);

const dropPayloads = uncachedWrite((db, p: { before: number }) =>
  db
    .updateTable("destination_delivery")
    .set({ payload: null })
    .where("ended_at", "<", p.before)
    .where("payload", "is not", null)
    .where("state", "!=", "parked"),
);

/** Ended deliveries before a time, without the last one that a receiver took of each study. */
const isOld = (before: number) => sql<boolean>`ended_at < ${before} and state <> 'parked' and (state <> 'acknowledged'
  or exists (select 1 from destination_delivery as later where later.study_fp = destination_delivery.study_fp
    and later.destination_id = destination_delivery.destination_id and later.id > destination_delivery.id
    and later.state = 'acknowledged'))`;

const dropAttempts = uncachedWrite((db, p: { before: number }) =>
  db
    .deleteFrom("destination_attempt")
    .where("delivery_id", "in", (old) => old.selectFrom("destination_delivery").select("id").where(isOld(p.before))),
);

const dropDeliveries = uncachedWrite((db, p: { before: number }) =>
  db.deleteFrom("destination_delivery").where(isOld(p.before)),
);
