import { DateTime } from "luxon";
import { type RetentionPolicy, USUAL_RETENTION } from "../../dashboard/types/settings/clinic-settings.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { type Json, parseStored } from "../../database/schema.ts";
import type { Store } from "../../database/store.ts";
import { eraseInStudy, hasOwner } from "./owner-hints.ts";

// How long a clinic keeps what has no end of its own, or a late one.

/** Rows of a kind and a clinic that a pass removes, so that no writer waits for long. */
const ROWS_AT_ONCE = 1000;

export async function readRetention(session: Session, clinicId: number): Promise<RetentionPolicy> {
  return policyOf((await session.first(stored, { clinicId }))?.retention ?? null);
}

export async function storeRetention(session: Session, clinicId: number, policy: RetentionPolicy): Promise<void> {
  await session.all(upsert, { clinicId, retention: JSON.stringify(policy) });
}

function policyOf(text: Json<Partial<RetentionPolicy>> | null): RetentionPolicy {
  return { ...USUAL_RETENTION, ...parseStored(text) };
}

/** Removes what is older than the clinics chose. @returns the removed rows of each kind, of all clinics */
export async function pruneByPolicy(store: Store, now: number): Promise<Record<keyof RetentionPolicy, number>> {
  const removed = { report_links: 0, hints: 0 };
  for (const { clinic_id: clinicId, retention } of await store.all(chosen, {})) {
    const policy = policyOf(retention);
    await store.transaction(async (session) => {
      const prune = async (kind: keyof RetentionPolicy, remove: typeof removeLinks) => {
        const months = policy[kind];
        if (months !== null) removed[kind] += await remove(session, { clinicId, before: monthsBefore(now, months) });
      };
      await prune("report_links", removeLinks);
      await prune("hints", removeHints);
    });
  }
  return removed;
}

/** Months of the calendar, so that nothing goes before the clinic's term. No zone is a day away from UTC. */
function monthsBefore(now: number, months: number): number {
  return DateTime.fromMillis(now, { zone: "utc" }).minus({ months, days: 1 }).toMillis();
}

interface Ended {
  readonly clinicId: number;
  readonly before: number;
}

async function removeLinks(session: Session, ended: Ended): Promise<number> {
  return (await session.all(deleteLinks, ended)).length;
}

async function removeHints(session: Session, ended: Ended): Promise<number> {
  const studies = await session.all(oldHints, ended);
  for (const { id } of studies) await eraseInStudy(session, id);
  return studies.length;
}

const stored = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_settings").select("retention").where("clinic_id", "=", p.clinicId),
);

const chosen = query((db) =>
  db.selectFrom("clinic_settings").select(["clinic_id", "retention"]).where("retention", "is not", null),
);

const upsert = uncachedWrite((db, p: { clinicId: number; retention: string }) =>
  db
    .insertInto("clinic_settings")
    .values({ clinic_id: p.clinicId, retention: p.retention })
    .onConflict((conflict) => conflict.column("clinic_id").doUpdateSet({ retention: p.retention })),
);

const deleteLinks = uncachedWrite((db, p: Ended) =>
  db
    .deleteFrom("report_link")
    .where("id", "in", (old) =>
      old
        .selectFrom("report_link")
        .select("id")
        .where("clinic_id", "=", p.clinicId)
        .where("ends_at", "<", p.before)
        .limit(old.lit(ROWS_AT_ONCE)),
    )
    .returning("id"),
);

// A rejected result has a replaced revision, whose hint is that of before.
const oldHints = query((db, p: Ended) =>
  db
    .selectFrom("study")
    .select("id")
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "is", null)
    .where("received_at", "<", p.before)
    .where((where) =>
      where.or([
        hasOwner("study.patient_hint"),
        ...(["study_revision", "study_conflict"] as const).map((table) =>
          where.exists((body) =>
            body
              .selectFrom(table)
              .select(`${table}.study_id`)
              .whereRef(`${table}.study_id`, "=", "study.id")
              .where(hasOwner(`${table}.body`)),
          ),
        ),
      ]),
    )
    .limit(ROWS_AT_ONCE),
);
