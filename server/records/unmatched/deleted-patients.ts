import { reasonOf } from "../../../shared/api/reason.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { flagForPatient } from "../studies/flags.ts";
import { markOutdatedFlags } from "../filing/outdated-flags.ts";
import { findIntactStudy, reviseStudy } from "../studies/studies.ts";
import { canonical } from "../studies/study-content.ts";

// Nobody sees the studies of a deleted patient. Those of a clinic's own devices are unmatched until the patient comes back.

/** Makes the studies of a deleted patient unmatched. A damaged one stays where it is. */
export async function releaseStudies(session: Session, patientId: number, now: number): Promise<void> {
  for (const { fp } of await session.all(ownStudiesOf, { patientId })) {
    const stored = await findIntactStudy(session, fp);
    if (stored === undefined) continue;
    const flagged = await flagForPatient(session, stored, null);
    const unmatched_reason = JSON.stringify(reasonOf("PATIENT.DELETED", stored.patient_fp ?? ""));
    await reviseStudy(
      session,
      stored,
      { ...flagged, patient_id: null, unmatched_reason, cause: "patient deleted" },
      now,
    );
  }
}

/** Files the studies again that wait since the patient was deleted, as they were. */
export async function restoreStudies(
  session: Session,
  { id, patient }: { readonly id: number; readonly patient: Patient },
  now: number,
): Promise<void> {
  for (const { fp, body } of await session.all(releasedStudies, { text: `%"patient_fp":"${patient.fp}"%` })) {
    const before = parseStored(body);
    if (before.patient_fp !== patient.fp) continue;
    const stored = await findIntactStudy(session, fp);
    if (stored === undefined) continue;
    const results = canonical(before.results);
    const snapshot = before.snapshot === null ? null : JSON.stringify(before.snapshot);
    const restored = { results, snapshot, patient_id: id, unmatched_reason: null, cause: "patient restored" } as const;
    await reviseStudy(session, stored, restored, now);
  }
  await markOutdatedFlags(session, id, patient, now);
}

const ownStudiesOf = query((db, p: { patientId: number }) =>
  db
    .selectFrom("study")
    .select("fp")
    .where("patient_id", "=", p.patientId)
    .where("clinic_id", "is not", null)
    .orderBy("id"),
);

// The body is JSON as replaceStudy() writes it, so that the studies of other patients are not read.
const releasedStudies = query((db, p: { text: string }) =>
  db
    .selectFrom("study")
    .innerJoin("study_revision", (join) =>
      join
        .onRef("study_revision.study_id", "=", "study.id")
        .onRef("study_revision.revision", "=", (select) => select("study.revision", "-", 1)),
    )
    .select(["study.fp", "study_revision.body"])
    .where("study.patient_id", "is", null)
    .where("study.cause", "=", "patient deleted")
    .where("study_revision.body", "like", p.text)
    .orderBy("study.id"),
);
