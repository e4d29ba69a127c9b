import { expressionBuilder, sql } from "kysely";
import type { Logger } from "pino";
import { noInvalidation, query, type Session } from "../database/query.ts";
import type { Tables } from "../database/schema.ts";
import type { Store } from "../database/store.ts";

// Counts the rows of `clinic_study` of each clinic, so that a list need not. A trigger appends each change to
// `clinic_study_change`, and the servers add the changes to `clinic_study_count` from time to time.
//
// Appended rows never conflict, so that no push waits for another one or runs again because of them. A counter that each push
// raised would also make an import quadratic: PostgreSQL keeps every version of a row until the end of its transaction.

/** Interval of the passes over all clinics, in ms. */
const PASS_MS = 60_000;

/** Changes of a clinic that wait for the next pass. A list adds up so many rows in well under 1 ms. */
const WAITING_MAX = 100;

/** The number of a clinic's rows in `clinic_study`, at the moment of the statement. It counts the rows before the first pass. */
export function studiesOfClinic(clinicId: number) {
  const counted = select.selectFrom("clinic_study_count").select("studies").where("clinic_id", "=", clinicId);
  return sql<number>`coalesce(${counted} + ${waitingChange(clinicId)}, ${rowsOfClinic(clinicId)})`;
}

const select = expressionBuilder<Tables>();

function waitingChange(clinicId: number) {
  return select
    .selectFrom("clinic_study_change")
    .select(sql<number>`cast(coalesce(sum(change), 0) as bigint)`.as("change"))
    .where("clinic_id", "=", clinicId);
}

function rowsOfClinic(clinicId: number) {
  return select
    .selectFrom("clinic_study")
    .select((count) => count.fn.countAll<number>().as("rows"))
    .where("clinic_id", "=", clinicId);
}

/** The limit of a clinic, and how many new studies it has kept with the agents since the start. */
export interface Quota {
  /** Studies that a clinic may store; null for no limit. */
  readonly studiesMax: number | null;
  deferred: number;
}

/** The number of studies that a clinic stores: those that it reads, and those that wait for a patient. */
export async function storedStudies(session: Session, clinicId: number): Promise<number> {
  return (await session.first(stored, { clinicId }))?.studies ?? 0;
}

const stored = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("study")
    .select((count) => sql<number>`${studiesOfClinic(p.clinicId)} + ${count.fn.countAll<number>()}`.as("studies"))
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "is", null)
    .where("rejected_reason", "is", null),
);

/**
 * Adds the waiting changes to the count of each clinic that has many, and counts the clinics that have no count. It stops after a clinic
 * once `signal` is aborted.
 */
export async function countStudies(
  store: Store,
  { waitingMax = WAITING_MAX, signal }: { waitingMax?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const clinics = [...(await store.all(uncounted, {})), ...(await store.all(waiting, { waitingMax }))];
  for (const { clinicId } of clinics) {
    if (signal?.aborted === true) return;
    await store.transaction((session) => countClinic(session, clinicId));
  }
}

// A change is visible together with its row of `clinic_study`: a snapshot has both or none of them.
async function countClinic(session: Session, clinicId: number): Promise<void> {
  const added = await session.first(addChanges, { clinicId });
  if (added === undefined) await session.all(countRows, { clinicId });
  await session.all(removeChanges, { clinicId });
}

/** Counts at once and then every minute. @returns a function that stops it */
export function startCounting(store: Store, logger: Logger): () => Promise<void> {
  let pass: Promise<void> | undefined;
  const stopping = new AbortController();
  const count = () => {
    pass ??= countStudies(store, { signal: stopping.signal })
      .catch((error: unknown) => logger.warn({ err: error }, "the studies of the clinics could not be counted"))
      .finally(() => (pass = undefined));
  };
  const timer = setInterval(count, PASS_MS).unref();
  count();
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await pass;
  };
}

const uncounted = query((db) =>
  db
    .selectFrom("clinic")
    .leftJoin("clinic_study_count", "clinic_study_count.clinic_id", "clinic.id")
    .select("clinic.id as clinicId")
    .where("clinic_study_count.clinic_id", "is", null),
);

const waiting = query((db, p: { waitingMax: number }) =>
  db
    .selectFrom("clinic_study_change")
    .select("clinic_id as clinicId")
    .groupBy("clinic_id")
    .having((having) => having(having.fn.countAll(), ">", p.waitingMax)),
);

const addChanges = query(
  (db, p: { clinicId: number }) =>
    db
      .updateTable("clinic_study_count")
      .set({ studies: sql<number>`studies + ${waitingChange(p.clinicId)}` })
      .where("clinic_id", "=", p.clinicId)
      .returning("clinic_id"),
  noInvalidation,
);

const countRows = query(
  (db, p: { clinicId: number }) =>
    db
      .insertInto("clinic_study_count")
      .columns(["clinic_id", "studies"])
      .expression((from) =>
        from
          .selectFrom("clinic")
          .select(["id", rowsOfClinic(p.clinicId).as("studies")])
          .where("id", "=", p.clinicId),
      ),
  noInvalidation,
);

const removeChanges = query(
  (db, p: { clinicId: number }) => db.deleteFrom("clinic_study_change").where("clinic_id", "=", p.clinicId),
  noInvalidation,
);
