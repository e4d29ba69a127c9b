import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import type { Store } from "../../database/store.ts";
import { query, uncachedWrite } from "../../database/query.ts";
import { isThere } from "../clinics/clinics.ts";

// The bytes that the results and pictures of each clinic take. No index has them, so each clinic is measured once a day in steps, and the
// list, the pages and the bill read the last measure. Both engines know the length of a text without reading it.

const DAY_MS = 86_400_000;

/** Studies that a step measures. */
const STEP_STUDIES = 1000;

/**
 * Measures the clinic whose measure is the oldest, if that is older than a day. It reads outside of transactions, which pushes would
 * wait for. @returns false if no clinic is due
 */
export async function measureNext(store: Store, now: number): Promise<boolean> {
  const due = await store.first(stalest, { before: now - DAY_MS });
  if (due === undefined) return false;
  const clinicId = due.id;
  let bytes = 0;
  let after = { at: Number.MIN_SAFE_INTEGER, id: 0 };
  for (let studies = STEP_STUDIES; studies === STEP_STUDIES; await nextTurn()) {
    const step = await store.all(lengthsAfter, { clinicId, ...after });
    for (const { results, pictures } of step) bytes += results + pictures;
    const last = step.at(-1);
    if (last !== undefined) after = { at: last.acquired_at, id: last.id };
    studies = step.length;
  }
  await store.transaction((session) => session.all(keep, { clinicId, bytes, now }));
  return true;
}

const stalest = query((db, p: { before: number }) =>
  db
    .selectFrom("clinic")
    .leftJoin("clinic_storage", "clinic_storage.clinic_id", "clinic.id")
    .select("clinic.id")
    .where(isThere)
    .where(sql<boolean>`coalesce(clinic_storage.measured_at, 0) < ${p.before}`)
    .orderBy(sql`coalesce(clinic_storage.measured_at, 0)`)
    .orderBy("clinic.id")
    .limit(1),
);

// A picture is kept in base64, of which four characters are three bytes.
const lengthsAfter = query((db, p: { clinicId: number; at: number; id: number }) =>
  db
    .selectFrom("study")
    .select(["id", "acquired_at", sql<number>`octet_length(results)`.as("results")])
    .select(
      sql<number>`(select cast(coalesce(sum(octet_length(png)), 0) * 3 / 4 as bigint) from study_preview
        where study_preview.study_id = study.id)`.as("pictures"),
    )
    .where("clinic_id", "=", p.clinicId)
    .where(sql<boolean>`(acquired_at, id) > (cast(${p.at} as bigint), cast(${p.id} as bigint))`)
    .orderBy("acquired_at")
    .orderBy("id")
    .limit(sql.lit(STEP_STUDIES)),
);

// A clinic whose erasure ended meanwhile keeps no row.
const keep = uncachedWrite((db, p: { clinicId: number; bytes: number; now: number }) =>
  db
    .insertInto("clinic_storage")
    .columns(["clinic_id", "bytes", "measured_at"])
    .expression(
      db
        .selectFrom("clinic")
        .select(["id", sql<number>`cast(${p.bytes} as bigint)`.as("bytes")])
        .select(sql<number>`cast(${p.now} as bigint)`.as("measured_at"))
        .where("id", "=", p.clinicId)
        .where(isThere),
    )
    .onConflict((conflict) => conflict.column("clinic_id").doUpdateSet({ bytes: p.bytes, measured_at: p.now })),
);
