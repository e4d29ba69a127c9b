import { type Kysely, sql } from "kysely";
import type { StudyResult } from "../../../shared/clinical/units/shown-result.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { type FollowedStudy, UNSEEN_DAYS, UNSEEN_HOURS } from "../../dashboard/types/results/follow-up.ts";
import { CRITICAL_HOURS } from "../../dashboard/types/results/today.ts";
import { leftOut } from "../../database/damaged-records.ts";
import { query, type Session, shownSpecies } from "../../database/query.ts";
import type { StudyColumns, Tables } from "../../database/schema.ts";
import { type FlaggedStudy, rangesOfStudies, storedResults } from "../studies/stored-results.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import { outsideOf } from "../results/study-rows.ts";

// The studies on Today that a person should look at: those that nobody saw, and the user's own.

const HOUR_MS = 3_600_000;

/** Studies in one list. */
const LISTED_MAX = 30;

interface Listed {
  readonly studies: FollowedStudy[];
  readonly leftOut: number;
}

/**
 * Lists the clinic's own abnormal studies that nobody saw for a day since they came or were assigned, the oldest first. Critical values
 * have a list of their own at first.
 */
export async function unseenForADay(
  session: Session,
  { clinicId, units, now }: { clinicId: number; units: UnitChoice; now: number },
): Promise<Listed> {
  const rows = await session.all(unseen, {
    clinicId,
    since: now - UNSEEN_DAYS * 24 * HOUR_MS,
    until: now - UNSEEN_HOURS * HOUR_MS,
    criticalSince: now - CRITICAL_HOURS * HOUR_MS,
  });
  return followedStudies(session, rows, units);
}

/** Lists the open follow-ups of a user in a clinic, the oldest first. */
export async function openOf(
  session: Session,
  { clinicId, userId, units }: { clinicId: number; userId: number; units: UnitChoice },
): Promise<Listed> {
  const rows = await session.all(own, { clinicId, userId });
  return followedStudies(session, rows, units);
}

async function followedStudies(session: Session, rows: readonly FollowedRow[], units: UnitChoice): Promise<Listed> {
  const rangesOf = await rangesOfStudies(session, rows);
  const studies = rows.map((row) => toFollowed(row, storedResults(row, rangesOf), units));
  return { studies, leftOut: leftOut(rows) };
}

interface FollowedRow extends FlaggedStudy {
  fp: string;
  revision: number;
  device_name: string;
  modality: StudyColumns["modality"];
  received_at: number;
  results: StudyColumns["results"];
  patient_fp: string | null;
  patient_name: string | null;
  species: string | null;
  responsible: string | null;
  assigned_at: number | null;
}

function toFollowed(row: FollowedRow, results: readonly StudyResult[], units: UnitChoice): FollowedStudy {
  const { fp, revision, device_name, modality, patient_fp, patient_name, species, responsible, assigned_at } = row;
  return {
    ...{ fp, revision, device_name, modality },
    patient: patient_fp === null ? null : { fp: patient_fp, name: patient_name ?? "", species: species ?? "" },
    received_at: timestampOf(row.received_at),
    ...outsideOf(results, units),
    responsible:
      responsible === null ? null : { name: responsible, since: timestampOf(assigned_at ?? row.received_at) },
  };
}

/** Studies of the clinic's patients with their follow-up, and its own unmatched ones. */
function followed(db: Kysely<Tables>, clinicId: number) {
  return db
    .selectFrom("study")
    .leftJoin("clinic_patient as link", (join) =>
      join
        .onRef("link.patient_id", "=", "study.patient_id")
        .on("link.clinic_id", "=", clinicId)
        .on("link.listed", "=", 1),
    )
    .leftJoin("patient", "patient.id", "link.patient_id")
    .leftJoin("follow_up", (join) =>
      join.onRef("follow_up.study_id", "=", "study.id").on("follow_up.clinic_id", "=", clinicId),
    )
    .leftJoin("dashboard_user as user", "user.id", "follow_up.responsible_id")
    .select(STUDY_CONTENT)
    .select([
      "study.clinic_id",
      "study.snapshot",
      "study.revision",
      "study.received_at",
      "follow_up.assigned_at",
      "user.name as responsible",
    ])
    .select(["patient.fp as patient_fp", "patient.name as patient_name", shownSpecies.as("species")]);
}

// Chooses few ids among many first. The severities are literals, because no engine matches a parameter with the condition of an index:
// study_abnormal holds the clinic's days alone.
export const unseen = checked(
  query((db, p: { clinicId: number; since: number; until: number; criticalSince: number }) =>
    followed(db, p.clinicId)
      .where("study.id", "in", (chosen) =>
        chosen
          .selectFrom("study as waiting")
          .select("waiting.id")
          .where("waiting.clinic_id", "=", p.clinicId)
          .where("waiting.severity", ">", sql.lit(0))
          .where("waiting.received_at", ">=", p.since)
          .where("waiting.received_at", "<", p.until)
          // An imported file may hold the values of years.
          .where("waiting.cause", "!=", "imported")
          .where((where) =>
            where.or([where("waiting.severity", "<", sql.lit(2)), where("waiting.received_at", "<", p.criticalSince)]),
          )
          .where((of) =>
            of.and([
              of.exists(
                of
                  .selectFrom("clinic_patient")
                  .select("clinic_patient.patient_id")
                  .where("clinic_patient.clinic_id", "=", p.clinicId)
                  .whereRef("clinic_patient.patient_id", "=", "waiting.patient_id")
                  .where("clinic_patient.listed", "=", 1),
              ),
              of.not(
                of.exists(
                  of
                    .selectFrom("study_seen as seen")
                    .select("seen.study_id")
                    .where("seen.clinic_id", "=", p.clinicId)
                    .whereRef("seen.study_id", "=", "waiting.id")
                    .whereRef("seen.revision", ">=", "waiting.revision"),
                ),
              ),
              of.not(
                of.exists(
                  of
                    .selectFrom("follow_up as taken")
                    .select("taken.study_id")
                    .where("taken.clinic_id", "=", p.clinicId)
                    .whereRef("taken.study_id", "=", "waiting.id")
                    .where((where) =>
                      where.or([where("taken.done_at", "is not", null), where("taken.assigned_at", ">=", p.until)]),
                    ),
                ),
              ),
            ]),
          )
          .orderBy("waiting.received_at")
          .limit(LISTED_MAX),
      )
      .orderBy("study.received_at"),
  ),
);

const own = checked(
  query((db, p: { clinicId: number; userId: number }) =>
    followed(db, p.clinicId)
      .where("follow_up.clinic_id", "=", p.clinicId)
      .where("follow_up.responsible_id", "=", p.userId)
      .where("follow_up.done_at", "is", null)
      .where((where) =>
        where.or([
          where("link.patient_id", "is not", null),
          where.and([
            where("study.patient_id", "is", null),
            where("study.clinic_id", "=", p.clinicId),
            where("study.rejected_reason", "is", null),
          ]),
        ]),
      )
      .orderBy("follow_up.opened_at")
      .limit(LISTED_MAX),
  ),
);
