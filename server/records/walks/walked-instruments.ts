import { query, type Session } from "../../database/query.ts";

/** Lists the names of the instruments in the studies that a clinic reads. */
export async function listInstruments(session: Session, clinicId: number): Promise<string[]> {
  return (await session.all(names, { clinicId })).map(({ device_name }) => device_name);
}

const names = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_study")
    .innerJoin("study", "study.id", "clinic_study.study_id")
    .innerJoin("clinic_patient", (join) =>
      join
        .onRef("clinic_patient.patient_id", "=", "study.patient_id")
        .onRef("clinic_patient.clinic_id", "=", "clinic_study.clinic_id")
        .on("clinic_patient.listed", "=", 1),
    )
    .select("study.device_name")
    .distinct()
    .where("clinic_study.clinic_id", "=", p.clinicId)
    .orderBy("study.device_name"),
);
