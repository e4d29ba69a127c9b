import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import { type ClinicEvent, type EventKind, eventKinds } from "../../../shared/api/clinic-event.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { UNSTAMPED } from "../../database/stamps.ts";

// The feed of a clinic: its events in commit order, which is the order of their versions; those of one transaction in the order of
// their ids. Each page reads at most its own size of each kind, by an index, so that it costs the same everywhere in the feed and
// for every key. A position is one of an event that is kept, or the floor; after any other one events may be missing.

export interface Position {
  readonly version: number;
  readonly id: number;
}

/** An event after which a page starts. `at` distinguishes it from one of the same numbers in a database that was restored. */
export interface FeedPosition extends Position {
  readonly at: number;
}

export interface FeedPage {
  readonly items: readonly ClinicEvent[];
  /** Where the next page starts. */
  readonly next: FeedPosition;
  readonly hasMore: boolean;
}

/** The position before the first event of a clinic, as long as none was removed. */
const START: FeedPosition = { version: 0, id: 0, at: 0 };

/** Returns the position before the first event of a clinic that is kept. */
async function startOfFeed(session: Session, clinicId: number): Promise<FeedPosition> {
  const floor = await session.first(floorOf, { clinicId });
  return floor === undefined ? START : { ...floor, at: 0 };
}

/** Returns the last position of a clinic's feed. */
export async function endOfFeed(session: Session, clinicId: number): Promise<FeedPosition> {
  const last = await session.first(lastBefore, { clinicId, version: UNSTAMPED, id: 0 });
  const start = await startOfFeed(session, clinicId);
  return last === undefined || !isAfter(last, start) ? start : last;
}

/**
 * Reads a page of a clinic's feed.
 * @param after null for the first kept event @returns null if events after the position were removed, or the position is of another
 * state of the database
 */
export async function readFeed(
  session: Session,
  { clinicId, after, kinds, pageSize }: FeedFilter,
): Promise<FeedPage | null> {
  // Before the page, so that the page has all that precedes it.
  const end = await endOfFeed(session, clinicId);
  const from = after ?? (await startOfFeed(session, clinicId));
  // One more row, which shows whether another page follows.
  const limit = pageSize + 1;
  const sizes = Object.fromEntries(eventKinds.map((kind) => [kind, kinds.has(kind) ? limit : 0]));
  const found = await session.all(pageOfFeed, { ...(sizes as Record<EventKind, number>), clinicId, ...from, limit });
  // After the page, because a removal meanwhile may have taken events out of it.
  const floor = await startOfFeed(session, clinicId);
  const isKept = isAfter(from, floor) && (await session.first(eventAt, { clinicId, ...from })) !== undefined;
  if (!isKept && !isSame(from, floor)) return null;
  const rows = found.slice(0, pageSize);
  const hasMore = found.length > pageSize;
  const lastRow = rows.at(-1) ?? from;
  // At the end the position passes the events that the key does not see, because the removal of an old position would reach it.
  const next = !hasMore && isAfter(end, lastRow) ? end : lastRow;
  return { items: rows.map(toEvent), next: { version: next.version, id: next.id, at: next.at }, hasMore };
}

interface FeedFilter {
  readonly clinicId: number;
  readonly after: FeedPosition | null;
  /** The kinds that the reader may see. */
  readonly kinds: ReadonlySet<EventKind>;
  readonly pageSize: number;
}

export function isAfter(one: Position, other: Position): boolean {
  return one.version > other.version || (one.version === other.version && one.id > other.id);
}

function isSame(one: Position, other: Position): boolean {
  return one.version === other.version && one.id === other.id;
}

function toEvent({
  kind,
  change,
  fp,
  at,
  revision,
  successor_fp: successor,
}: Selectable<Tables["clinic_event"]>): ClinicEvent {
  return {
    kind,
    change: change === "left" ? "removed" : change,
    fp,
    at: new Date(at).toISOString(),
    ...(revision !== null && { revision }),
    ...(change === "merged" && successor !== null && { merged_into: successor }),
    ...(change === "amended" && successor !== null && { amended_by: successor }),
  };
}

/** A page of each kind of records, of which the first rows are the page. A kind with the size 0 is not read. */
export const pageOfFeed = query((db, p: PageParameters) =>
  ofAllKinds(db, (events, kind) =>
    events
      .where("clinic_id", "=", p.clinicId)
      .where((where) => where(where.refTuple("version", "id"), ">", where.tuple(p.version, p.id)))
      .where("version", "<", sql.lit(UNSTAMPED))
      .orderBy("version")
      .orderBy("id")
      .limit(p[kind]),
  )
    .orderBy("version")
    .orderBy("id")
    .limit(p.limit),
);

/** The rows that are read of each kind, and of all. */
type PageParameters = Record<EventKind, number> & { clinicId: number; version: number; id: number; limit: number };

/** The last event of a clinic before a position. */
export const lastBefore = query((db, p: { clinicId: number; version: number; id: number }) =>
  ofAllKinds(db, (events) =>
    events
      .where("clinic_id", "=", p.clinicId)
      .where((where) => where(where.refTuple("version", "id"), "<", where.tuple(p.version, p.id)))
      .orderBy("version", "desc")
      .orderBy("id", "desc")
      .limit(sql.lit(1)),
  )
    .orderBy("version", "desc")
    .orderBy("id", "desc")
    .limit(sql.lit(1)),
);

/** Joins a select of each kind of records, because the index of the events begins with it. */
function ofAllKinds(db: Kysely<Tables>, select: (events: Events, kind: EventKind) => Events) {
  const [first, ...others] = eventKinds.map((kind) =>
    db
      .selectFrom(
        select(db.selectFrom("clinic_event").selectAll().where("kind", "=", sql.lit(kind)), kind).as("of_kind"),
      )
      .selectAll(),
  );
  if (first === undefined) throw new Error("expected kinds of events, got none");
  return db.selectFrom(others.reduce((all, next) => all.unionAll(next), first).as("event")).selectAll();
}

type Events = SelectQueryBuilder<Tables, "clinic_event", Selectable<Tables["clinic_event"]>>;

/** The last event that was removed. */
export const floorOf = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_event_floor").select(["version", "event_id as id"]).where("clinic_id", "=", p.clinicId),
);

const eventAt = query((db, p: FeedPosition & { clinicId: number }) =>
  db
    .selectFrom("clinic_event")
    .select("id")
    .where("id", "=", p.id)
    .where("clinic_id", "=", p.clinicId)
    .where("version", "=", p.version)
    .where("at", "=", p.at),
);
