import type { AlertKind } from "../../operations/alerts/kinds.ts";
import { type Kysely, sql } from "kysely";
import type { OpenAlert } from "../../operations/alerts/step.ts";
import { shownResult } from "../../../shared/clinical/units/shown-result.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import {
  type AlertShown,
  type ConflictOfStudy,
  CRITICAL_HOURS,
  type CriticalStudy,
  type EndingKey,
  type MenuCounts,
  type NewResult,
  NEWEST_MAX,
  type TodayState,
} from "../../dashboard/types/results/today.ts";
import { endingKeys, type KeyEnd, silentSources, worstFlag } from "../agents/attention.ts";
import { leftOut } from "../../database/damaged-records.ts";
import { query, type Session, shownSpecies } from "../../database/query.ts";
import { openStudies } from "../studies/open-studies.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { openOf, unseenForADay } from "../follow-up/lists.ts";
import { countUnknownCodes } from "../codes/unknown-codes.ts";
import { countNotRun, countOrders } from "../orders/order-counts.ts";
import { controlNeeds, devicesInUse } from "../controls/needs.ts";
import { readQuality } from "../controls/overview.ts";
import { readAlertBook } from "./alerts.ts";
import { openFirstSteps } from "./first-steps.ts";
import { type FlaggedStudy, type RangesOf, rangesOfStudies, storedResults } from "../studies/stored-results.ts";
import { connectionNews } from "../patients/connection-answers.ts";
import { Moment } from "../../operations/alerts/moment.ts";
import { readHeardAgents } from "../agents/devices.ts";
import { parseStored, type StudyColumns, type Tables } from "../../database/schema.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import { heardReason } from "../../dashboard/types/devices/heard-reason.ts";
import { outsideOf } from "../results/study-rows.ts";

// The work that needs a person of a clinic today, and its newest results.

const HOUR_MS = 3_600_000;

/** Days of the newest results. Without a bound a quiet clinic's page reads the studies of all clinics of the server. */
const NEWEST_DAYS = 14;

/** Critical studies and conflicts in the list. The page counts the listed ones, so that its count ends here too. */
const LISTED_MAX = 100;

/** Values outside their intervals in a row of the newest results. */
const OUTSIDE_MAX = 3;

/** Alerts for admins alone. */
const ofAdmins: readonly AlertKind[] = ["key-ends", "password-known", "webhook-paused"];

/** Reads what needs a person. Only admins get the keys that end. */
export async function readToday(
  session: Session,
  {
    clinicId,
    userId,
    timeZone,
    isAdmin,
    units,
    now,
  }: { clinicId: number; userId: number; timeZone: string | null; isAdmin: boolean; units: UnitChoice; now: number },
): Promise<TodayState> {
  const waiting = await session.first(unmatched, { clinicId });
  const keys = await session.all(keysInUse, { clinicId });
  const criticalRows = await session.all(critical, { clinicId, since: now - CRITICAL_HOURS * HOUR_MS });
  const newestRows = await session.all(newest, { clinicId, since: now - NEWEST_DAYS * 24 * HOUR_MS });
  const reader = { units, rangesOf: await rangesOfStudies(session, [...criticalRows, ...newestRows]) };
  const unseen = await unseenForADay(session, { clinicId, units, now });
  const yours = await openOf(session, { clinicId, userId, units });
  const moment = new Moment(now);
  const { agents } = await readHeardAgents(session, { clinicId, timeZone, moment });
  const quality = await readQuality(session, { clinicId, timeZone, now });
  const devices = await devicesInUse(session, quality, { clinicId, agents, now });
  return {
    first_steps: isAdmin ? await openFirstSteps(session, clinicId) : [],
    unmatched: { count: waiting?.count ?? 0, oldest_at: waiting?.oldest == null ? null : timestampOf(waiting.oldest) },
    unknown_codes: await countUnknownCodes(session, clinicId),
    critical: criticalRows.map((row) => toCritical(row, reader)),
    unseen: unseen.studies,
    yours: yours.studies,
    conflicts: await unseenConflicts(session, clinicId, units),
    silent: silentSources(agents, keys),
    controls: controlNeeds({ devices }, now),
    keys: isAdmin ? endingKeys(keys, moment).map(toEndingKey) : [],
    alerts: (await readAlertBook(session, clinicId)).open
      .filter(({ kind }) => isAdmin || !ofAdmins.includes(kind))
      .map(toAlertShown),
    connections: await connectionNews(session, clinicId, now),
    orders: await countOrders(session, clinicId, now),
    newest: newestRows.map((row) => toNewResult(row, reader)),
    // A damaged study may be in several lists.
    left_out: Math.max(leftOut(criticalRows), leftOut(newestRows), unseen.leftOut, yours.leftOut),
  };
}

