import { createHash } from "node:crypto";
import type { ClinicRange, ClinicRanges } from "../../shared/clinical/clinic-ranges.ts";
import { noInvalidation, query, type Session } from "./database/query.ts";

// The clinics' own intervals. Each import is a version that stays, since studies say by which one they were flagged.

/** The rows in use; undefined where the clinic never imported any. */
export async function currentRanges(session: Session, clinicId: number): Promise<ClinicRanges | undefined> {
  const row = await session.first(latest, { clinicId });
  return row && toRanges(row);
}

/** The rows that a study's snapshot names by their version. */
export async function rangesOfVersion(
  session: Session,
  clinicId: number,
  version: string,
): Promise<ClinicRanges | undefined> {
  const row = await session.first(ofVersion, { clinicId, version });
  return row && toRanges(row);
}

/** Puts the rows in the place of all that the clinic had; null when they are what it has already. To be run in a transaction. */
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

// No answer of the read API shows them: studies keep the flags that they have.
const insert = query(
  (db, p: { clinicId: number; version: string; now: number; lowQuality: number; content: string }) =>
    db.insertInto("clinic_reference_interval_set").values({
      clinic_id: p.clinicId,
      version: p.version,
      imported_at: p.now,
      low_quality: p.lowQuality,
      content: p.content,
    }),
  noInvalidation,
);
