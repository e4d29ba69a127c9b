import { type ExpressionBuilder, sql } from "kysely";
import type { Tables } from "../../database/schema.ts";

/**
 * The columns of ReadFacts. A replaced revision of a study without a patient has an empty `patient_fp` in its JSON: nobody could read
 * it, so placing the study is not a correction.
 */
export function readFacts(p: { readonly clinicId: number }) {
  return (study: ExpressionBuilder<Tables, "study">) =>
    [
      study.ref("study.revision").as("revision"),
      study.ref("study.source").as("source"),
      sql<number>`case when study.clinic_id = ${p.clinicId} then 1 else 0 end`.as("is_own"),
      study
        .selectFrom("lab_order")
        .select("lab_order.accession")
        .whereRef("lab_order.fp", "=", "study.order_fp")
        .as("accession"),
      study
        .selectFrom("study_revision as replaced")
        .select((revision) => revision.fn.max<number | null>("replaced.replaced_at").as("at"))
        .whereRef("replaced.study_id", "=", "study.id")
        .where("replaced.body", "not like", sql.lit('%"patient_fp":""%'))
        .as("corrected_at"),
    ] as const;
}