/** Counts what waits for a person, for the menu of each page. */
export async function countForMenu(
  session: Session,
  { clinicId, timeZone, now }: { clinicId: number; timeZone: string | null; now: number },
): Promise<MenuCounts> {
  const { agents } = await readHeardAgents(session, { clinicId, timeZone, moment: new Moment(now) });
  return {
    to_place: (await session.first(unmatched, { clinicId }))?.count ?? 0,
    not_run: await countNotRun(session, clinicId, now),
    devices: silentSources(agents, await session.all(keysInUse, { clinicId })).length,
  };
}

interface Reader {
  readonly units: UnitChoice;
  readonly rangesOf: RangesOf;
}

function toCritical(row: StudyRow, reader: Reader): CriticalStudy {
  const critical = storedResults(row, reader.rangesOf).filter(({ result: { flag } }) => flag === "critical");
  return {
    ...toNewResult(row, reader),
    values: critical.map((each) => {
      const { value, unit, reference_range } = shownResult(each, reader.units);
      return { analyte: each.result.analyte, value, unit, reference_range };
    }),
  };
}

async function unseenConflicts(session: Session, clinicId: number, units: UnitChoice): Promise<ConflictOfStudy[]> {
  const rows = await session.all(conflicts, { clinicId });
  const found: ConflictOfStudy[] = [];
  for (const { fp, reason, at } of rows) {
    // `all` leaves a damaged study out, and its conflict is shown without its values.
    const [study] = await session.all(visibleByFp, { clinicId, fp });
    found.push({
      fp,
      reason: parseStored(reason),
      at: timestampOf(at),
      study:
        study === undefined ? null : toNewResult(study, { units, rangesOf: await rangesOfStudies(session, [study]) }),
    });
  }
  return found;
}

function toEndingKey({ public_id: id, name, expires_at }: KeyEnd & { expires_at: number }): EndingKey {
  return { id, name, expires_at: timestampOf(expires_at) };
}

function toAlertShown({ key, kind, subject, since, count, path, ...why }: OpenAlert): AlertShown {
  return {
    key,
    kind,
    subject,
    since: timestampOf(since),
    count: count ?? 1,
    ...(heardReason(why) ?? { reason: null }),
    path: path ?? null,
  };
}

interface StudyRow extends FlaggedStudy {
  fp: string;
  revision: number;
  device_name: string;
  modality: StudyColumns["modality"];
  acquired_at: number;
  received_at: number;
  results: StudyColumns["results"];
  patient_hint: StudyColumns["patient_hint"];
  patient_fp: string | null;
  patient_name: string | null;
  species: string | null;
}

function toNewResult(row: StudyRow, { units, rangesOf }: Reader): NewResult {
  const results = storedResults(row, rangesOf);
  const sent = results.map(({ result }) => result);
  const { fp, revision, device_name, modality, patient_fp, patient_name, species } = row;
  const hint = parseStored(row.patient_hint);
  return {
    fp,
    revision,
    patient: patient_fp === null ? null : { fp: patient_fp, name: patient_name ?? "", species: species ?? "" },
    said: patient_fp === null ? (hint?.name ?? hint?.identifier ?? null) : null,
    device_name,
    modality,
    acquired_at: timestampOf(row.acquired_at),
    received_at: timestampOf(row.received_at),
    worst_flag: worstFlag(sent),
    ...(sent.some(({ abnormal }) => abnormal === true) ? { abnormal: true as const } : {}),
    ...outsideOf(results, units, OUTSIDE_MAX),
  };
}

