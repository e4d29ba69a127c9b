import { sql } from "kysely";
import { type EventKind, eventKinds } from "../../../shared/api/clinic-event.ts";
import { query, uncachedWrite } from "../../database/query.ts";
import { UNSTAMPED } from "../../database/stamps.ts";
import type { Store } from "../../database/store.ts";
import { floorOf, isAfter, lastBefore, type Position } from "./feed.ts";

// Removes the old events of the feeds. First the floor of a clinic rises, so that no reader misses what goes; then the events up to
// it are removed in parts.

/** Kept events of a clinic and a kind of records, whatever their age. */
const OF_A_KIND_MAX = 1_000_000;

/** Rows that a transaction removes, so that no writer waits for long. */
const ROWS_AT_ONCE = 5000;

/** An event that is this far ahead comes from a clock that was set back since. It keeps nothing. */
const AHEAD_MS = 86_400_000;

interface Bounds {
  /** Events of before this time are removed, ms since 1970. */
  readonly before: number;
  readonly now: number;
  readonly most?: number;
}

/** Removes the events of each clinic that precede its first one to keep. */
export async function pruneFeeds(store: Store, { before, now, most = OF_A_KIND_MAX }: Bounds): Promise<void> {
  for (const { id: clinicId } of await store.all(clinics, {})) {
    // An event that comes meanwhile is after the end.
    const end = await store.first(lastBefore, { clinicId, version: UNSTAMPED, id: 0 });
    if (end === undefined) continue;
    let first: Position = { version: end.version, id: end.id + 1 };
    for (const kind of eventKinds) {
      const kept = await store.first(firstKept, { clinicId, kind, before, until: now + AHEAD_MS });
      if (kept !== undefined && isAfter(first, kept)) first = kept;
    }
    for (const kind of eventKinds) {
      const oldest = await store.first(atOffset, { clinicId, kind, offset: most - 1 });
      if (oldest !== undefined && isAfter(oldest, first)) first = oldest;
    }
    const last = await store.first(lastBefore, { clinicId, ...first });
    if (last === undefined) continue;
    const floor = await store.first(floorOf, { clinicId });
    if (floor === undefined || isAfter(last, floor))
      await store.transaction((session) => session.all(raiseFloor, { clinicId, version: last.version, id: last.id }));
    const remove = () => store.transaction((session) => session.all(removeUpToFloor, { clinicId }));
    while ((await remove()).length === ROWS_AT_ONCE);
  }
}

const clinics = query((db) => db.selectFrom("clinic").select("id").orderBy("id"));

interface OfKind {
  clinicId: number;
  kind: EventKind;
}

const firstKept = query((db, p: OfKind & { before: number; until: number }) =>
  db
    .selectFrom("clinic_event")
    .select(["version", "id"])
    .where("clinic_id", "=", p.clinicId)
    .where("kind", "=", p.kind)
    .where("at", ">=", p.before)
    .where("at", "<", p.until)
    .orderBy("version")
    .orderBy("id")
    .limit(sql.lit(1)),
);

const atOffset = query((db, p: OfKind & { offset: number }) =>
  db
    .selectFrom("clinic_event")
    .select(["version", "id"])
    .where("clinic_id", "=", p.clinicId)
    .where("kind", "=", p.kind)
    .orderBy("version", "desc")
    .orderBy("id", "desc")
    .limit(sql.lit(1))
    .offset(p.offset),
);

// The version of the clinic rises with it, because cached pages may lead to what is removed.
const raiseFloor = query(
  (db, p: Position & { clinicId: number }) =>
    db
      .insertInto("clinic_event_floor")
      .values({ clinic_id: p.clinicId, version: p.version, event_id: p.id })
      .onConflict((conflict) => conflict.column("clinic_id").doUpdateSet({ version: p.version, event_id: p.id })),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const removeUpToFloor = uncachedWrite((db, p: { clinicId: number }) =>
  db
    .deleteFrom("clinic_event")
    .where("id", "in", (old) =>
      old
        .selectFrom("clinic_event as event")
        .innerJoin("clinic_event_floor as floor", "floor.clinic_id", "event.clinic_id")
        .select("event.id")
        .where("event.clinic_id", "=", p.clinicId)
        .where("event.kind", "in", [...eventKinds])
        .where((where) =>
          where(where.refTuple("event.version", "event.id"), "<=", where.refTuple("floor.version", "floor.event_id")),
        )
        .limit(sql.lit(ROWS_AT_ONCE)),
    )
    .returning("id"),
);
