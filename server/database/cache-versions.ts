import { sql } from "kysely";
import { type AtEnd, type Query, query, type Session, type StampedRows, uncachedWrite } from "./query.ts";
import { type LockedClinic, stampChanges } from "./stamps.ts";

// Cache invalidation by version: each clinic has two version numbers. The transaction that changes its data bumps them.

/** Version numbers of a clinic. Data read under a number is current while the number stays. */
export interface Versions {
  /** Version of all data that the clinic reads, and of its keys. */
  readonly answers: number;
  /** Version of the order and number of its patients. Totals are expensive to count, and most writes keep them. */
  readonly lists: number;
}

/** Max patients whose clinics are looked up. A larger write bumps the versions of all clinics. */
const PATIENTS_MAX = 1000;

/** The clinics whose lists a transaction changed, and the stamp of its changes. */
export interface Stamped {
  readonly clinicIds: readonly number[];
  readonly stamp: number;
}

/**
 * Runs the work of a transaction. Then bumps the versions of the clinics whose responses its writes change by `step`, runs what
 * its writes want at the end, and stamps the rows that it changed. Nothing but the commit may follow.
 * @returns the result, and what it stamped; null for nothing
 */
export async function runAndBumpVersions<T>(
  session: Session,
  work: (session: Session) => Promise<T>,
  { clock, step = 1 }: { clock: () => number; step?: number },
): Promise<{ result: T; stamped: Stamped | null }> {
  const { bumpVersions, ...watchedSession } = watched(session);
  const result = await work(watchedSession);
  return { result, stamped: await bumpVersions(step, clock) };
}

function watched(
  session: Session,
): Session & { bumpVersions: (step: number, clock: () => number) => Promise<Stamped | null> } {
  // Ids of changed clinics and patients. The value is true if the patient lists change too.
  const clinics = new Map<number, boolean>();
  const patients = new Map<number, boolean>();
  let changedAt: number | undefined;
  let changesLists = false;
  const stampedRows = new Set<StampedRows>();
  const ends = new Set<AtEnd>();

  function watch<P, R>(asked: Query<P, R>, parameters: P): void {
    const changed = asked.changes?.(parameters);
    if (changed === undefined) return;
    const lists = changed.lists === true;
    changesLists ||= lists;
    if (changed.stamps !== undefined) stampedRows.add(changed.stamps);
    if (changed.atEnd !== undefined) ends.add(changed.atEnd);
    if (changed.changedAt !== undefined) changedAt = Math.max(changed.changedAt, changedAt ?? changed.changedAt);
    for (const id of changed.clinics ?? []) note(clinics, id, lists);
    for (const id of changed.patients ?? []) if (patients.size <= PATIENTS_MAX) note(patients, id, lists);
  }

  /** Locks the clinics, in the order of their ids to avoid deadlocks. */
  async function lockClinics(step: number): Promise<LockedClinic[]> {
    const now = changedAt ?? 0;
    if (patients.size > PATIENTS_MAX) return session.all(bumpAll, { step, now });
    for (const [patientId, lists] of patients) {
      for (const { clinic_id } of await session.all(clinicsOf, { patientId })) note(clinics, clinic_id, lists);
    }
    const locked: LockedClinic[] = [];
    for (const [id, lists] of [...clinics].toSorted(([a], [b]) => a - b)) {
      locked.push(...(await session.all(lists ? bumpLists : bumpAnswers, { id, step, now })));
    }
    return locked;
  }

  return {
    all: async (asked, parameters) => {
      watch(asked, parameters);
      return session.all(asked, parameters);
    },
    first: async (asked, parameters) => {
      watch(asked, parameters);
      return session.first(asked, parameters);
    },
    each: async (asked, list) => {
      for (const parameters of list) watch(asked, parameters);
      return session.each(asked, list);
    },
    async bumpVersions(step, clock) {
      const locked = await lockClinics(step);
      for (const end of ends) {
        for (const { id, version, stamp } of locked) await end(session, { id, version, now: Math.max(clock(), stamp) });
      }
      if (changedAt === undefined || locked.length === 0) return null;
      const stamp = await stampChanges(session, locked, { changedAt, lists: changesLists, rows: stampedRows });
      return { clinicIds: locked.map(({ id }) => id), stamp };
    },
  };
}

function note(map: Map<number, boolean>, id: number | null, lists: boolean): void {
  if (id !== null) map.set(id, lists || map.get(id) === true);
}

/** Reads the versions of a clinic. Call it before reading the data that is cached under them. */
export async function readVersions(session: Session, clinicId: number): Promise<Versions> {
  const row = await session.first(versionsOf, { clinicId });
  if (row === undefined) throw new Error(`clinic ${clinicId} of a key does not exist`);
  return { answers: row.version, lists: row.lists_version };
}

/** Returns a function that runs `refresh` once at the end of the current event-loop turn, for all its callers. */
export function atEndOfTurn(refresh: () => void): () => Promise<void> {
  let scheduled: Promise<void> | undefined;
  function refreshNow(): void {
    scheduled = undefined;
    refresh();
  }
  return () => (scheduled ??= new Promise<void>((resolve) => void setImmediate(resolve)).then(refreshNow));
}

const versionsOf = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic").select(["version", "lists_version"]).where("id", "=", p.clinicId),
);

const clinicsOf = query((db, p: { patientId: number }) =>
  db.selectFrom("clinic_patient").select("clinic_id").where("patient_id", "=", p.patientId),
);

const bumpAnswers = bump(false);
const bumpLists = bump(true);

/** Raises the versions of a clinic, and its stamp to the time of the change. */
function bump(lists: boolean) {
  return uncachedWrite((db, p: { id: number; step: number; now: number }) =>
    db.updateTable("clinic").set(raised(lists, p)).where("id", "=", p.id).returning(["id", "version", "stamp"]),
  );
}

const bumpAll = uncachedWrite((db, p: { step: number; now: number }) =>
  db.updateTable("clinic").set(raised(true, p)).returning(["id", "version", "stamp"]),
);

function raised(lists: boolean, { step, now }: { step: number; now: number }) {
  return {
    version: sql<number>`version + ${step}`,
    ...(lists && { lists_version: sql<number>`lists_version + ${step}` }),
    stamp: sql<number>`case when stamp < ${now} then cast(${now} as bigint) else stamp end`,
  };
}
