import { type RawBuilder, sql } from "kysely";
import { type Query, query, type Session, type StampedRows, uncachedWrite } from "./query.ts";

// The stamps by which clients synchronise: `updated_at` of a patient, `removed_at` of a removal, `changed_at` of the others.
//
// A transaction writes UNSTAMPED into the rows that it changes. Its last statements before the commit lock the clinics and give
// all of these rows one stamp: the time of the change, but never less than the last stamp of one of these clinics. So the
// stamps of a clinic never fall in commit order, whatever the clocks of the servers say.
//
// A stamp is older than the moment at which others see the row, because a commit takes time. `clinic_commit` therefore notes for
// each transaction when it became visible: a time that a clock showed after the commit. Until this is noted, the transaction
// counts as visible just now. A client that requests changes since its last request thus gets each row that this request could
// not see, even if its stamp is older.

/** The stamp of a row until the end of its transaction: the latest time that a Date can hold. */
export const UNSTAMPED = 8_640_000_000_000_000;

/** The `oldest` of a commit that kept the times of an import file, which may be any. */
const ANY_TIME = -1;

/** Age of a commit after which it is joined with the older ones. No client that polls waits as long. */
const KEPT_MS = 30 * 86_400_000;
/** About as many versions of a clinic lie between two looks for such commits. */
const JOINED_EVERY = 1000;

/** Rows that one statement stamps. PostgreSQL has 15 s for a statement. */
const ROWS_AT_ONCE = 5000;

/** A clinic whose version a transaction has raised, and its last stamp. */
export interface LockedClinic {
  readonly id: number;
  readonly version: number;
  readonly stamp: number;
}

interface Commit {
  readonly clinicId: number;
  readonly version: number;
  readonly stamp: number;
}

/** Stamps the changed rows of locked clinics. Nothing but the commit may follow. @returns the stamp */
export async function stampChanges(
  session: Session,
  clinics: readonly LockedClinic[],
  { changedAt, lists, rows }: { changedAt: number; lists: boolean; rows: ReadonlySet<StampedRows> },
): Promise<number> {
  const stamp = clinics.reduce((latest, clinic) => Math.max(latest, clinic.stamp), changedAt);
  const ids = clinics.map(({ id: clinicId, version }): Commit => ({ clinicId, version, stamp }));
  const behind = ids.filter((_, index) => clinics[index]?.stamp !== stamp);
  await session.each(raiseStamp, behind);
  await session.each(lists ? insertListCommit : insertCommit, ids);
  for (const clinic of ids) {
    if (clinic.version % JOINED_EVERY === 0) await joinOldCommits(session, clinic.clinicId, stamp - KEPT_MS);
    await untilNoneIsLeft(async () => session.all(stampStudies, clinic));
    await untilNoneIsLeft(async () => session.all(stampRemovals, clinic));
    for (const each of rows) await untilNoneIsLeft(async () => session.all(stampRows[each], clinic));
    if (!lists) continue;
    await untilNoneIsLeft(async () => {
      // The patient first: its copies in the connections name it.
      await session.all(stampPatients, clinic);
      return session.all(stampCopies, clinic);
    });
  }
  return stamp;
}

/**
 * Joins the commits of a clinic that became visible before a time into the last of them, so that their number is bounded. A
 * client that requests changes since then gets all that it lacks, and more.
 */
export async function joinOldCommits(session: Session, clinicId: number, before: number): Promise<void> {
  await session.all(lowerLastOld, { clinicId, before });
  await session.all(dropOlder, { clinicId, before });
}

async function untilNoneIsLeft(stampSome: () => Promise<readonly unknown[]>): Promise<void> {
  while ((await stampSome()).length === ROWS_AT_ONCE);
}

/**
 * Notes when the commits of a clinic became visible. Call it after a commit, with a time that a clock showed after it. Each
 * clinic's times rise, so that a client may request what came after the last one.
 */
export const noteVisible = settle((now) => sql`cast(${now} as bigint)`);

/** The same with the clock of PostgreSQL, if that is later: the clocks of servers that share it differ. */
export const noteVisibleByDatabaseClock = settle(
  (now) => sql`greatest(cast(${now} as bigint), cast(extract(epoch from clock_timestamp()) * 1000 as bigint))`,
);

