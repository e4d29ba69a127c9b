import { createHash } from "node:crypto";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import type { StudySource, Study } from "../../../shared/api/study.ts";
import type { Place, Revision, StudyConflict, TimeLineEvent } from "../../dashboard/types/results/results.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { rowChanges } from "../filing/revision-changes.ts";
import { findPatient } from "../patients/patients.ts";
import { listConflicts } from "../studies/conflicts.ts";
import { historyOf, type HistoryEntry } from "../studies/history.ts";
import type { StoredStudy } from "../studies/studies.ts";
import { toStudy } from "../studies/study-content.ts";
import { auditOf, deliveriesOf, handedOf, linksOpenedOf, readsOf } from "./receivers.ts";

// The way of a study, from the bytes of its device to those who read it.

/** A study's revisions as a clinic may see them, and all that happened to it. */
export interface StudyEvents {
  readonly history: readonly HistoryEntry[];
  /** Where each revision was. */
  readonly places: readonly Place[];
  readonly revisions: Revision[];
  readonly conflicts: StudyConflict[];
  /** The earliest first. */
  readonly timeLine: TimeLineEvent[];
}

/** Reads a study that the clinic may see. */
export async function studyEvents(session: Session, clinicId: number, stored: StoredStudy): Promise<StudyEvents> {
  const { fp } = stored;
  const isOwn = stored.clinic_id === clinicId;
  const source = isOwn ? parseStored(stored.source) : null;
  const study = toStudy(stored);
  const commands = await session.all(commandsOn, { clinicId, fp });
  const history = await historyOf(session, stored);
  const places = await placesOf(session, clinicId, history, isOwn);
  const revisions = history.map((entry, index): Revision => {
    const before = history[index - 1]?.study.results;
    return {
      revision: entry.revision,
      at: entry.at,
      cause: entry.cause,
      by: authorOf(entry, commands, source),
      place: places[index] ?? { kind: "patient of others" },
      reason: isOwn ? entry.cause_reason : null,
      changes: before === undefined ? [] : rowChanges(before, entry.study.results),
    };
  });
  const conflicts = await conflictsOf(session, clinicId, study);
  const events: TimeLineEvent[] = [
    { at: study.acquired_at, kind: "sample", device: study.device_name, samples: source?.sample_ids ?? [] },
    ...(isOwn ? history.flatMap(receptionOf) : []),
    ...stepsIn(revisions, history.map(proofOf), conflicts, commands),
    ...(await deliveriesOf(session, clinicId, fp)),
    ...(await handedOf(session, clinicId, fp)),
    ...(await linksOpenedOf(session, clinicId, fp)),
    ...(await readsOf(session, clinicId, fp)),
  ];
  const timeLine = events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return { history, places, revisions, conflicts, timeLine };
}

/** Returns how the bytes of a pushed revision came. */
function receptionOf({ revision, cause, source }: HistoryEntry): TimeLineEvent[] {
  if (cause !== "pushed" || source === null) return [];
  const { receipt, device_id: device, message_id: message } = source;
  return receipt === undefined ? [] : [{ kind: "received", revision, device, message, ...receipt }];
}

type Proof = Pick<Extract<TimeLineEvent, { kind: "revision" }>, "rule" | "sha256">;

function proofOf({ cause, patient_fp, source, study }: HistoryEntry): Proof {
  const isMatched = cause === "pushed" && patient_fp !== null;
  const sha256 = createHash("sha256").update(JSON.stringify(study)).digest("hex");
  return { rule: isMatched ? (source?.matched_by ?? null) : null, sha256 };
}

async function conflictsOf(session: Session, clinicId: number, { fp, results }: Study): Promise<StudyConflict[]> {
  return (await listConflicts(session, { fp, clinicId })).map(({ at, revision, reason, study: pushed }) => ({
    ...{ at, revision, reason },
    changes: rowChanges(results, pushed.results),
  }));
}

/**
 * Returns where each revision was. A patient that the clinic may not see has no name, and the reasons of another clinic may name
 * one.
 */
async function placesOf(
  session: Session,
  clinicId: number,
  history: readonly HistoryEntry[],
  isOwn: boolean,
): Promise<Place[]> {
  const places: Place[] = [];
  for (const entry of history) {
    const { patient_fp: fp, rejected_reason, unmatched_reason } = entry;
    if (fp === null) {
      places.push(
        rejected_reason === null
          ? { kind: "unmatched", reason: isOwn ? unmatched_reason : null }
          : { kind: "rejected", reason: isOwn ? rejected_reason : null },
      );
      continue;
    }
    const found = await findPatient(session, clinicId, fp);
    places.push(
      found?.connected === true ? { kind: "patient", fp, name: found.patient.name } : { kind: "patient of others" },
    );
  }
  return places;
}

/** Returns the user of a revision by the audit's row of the same instant, else the device that sent it. */
function authorOf(
  { at, cause }: HistoryEntry,
  commands: readonly { at: number; by: string }[],
  source: StudySource | null,
): string | null {
  if (cause === "pushed") return source?.device_id ?? null;
  return commands.find((command) => command.at === Date.parse(at))?.by ?? null;
}

/** Returns the events of revisions and conflicts, and of the commands that made no revision. */
function stepsIn(
  revisions: readonly Revision[],
  proofs: readonly Proof[],
  conflicts: readonly StudyConflict[],
  commands: readonly { at: number; route: string | null; by: string }[],
): TimeLineEvent[] {
  return [
    ...revisions.map(({ revision, at, cause, by, place }, index) => ({
      ...({ at, kind: "revision" } as const),
      ...{ revision, cause, by, place, ...proofs[index]! },
    })),
    ...conflicts.map(({ at, revision, reason }) => ({ at, kind: "conflict" as const, revision, reason })),
    ...commands
      .filter(({ at }) => revisions.every((revision) => Date.parse(revision.at) !== at))
      .map(({ at, route, by }) => ({ at: timestampOf(at), kind: "command" as const, command: route ?? "", by })),
  ];
}

// Commands of the command line name no clinic.
const commandsOn = query((db, p: { clinicId: number; fp: string }) =>
  auditOf(db, p.fp)
    .select(["audit.at", "audit.route"])
    .select((select) => select.fn.coalesce("audit.address", select.val("")).as("by"))
    .where("audit.method", "=", "COMMAND")
    .where((where) => where.or([where("audit.clinic_id", "is", null), where("audit.clinic_id", "=", p.clinicId)]))
    .orderBy("audit.id"),
);
