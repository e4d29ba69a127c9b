import type { ReportContext } from "../../dashboard/types/results/report.ts";
import type { ReportQuery, StudyPage } from "../../dashboard/types/results/results.ts";
import { findClinicName } from "../clinics/clinics.ts";
import { readReportHead } from "../clinics/report-head.ts";
import { query, type Session } from "../../database/query.ts";

// The facts of a printed report in addition to its study.

interface Asked {
  readonly clinicId: number;
  readonly study: Pick<StudyPage, "patient">;
  readonly now: number;
  /** Set for a reader who is not the animal's owner of today. */
  readonly hidesOwner?: boolean;
}

/** Loads the context of a study's report for a clinic that may see the study. */
export async function loadReportContext(
  session: Session,
  { clinicId, study, hidesOwner = false, ...given }: ReportQuery & Asked,
): Promise<ReportContext> {
  const fp = study.patient?.fp;
  const owner = fp === undefined || hidesOwner ? undefined : await session.first(ownerOfListed, { clinicId, fp });
  return {
    ...given,
    clinicName: await findClinicName(session, clinicId),
    ...(await readReportHead(session, clinicId)),
    owner: owner?.name == null ? null : { name: owner.name, phone: owner.phone },
  };
}

// A clinic sees the owners of the animals that it lists.
const ownerOfListed = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("patient")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient.id")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .select(["customer.name", "customer.phone"])
    .where("patient.fp", "=", p.fp)
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1),
);