function settle(clock: (now: number) => RawBuilder<unknown>) {
  return uncachedWrite((db, p: { clinicId: number; now: number }) => {
    const last = sql`(select coalesce(max(noted.visible_at), 0) from clinic_commit as noted
      where noted.clinic_id = ${p.clinicId} and noted.visible_at < ${sql.lit(UNSTAMPED)})`;
    const now = clock(p.now);
    return db
      .updateTable("clinic_commit")
      .set({
        visible_at: sql`case when ${last} >= ${now} then ${last} + 1 else ${now} end`,
        // A client that came while the file was imported has no row of it.
        oldest: sql`case when oldest = ${sql.lit(ANY_TIME)} and not ${isServed(p.clinicId)} then stamp else oldest end`,
      })
      .where("clinic_id", "=", p.clinicId)
      .where("visible_at", "=", sql.lit(UNSTAMPED));
  });
}

/** Where a client's list of changes starts, and where the next one does. */
export interface SyncBounds {
  /** Lowest stamp of the commits that became visible at or after the time; null if there is none. */
  readonly oldest: number | null;
  /** Time after every noted commit, and not after any other. */
  readonly next: number | null;
  /** Commits that are not noted yet. */
  readonly unnoted: number | null;
}

/** Reads the bounds of a clinic. Read them before the list. */
export const syncBounds = query<{ clinicId: number; since: number }, SyncBounds>((db, p) => {
  const commits = () => db.selectFrom("clinic_commit").where("clinic_id", "=", p.clinicId);
  return db.selectNoFrom([
    commits()
      .where("visible_at", ">=", p.since)
      .select(({ fn }) => fn.min<number | null>("oldest").as("oldest"))
      .as("oldest"),
    commits()
      .where("visible_at", "<", sql.lit(UNSTAMPED))
      .select(({ fn }) => sql<number>`coalesce(${fn.max("visible_at")} + 1, 0)`.as("next"))
      .$asScalar()
      .as("next"),
    commits()
      .where("visible_at", "=", sql.lit(UNSTAMPED))
      .select(({ fn }) => fn.countAll<number>().as("unnoted"))
      .as("unnoted"),
  ]);
});

/** Makes commits visible as changes, with rows that kept the times of a file: a client was there before them. */
export const forgetFileTimes = uncachedWrite((db, p: { clinicId: number; since: number }) =>
  db
    .updateTable("clinic_commit")
    .set((column) => ({ oldest: column.lit(ANY_TIME) }))
    .where("clinic_id", "=", p.clinicId)
    .where("visible_at", ">=", p.since),
);

/** Whether clients of the clinic have synchronised. */
function isServed(clinicId: number): RawBuilder<boolean> {
  return sql<boolean>`exists (select 1 from api_key where api_key.clinic_id = ${clinicId} and api_key.last_used_at is not null)`;
}

const raiseStamp = uncachedWrite((db, p: { clinicId: number; stamp: number }) =>
  db.updateTable("clinic").set({ stamp: p.stamp }).where("id", "=", p.clinicId),
);

const insertCommit = commitWith((p) => sql`cast(${p.stamp} as bigint)`);

/** A commit that may have kept the times of a file, because no client of the clinic has synchronised. */
const insertListCommit = commitWith(
  (p) => sql`case when ${isServed(p.clinicId)} then cast(${p.stamp} as bigint) else ${sql.lit(ANY_TIME)} end`,
);

function commitWith(oldest: (p: Commit) => RawBuilder<unknown>) {
  return uncachedWrite((db, p: Commit) =>
    db.insertInto("clinic_commit").values({
      clinic_id: p.clinicId,
      version: p.version,
      stamp: p.stamp,
      oldest: oldest(p) as RawBuilder<number>,
      visible_at: sql.lit(UNSTAMPED),
    }),
  );
}

/** The time of the last commit that became visible before `before`. */
function lastBefore(clinicId: number, before: number): RawBuilder<number> {
  return sql<number>`(select max(old.visible_at) from clinic_commit as old
    where old.clinic_id = ${clinicId} and old.visible_at < ${before})`;
}

