import { sql } from "kysely";
import { uncachedWrite } from "../../database/query.ts";

// Rows of the queues of destinations, written in the transaction of the change, so that no result lacks its delivery. A row that
// waits for its turn covers every later change of the study too, because the study is read when its turn comes.

/**
 * Queues a study of the clinic that measured it, at each destination of the clinic. It is decided at the sending what a receiver
 * lacks of it: nothing, if the study has no animal and no receiver knows it.
 */
export const queueStudy = uncachedWrite((db, p: { fp: string; now: number }) => {
  const at = sql`cast(${p.now} as bigint)`;
  const insert = sql`
    insert into destination_delivery (destination_id, study_fp, place, state, changed_at, changes, attempts, next_at)
    select destination.id, study.fp, ${placeAfter(at)}, 'new', ${at}, 1, 0, ${at}
    from destination join study on study.clinic_id = destination.clinic_id
    where study.fp = ${p.fp} and destination.removed_at is null
    ${COVERED}`;
  return { compile: () => insert.compile(db) };
});

/** Queues a study at one destination: the rest of a change that takes two messages, or one that a user sends again. */
export const queueAt = uncachedWrite(
  (db, p: { destinationId: number; fp: string; place: number | null; now: number }) => {
    const at = sql`cast(${p.now} as bigint)`;
    const insert = sql`
    insert into destination_delivery (destination_id, study_fp, place, state, changed_at, changes, attempts, next_at)
    select destination.id, cast(${p.fp} as text), coalesce(cast(${p.place} as bigint), ${placeAfter(at)}), 'new', ${at}, 1, 0, ${at}
    from destination where destination.id = ${p.destinationId} and destination.removed_at is null
    ${COVERED}`;
    return { compile: () => insert.compile(db) };
  },
);

/** The end of the queue, also after the clock was set back. */
function placeAfter(at: ReturnType<typeof sql>): ReturnType<typeof sql> {
  return sql`(select case when coalesce(max(last.place), 0) >= ${at} then max(last.place) + 1 else ${at} end
    from destination_delivery as last where last.destination_id = destination.id)`;
}

const COVERED = sql`on conflict (destination_id, study_fp) where state = 'new'
  do update set changed_at = excluded.changed_at, changes = destination_delivery.changes + 1`;
