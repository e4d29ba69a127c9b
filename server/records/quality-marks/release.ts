import { isFailure, markText, type QualityMark } from "../../../shared/clinical/control/study-quality.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";
import type { Session } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import type { StoredStudy } from "../studies/studies.ts";
import { writeQuality } from "./remark-studies.ts";

/**
 * Releases the results of a study that were measured before or after a failed control: a person decided that they may be used, and
 * says why. `seen` are the failures that the person saw. @returns why it changes nothing, else null
 */
export async function releaseStudy(
  session: Session,
  stored: StoredStudy,
  { reason, seen }: { readonly reason: string; readonly seen: readonly string[] },
  actor: AuditActor & { readonly clinicId: number },
): Promise<Refusal | null> {
  // The clinic whose device measured it knows its controls.
  if (stored.clinic_id !== actor.clinicId) return refusal("STUDY.OTHER_CLINIC");
  const quality = parseStored(stored.quality);
  const failures = quality?.marks.filter(isFailure) ?? [];
  if (quality === null || failures.length === 0) return refusal("QUALITY.NOTHING");
  if (!isSame(failures, seen)) return refusal("QUALITY.CHANGED");
  const released = { by: actor.by, at: actor.now, reason, marks: failures };
  await writeQuality(session, stored, JSON.stringify({ ...quality, released }), actor.now);
  await auditCommand(session, "study release", [stored.fp, stored.patient_fp], actor);
  return null;
}

function isSame(failures: readonly QualityMark[], seen: readonly string[]): boolean {
  return JSON.stringify(failures.map(markText).toSorted()) === JSON.stringify(seen.toSorted());
}
