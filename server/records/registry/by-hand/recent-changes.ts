import type { RecentChange } from "../../../dashboard/types/animals.ts";
import { query, type Session } from "../../../database/query.ts";
import { patientByFp } from "../animals.ts";
import { undoableSince } from "../batches.ts";

// The changes that users made to an animal and its owner within the time of the undo, and the merges into it.

const LISTED_MAX = 20;

/** Lists the changes that nobody undid, the newest first. The caller has checked that the clinic sees the animal. */
export async function listRecentChanges(
  session: Session,
  { clinicId, fp, now }: { clinicId: number; fp: string; now: number },
): Promise<RecentChange[]> {
  const stored = await session.first(patientByFp, { fp });
  if (stored === undefined) return [];
  const { id, owner_customer_fp: ownerFp } = stored;
  const rows = await session.all(changesOf, { clinicId, id, fp, ownerFp, since: undoableSince(now) });
  const changes = new Map<string, RecentChange>();
  for (const { batch, kind, merged, at, by, before, after } of rows) {
    // An animal and its owner may be in one batch.
    if (changes.has(batch) && kind === "owner") continue;
    const what = merged !== null ? "merged" : kind === "owner" ? "owner" : whatOf(before, after);
    changes.set(batch, { batch, what, merged, at: new Date(at).toISOString(), by });
  }
  return [...changes.values()].slice(0, LISTED_MAX);
}

/** Lists the fps of the first animals and owners that a batch changed, for the audit of its undo. */
export async function subjectsOfBatch(session: Session, fp: string): Promise<string[]> {
  const rows = await session.all(subjects, { fp, limit: LISTED_MAX });
  return rows.map(({ subject }) => subject);
}

interface Dates {
  readonly deceased_at: number | null;
  readonly deleted_at: number | null;
}

function whatOf(before: string | null, after: string): RecentChange["what"] {
  if (before === null) return "added";
  const [was, is] = [JSON.parse(before) as Dates, JSON.parse(after) as Dates];
  if ((was.deleted_at === null) !== (is.deleted_at === null)) return is.deleted_at === null ? "restored" : "removed";
  return was.deceased_at === is.deceased_at ? "changed" : "deceased";
}

const subjects = query((db, p: { fp: string; limit: number }) =>
  db
    .selectFrom("batch")
    .innerJoin("batch_row as row", "row.batch_id", "batch.id")
    .select("row.subject")
    .where("batch.fp", "=", p.fp)
    .where("row.kind", "in", ["animal", "owner"])
    .orderBy("row.id")
    .limit(p.limit),
);

interface Sought {
  readonly clinicId: number;
  readonly id: number;
  readonly fp: string;
  readonly ownerFp: string;
  readonly since: number;
}

const changesOf = query((db, p: Sought) =>
  db
    .selectFrom("batch")
    .innerJoin("batch_row as row", "row.batch_id", "batch.id")
    .leftJoin("dashboard_user as user", "user.id", "batch.user_id")
    .leftJoin("patient as merged", (join) =>
      join.onRef("merged.fp", "=", "row.subject").on("merged.merged_into_id", "=", p.id),
    )
    .select(["batch.fp as batch", "batch.at", "user.name as by", "merged.name as merged"])
    .select(["row.kind", "row.before", "row.after"])
    .where("batch.clinic_id", "=", p.clinicId)
    .where("batch.at", ">", p.since)
    .where("batch.undone_at", "is", null)
    // The rows of a file are many: its batch is left out first.
    .where("batch.door", "in", ["hand", "merge"])
    .where("row.kind", "in", ["animal", "owner"])
    .where((where) =>
      where.or([
        where.and([where("batch.door", "=", "hand"), where("row.subject", "=", p.fp)]),
        // An owner whom the batch created came with an animal.
        where.and([where("row.subject", "=", p.ownerFp), where("row.before", "is not", null)]),
        where.and([where("batch.door", "=", "merge"), where("merged.id", "is not", null)]),
      ]),
    )
    .orderBy("batch.id", "desc")
    .limit(100),
);
