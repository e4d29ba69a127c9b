import { openFailures } from "../../../shared/clinical/control/study-quality.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";
import type { Session } from "../../database/query.ts";
import { pendingTests as findPendingTests } from "./pending-tests.ts";
import type { RevisionCause, StudyPage } from "../../dashboard/types/results/results.ts";

// Whether a report may leave the clinic.

/** The decision follows from these facts. */
export interface ShareFacts {
  readonly study: Pick<StudyPage, "place" | "conflicts" | "revisions" | "quality">;
  /** Tests of its order that still run, by their names. */
  readonly pendingTests: readonly string[];
}

/** @returns why the clinic may not share a study now; null if it may */
export async function refusalOfSharing(
  session: Session,
  { clinicId, study, now }: { clinicId: number; study: StudyPage; now: number },
): Promise<Refusal | null> {
  const orderFp = study.order?.fp ?? null;
  const pending = orderFp === null ? [] : await findPendingTests(session, { clinicId, orderFp, now });
  return shareRefusal({ study, pendingTests: pending });
}

/** Causes of a revision that has content of its own. The others move or flag what is there. */
const WITH_CONTENT: readonly RevisionCause[] = ["pushed", "imported", "entered", "corrected"];

/**
 * Returns why a study is not shared with its owner; null if it may be. This is the one place with the conditions. A control that
 * failed afterwards is not one of them: the one before the measurement passed.
 */
export function shareRefusal({ study, pendingTests }: ShareFacts): Refusal | null {
  const { place, conflicts, revisions, quality } = study;
  if (place.kind === "rejected") return refusal("SHARE.REJECTED");
  if (place.kind !== "patient") return refusal("SHARE.UNMATCHED");
  // The newest first. A revision that came after a contradicting result settles it.
  const content = revisions.find(({ cause }) => WITH_CONTENT.includes(cause));
  const isOpen = ({ at }: { at: string }) => content === undefined || Date.parse(at) >= Date.parse(content.at);
  if (conflicts.some(isOpen)) return refusal("SHARE.CONFLICT");
  if (pendingTests.length > 0) return refusal("SHARE.PENDING", pendingTests.join(", "));
  const failed = quality === null ? [] : openFailures(quality).filter((mark) => mark.quality === "failed");
  if (failed.length > 0) {
    return refusal("SHARE.CONTROL", [...new Set(failed.map(({ analyte }) => analyte))].join(", "));
  }
  return null;
}
