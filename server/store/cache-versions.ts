import { noInvalidation, type Query, query, type Session } from "./query.ts";

// What tells a cache that an answer is stale: two numbers of each clinic, raised in the transaction of the write itself.

/** As long as a number stays, so does what it counts changes of. */
export interface Versions {
  /** All that the clinic reads, and its keys. */
  readonly answers: number;
  /** The order and number of its patients: a total is dear to count, and most writes leave it. */
  readonly lists: number;
}

/** Looking up the clinics of more patients costs more than all clinics' caches do. */
const PATIENTS_MAX = 1000;

/** Does the work of a transaction, and as its last act raises the versions of the clinics whose answers its writes change. */
export async function runAndBumpVersions<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
  const { raise, ...watchedSession } = watched(session);
  const result = await work(watchedSession);
  await raise();
  return result;
}

function watched(session: Session): Session & { raise: () => Promise<void> } {
  // By id, and whether the clinics' lists change too.
  const clinics = new Map<number, boolean>();
  const patients = new Map<number, boolean>();

  function watch<P, R>(asked: Query<P, R>, parameters: P): void {
    const changed = asked.changes?.(parameters);
    if (changed === undefined) return;
    const lists = changed.lists === true;
    for (const id of changed.clinics ?? []) note(clinics, id, lists);
    for (const id of changed.patients ?? []) if (patients.size <= PATIENTS_MAX) note(patients, id, lists);
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
    async raise() {
      if (patients.size > PATIENTS_MAX) {
        await session.all(raiseAll, {});
        return;
      }
      for (const [patientId, lists] of patients) {
        for (const { clinic_id } of await session.all(clinicsOf, { patientId })) note(clinics, clinic_id, lists);
      }
      // In one order everywhere: two transactions must not each wait for a row of the other.
      for (const [id, lists] of [...clinics].toSorted(([a], [b]) => a - b)) {
        await session.all(lists ? raiseLists : raiseAnswers, { id });
      }
    },
  };
}

function note(map: Map<number, boolean>, id: number | null, lists: boolean): void {
  if (id !== null) map.set(id, lists || map.get(id) === true);
}

/** The versions of a clinic, which must be read before what is kept under them. */
export async function readVersions(session: Session, clinicId: number): Promise<Versions> {
  const row = await session.first(versionsOf, { clinicId });
  if (row === undefined) throw new Error(`clinic ${clinicId} of a key does not exist`);
  return { answers: row.version, lists: row.lists_version };
}

/** One look for all requests of a turn of the event loop, at its end: so it comes after each of them began. */
export function atEndOfTurn(look: () => void): () => Promise<void> {
  let coming: Promise<void> | undefined;
  function lookNow(): void {
    coming = undefined;
    look();
  }
  return () => (coming ??= new Promise<void>((resolve) => void setImmediate(resolve)).then(lookNow));
}

const versionsOf = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic").select(["version", "lists_version"]).where("id", "=", p.clinicId),
);

const clinicsOf = query((db, p: { patientId: number }) =>
  db.selectFrom("connection").select("clinic_id").where("patient_id", "=", p.patientId),
);

const raiseAnswers = query(
  (db, p: { id: number }) =>
    db
      .updateTable("clinic")
      .set((set) => ({ version: set("version", "+", 1) }))
      .where("id", "=", p.id),
  noInvalidation,
);

const raiseLists = query(
  (db, p: { id: number }) =>
    db
      .updateTable("clinic")
      .set((set) => ({ version: set("version", "+", 1), lists_version: set("lists_version", "+", 1) }))
      .where("id", "=", p.id),
  noInvalidation,
);

const raiseAll = query(
  (db) =>
    db
      .updateTable("clinic")
      .set((set) => ({ version: set("version", "+", 1), lists_version: set("lists_version", "+", 1) })),
  noInvalidation,
);
