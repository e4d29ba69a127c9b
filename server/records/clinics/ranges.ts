import { createHash } from "node:crypto";
import type { ClinicRanges, ClinicRange } from "../../../shared/clinical/clinic-ranges.ts";
import type { AcceptedLimit } from "../../../shared/clinical/critical-limits.ts";
import { query, type Session } from "../../database/query.ts";
import { type Json, parseStored } from "../../database/schema.ts";

// Reference intervals of the clinics and the critical limits that they accepted. Each import and each decision stays as a version,
// because snapshots of studies name their version.

/** @returns the intervals in use; undefined if the clinic never imported any */
export async function currentRanges(session: Session, clinicId: number): Promise<ClinicRanges | undefined> {
  const row = await session.first(latest, { clinicId });
  return row && toRanges(row);
}

/** Finds the intervals of a version that a snapshot names. */
export async function rangesOfVersion(
  session: Session,
  clinicId: number,
  version: string,
): Promise<ClinicRanges | undefined> {
  const row = await session.first(ofVersion, { clinicId, version });
  return row && toRanges(row);
}

/**
 * Replaces all intervals of the clinic; its critical limits stay. Run it in a transaction.
 * @returns null if they are equal to the current ones
 */
export async function replaceRanges(
  session: Session,
  clinicId: number,
  { low_quality, rows }: Pick<ClinicRanges, "low_quality" | "rows">,
  now: number,
): Promise<ClinicRanges | null> {
  const current = await currentRanges(session, clinicId);
  return store(session, clinicId, { low_quality, rows, ...limitsOf(current?.limits) }, now);
}

/** Replaces the critical limits of the clinic; its intervals stay. No limits is a decision too. Run it in a transaction. */
export async function replaceLimits(
  session: Session,
  clinicId: number,
  limits: readonly AcceptedLimit[],
  now: number,
): Promise<void> {
  const { low_quality = false, rows = [] } = (await currentRanges(session, clinicId)) ?? {};
  await store(session, clinicId, { low_quality, rows, ...limitsOf(limits) }, now);
}

async function store(
  session: Session,
  clinicId: number,
  { low_quality, rows, limits }: Omit<ClinicRanges, "version">,
  now: number,
): Promise<ClinicRanges | null> {
  const content = JSON.stringify(rows);
  const accepted = limits === undefined ? null : JSON.stringify(limits);
  const hashed = `${low_quality} ${content}${accepted === null ? "" : ` ${accepted}`}`;
  const version = createHash("sha256").update(hashed).digest("hex").slice(0, 12);
  if ((await session.first(latest, { clinicId }))?.version === version) return null;
  await session.all(insert, { clinicId, version, now, lowQuality: low_quality ? 1 : 0, content, limits: accepted });
  return { version, low_quality, rows, ...limitsOf(limits) };
}

function limitsOf(limits: readonly AcceptedLimit[] | undefined): Pick<ClinicRanges, "limits"> {
  return limits === undefined ? {} : { limits: [...limits] };
}

function toRanges(row: {
  version: string;
  low_quality: number;
  content: Json<ClinicRange[]>;
  limits: Json<AcceptedLimit[]> | null;
}): ClinicRanges {
  const { version, low_quality, content, limits } = row;
  const accepted = limits === null ? undefined : parseStored(limits);
  return {
    version,
    low_quality: low_quality === 1,
    rows: parseStored(content),
    ...limitsOf(accepted),
  };
}

const latest = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_reference_interval_set")
    .select(["version", "low_quality", "content", "limits"])
    .where("clinic_id", "=", p.clinicId)
    .orderBy("id", "desc")
    .limit(1),
);

const ofVersion = query((db, p: { clinicId: number; version: string }) =>
  db
    .selectFrom("clinic_reference_interval_set")
    .select(["version", "low_quality", "content", "limits"])
    .where("clinic_id", "=", p.clinicId)
    .where("version", "=", p.version)
    .limit(1),
);

// No response of the read API contains intervals. The clinic's version also notifies open pages and agents of the change.
const insert = query(
  (
    db,
    p: { clinicId: number; version: string; now: number; lowQuality: number; content: string; limits: string | null },
  ) =>
    db.insertInto("clinic_reference_interval_set").values({
      clinic_id: p.clinicId,
      version: p.version,
      imported_at: p.now,
      low_quality: p.lowQuality,
      content: p.content,
      limits: p.limits,
    }),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);
