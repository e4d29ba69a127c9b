import { createHash } from "node:crypto";
import type { ClinicRange, ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";

// Reference intervals of the clinics. Each import stays as a version, because snapshots of studies name their version.

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

/** Replaces all intervals of the clinic. Run it in a transaction. @returns null if they are equal to the current ones */
export async function replaceRanges(
  session: Session,
  clinicId: number,
  { low_quality, rows }: Omit<ClinicRanges, "version">,
  now: number,
): Promise<ClinicRanges | null> {
  const content = JSON.stringify(rows);
  const version = createHash("sha256").update(`${low_quality} ${content}`).digest("hex").slice(0, 12);
  if ((await session.first(latest, { clinicId }))?.version === version) return null;
  await session.all(insert, { clinicId, version, now, lowQuality: low_quality ? 1 : 0, content });
  return { version, low_quality, rows };
}

function toRanges(row: { version: string; low_quality: number; content: string }): ClinicRanges {
  const { version, low_quality, content } = row;
  return { version, low_quality: low_quality === 1, rows: JSON.parse(content) as ClinicRange[] };
}

const latest = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_reference_interval_set")
    .select(["version", "low_quality", "content"])
    .where("clinic_id", "=", p.clinicId)
    .orderBy("id", "desc")
    .limit(1),
);

const ofVersion = query((db, p: { clinicId: number; version: string }) =>
  db
    .selectFrom("clinic_reference_interval_set")
    .select(["version", "low_quality", "content"])
    .where("clinic_id", "=", p.clinicId)
    .where("version", "=", p.version)
    .limit(1),
);

// No cached response contains intervals, and stored studies keep their flags.
const insert = uncachedWrite(
  (db, p: { clinicId: number; version: string; now: number; lowQuality: number; content: string }) =>
    db.insertInto("clinic_reference_interval_set").values({
      clinic_id: p.clinicId,
      version: p.version,
      imported_at: p.now,
      low_quality: p.lowQuality,
      content: p.content,
    }),
);
