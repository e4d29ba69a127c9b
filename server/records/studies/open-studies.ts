import type { Kysely } from "kysely";
import { query } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";

/** Studies that a clinic may open: those of the patients that it lists (`link`), and its own unmatched ones. */
export function openStudies(db: Kysely<Tables>, clinicId: number) {
  return db
    .selectFrom("study")
    .leftJoin("clinic_patient as link", (join) =>
      join
        .onRef("link.patient_id", "=", "study.patient_id")
        .on("link.clinic_id", "=", clinicId)
        .on("link.listed", "=", 1),
    )
    .where((where) =>
      where.or([
        where("link.patient_id", "is not", null),
        where.and([where("study.patient_id", "is", null), where("study.clinic_id", "=", clinicId)]),
      ]),
    );
}

export const openStudy = query((db, p: { clinicId: number; fp: string }) =>
  openStudies(db, p.clinicId).select(["study.id", "study.revision"]).where("study.fp", "=", p.fp),
);