const lowerLastOld = uncachedWrite((db, p: { clinicId: number; before: number }) =>
  db
    .updateTable("clinic_commit")
    .set({
      oldest: sql<number>`(select min(old.oldest) from clinic_commit as old
        where old.clinic_id = ${p.clinicId} and old.visible_at < ${p.before})`,
    })
    .where("clinic_id", "=", p.clinicId)
    .where("visible_at", "=", lastBefore(p.clinicId, p.before)),
);

const dropOlder = uncachedWrite((db, p: { clinicId: number; before: number }) =>
  db
    .deleteFrom("clinic_commit")
    .where("clinic_id", "=", p.clinicId)
    .where("visible_at", "<", lastBefore(p.clinicId, p.before)),
);

const stampStudies = uncachedWrite((db, p: { clinicId: number; stamp: number }) =>
  db
    .updateTable("clinic_study")
    .set({ changed_at: p.stamp })
    .where("clinic_id", "=", p.clinicId)
    .where("study_id", "in", (unstamped) =>
      unstamped
        .selectFrom("clinic_study")
        .select("study_id")
        .where("clinic_id", "=", p.clinicId)
        .where("changed_at", "=", sql.lit(UNSTAMPED))
        .orderBy("study_id")
        .limit(ROWS_AT_ONCE),
    )
    .returning("study_id"),
);

const stampRemovals = uncachedWrite((db, p: { clinicId: number; stamp: number }) =>
  db
    .updateTable("clinic_removal")
    .set({ removed_at: p.stamp })
    .where("clinic_id", "=", p.clinicId)
    .where("fp", "in", (unstamped) =>
      unstamped
        .selectFrom("clinic_removal")
        .select("fp")
        .where("clinic_id", "=", p.clinicId)
        .where("removed_at", "=", sql.lit(UNSTAMPED))
        .orderBy("fp")
        .limit(ROWS_AT_ONCE),
    )
    .returning("fp"),
);

const stampRows: Readonly<Record<StampedRows, Query<Commit, unknown>>> = {
  soap: uncachedWrite((db, p) =>
    db
      .updateTable("clinic_soap")
      .set({ changed_at: p.stamp })
      .where("clinic_id", "=", p.clinicId)
      .where("soap_id", "in", (unstamped) =>
        unstamped
          .selectFrom("clinic_soap")
          .select("soap_id")
          .where("clinic_id", "=", p.clinicId)
          .where("changed_at", "=", sql.lit(UNSTAMPED))
          .orderBy("soap_id")
          .limit(ROWS_AT_ONCE),
      )
      .returning("soap_id"),
  ),
  events: stampOwned("calendar_event"),
  items: stampOwned("inventory_item"),
  orders: stampOwned("lab_order"),
};

/** Stamps rows that belong to one clinic. */
function stampOwned(table: "calendar_event" | "inventory_item" | "lab_order"): Query<Commit, unknown> {
  return uncachedWrite((db, p) =>
    db
      .updateTable(table)
      .set({ changed_at: p.stamp })
      .where("fp", "in", (unstamped) =>
        unstamped
          .selectFrom(table)
          .select("fp")
          .where("clinic_id", "=", p.clinicId)
          .where("changed_at", "=", sql.lit(UNSTAMPED))
          .orderBy("fp")
          .limit(ROWS_AT_ONCE),
      )
      .returning("fp"),
  );
}

const stampPatients = uncachedWrite((db, p: { clinicId: number; stamp: number }) =>
  db
    .updateTable("patient")
    .set({ updated_at: p.stamp })
    .where("updated_at", "=", sql.lit(UNSTAMPED))
    .where("id", "in", unstampedPatients(p.clinicId)),
);

const stampCopies = uncachedWrite((db, p: { clinicId: number; stamp: number }) =>
  db
    .updateTable("clinic_patient")
    .set({ patient_updated_at: p.stamp })
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "in", unstampedPatients(p.clinicId))
    .returning("patient_id"),
);

/** Both values of `listed`, so that the index of the list finds them. */
function unstampedPatients(clinicId: number): RawBuilder<number> {
  return sql`(select patient_id from clinic_patient where clinic_id = ${clinicId} and listed in (0, 1)
    and patient_updated_at = ${sql.lit(UNSTAMPED)} order by patient_id limit ${sql.lit(ROWS_AT_ONCE)})`;
}