export const unmatched = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("study")
    .select((select) => [
      select.fn.countAll<number>().as("count"),
      select.fn.min<number | null>("study.received_at").as("oldest"),
    ])
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "is", null)
    .where("rejected_reason", "is", null),
);

function visible(db: Kysely<Tables>, p: { clinicId: number }) {
  return openStudies(db, p.clinicId)
    .leftJoin("patient", "patient.id", "link.patient_id")
    .select(STUDY_CONTENT)
    .select(["study.revision", "study.received_at", "study.patient_hint", "study.clinic_id", "study.snapshot"])
    .select(["patient.fp as patient_fp", "patient.name as patient_name", shownSpecies.as("species")]);
}

const visibleByFp = checked(
  query((db, p: { clinicId: number; fp: string }) => visible(db, p).where("study.fp", "=", p.fp)),
);

const newest = checked(
  query((db, p: { clinicId: number; since: number }) =>
    visible(db, p)
      .where("study.received_at", ">=", p.since)
      .where("study.rejected_reason", "is", null)
      .orderBy("study.received_at", "desc")
      .orderBy("study.id", "desc")
      .limit(NEWEST_MAX),
  ),
);

/** `severity` of a study with a critical value. A literal, because no engine matches a parameter with the condition of an index. */
const CRITICAL = sql.lit(2);

/** Studies with critical values that no user of the clinic saw. */
function unseenCriticalOf(db: Kysely<Tables>, p: { clinicId: number }) {
  return visible(db, p)
    .where("study.severity", "=", CRITICAL)
    .leftJoin("study_seen as seen", (join) =>
      join.onRef("seen.study_id", "=", "study.id").on("seen.clinic_id", "=", p.clinicId),
    )
    .where((where) =>
      where.or([where("seen.revision", "is", null), where("seen.revision", "<", where.ref("study.revision"))]),
    );
}

// An imported file may hold the values of years, so that its studies count by the time of the sample.
export const critical = checked(
  query((db, p: { clinicId: number; since: number }) =>
    unseenCriticalOf(db, p)
      .select("study.cause")
      .where("study.received_at", ">=", p.since)
      .where((where) => where.or([where("study.cause", "!=", "imported"), where("study.acquired_at", ">=", p.since)]))
      .orderBy("study.received_at", "desc")
      .orderBy("study.id", "desc")
      .limit(LISTED_MAX),
  ),
);

export const criticalByFp = checked(
  query((db, p: { clinicId: number; fp: string }) => unseenCriticalOf(db, p).where("study.fp", "=", p.fp)),
);

const conflicts = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("study_conflict as conflict")
    .innerJoin("study", "study.id", "conflict.study_id")
    .leftJoin("study_seen as seen", (join) =>
      join.onRef("seen.study_id", "=", "study.id").on("seen.clinic_id", "=", p.clinicId),
    )
    .select(["study.fp", "conflict.reason", "conflict.received_at as at"])
    .where("conflict.clinic_id", "=", p.clinicId)
    .where((where) =>
      where.or([where("seen.seen_at", "is", null), where("seen.seen_at", "<", where.ref("conflict.received_at"))]),
    )
    .orderBy("conflict.id", "desc")
    .limit(LISTED_MAX),
);

export const keysInUse = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("api_key")
    .leftJoin("api_key as first", "first.id", "api_key.rolled_from")
    .select(["api_key.public_id", "api_key.name", "api_key.expires_at"])
    .select((select) => select.fn.coalesce("first.public_id", "api_key.public_id").as("line"))
    .where("api_key.clinic_id", "=", p.clinicId)
    .where("api_key.revoked_at", "is", null)
    .orderBy("api_key.id"),
);
