import { type Query, query, type Session, uncachedWrite } from "./query.ts";

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

/** Runs the work of a transaction. Then bumps the versions of the clinics whose responses its writes change by `step`. */
export async function runAndBumpVersions<T>(
  session: Session,
  work: (session: Session) => Promise<T>,
  step = 1,
): Promise<T> {
  const { bumpVersions, ...watchedSession } = watched(session);
  const result = await work(watchedSession);
  await bumpVersions(step);
  return result;
}

function watched(session: Session): Session & { bumpVersions: (step: number) => Promise<void> } {
  // Ids of changed clinics and patients. The value is true if the patient lists change too.
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
    async bumpVersions(step) {
      if (patients.size > PATIENTS_MAX) {
        await session.all(bumpAll, { step });
        return;
      }
      for (const [patientId, lists] of patients) {
        for (const { clinic_id } of await session.all(clinicsOf, { patientId })) note(clinics, clinic_id, lists);
      }
      // Lock rows in id order to avoid deadlocks.
      for (const [id, lists] of [...clinics].toSorted(([a], [b]) => a - b)) {
        await session.all(lists ? bumpLists : bumpAnswers, { id, step });
      }
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

const bumpAnswers = uncachedWrite((db, p: { id: number; step: number }) =>
  db
    .updateTable("clinic")
    .set((set) => ({ version: set("version", "+", p.step) }))
    .where("id", "=", p.id),
);

const bumpLists = uncachedWrite((db, p: { id: number; step: number }) =>
  db
    .updateTable("clinic")
    .set((set) => ({ version: set("version", "+", p.step), lists_version: set("lists_version", "+", p.step) }))
    .where("id", "=", p.id),
);

const bumpAll = uncachedWrite((db, p: { step: number }) =>
  db
    .updateTable("clinic")
    .set((set) => ({ version: set("version", "+", p.step), lists_version: set("lists_version", "+", p.step) })),
);
