import { setImmediate as nextTurn } from "node:timers/promises";
import type { Result, Snapshot, StudySource } from "../../../shared/api/study.ts";
import type { StudyQuality } from "../../../shared/clinical/control/study-quality.ts";
import { query, type Session } from "../../database/query.ts";
import type { OptionalStudyColumns, StudyColumns } from "../../database/schema.ts";
import { announceStudy } from "../changes/clinic-studies.ts";
import { deviceControls } from "./history.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { parseStored } from "../studies/study-content.ts";
import { type DeviceControls, firstControl, markedFrom, statesOf, studyQuality } from "./marks.ts";

// Marks studies by the controls of their devices, when they are filed and when a control comes late or is corrected.

/** Reads the controls of a device once, also for many studies of one push. Null for a device of which no control is stored. */
export type ReadControls = (deviceId: string) => Promise<DeviceControls | null>;

export function controlsOf(session: Session, clinicId: number): ReadControls {
  const known = new Map<string, Promise<DeviceControls | null>>();
  return (deviceId) => {
    const found = known.get(deviceId) ?? deviceControls(session, clinicId, deviceId);
    known.set(deviceId, found);
    return found;
  };
}

type MarkedRow = Pick<StudyColumns, "modality" | "acquired_at" | "results" | "snapshot" | "source">;

/** Returns the column `quality` of a study that a clinic's device sends. `before` is the stored one. */
export async function qualityColumn(
  controls: ReadControls,
  row: MarkedRow,
  before: string | null,
): Promise<string | null> {
  const deviceId = deviceOf(row);
  const found = deviceId === null ? null : await controls(deviceId);
  return found === null ? null : columnOf(row, before, found, statesOf(found));
}

function columnOf(
  row: MarkedRow,
  before: string | null,
  controls: DeviceControls,
  stateOf: ReturnType<typeof statesOf>,
): string | null {
  const first = firstControl(controls);
  if (first === null) return null;
  const study = {
    ...{ modality: row.modality, acquiredAt: row.acquired_at },
    results: JSON.parse(row.results) as Result[],
    snapshot: parseStored(row.snapshot) as Snapshot | null,
  };
  const quality = studyQuality(study, first, stateOf, parseStored(before) as StudyQuality | null);
  return quality === null ? null : JSON.stringify(quality);
}

/** The id of the device that sent a study; null for an imported or an entered one. */
function deviceOf({ source }: Pick<MarkedRow, "source">): string | null {
  return (parseStored(source) as StudySource | null)?.device_id ?? null;
}

/** Studies that are read at a time. */
const STUDIES_PER_READ = 500;

/** The results of one study come within this time after the first one, which is its time; each is marked by its own. */
const COLLECTED_MS = 7 * 86_400_000;

/**
 * Marks the studies of a device again, after controls of some analytes changed: one that came late, was named, left out or taken back,
 * or has another target. Writes the studies alone whose marks change, and announces them as changed. Call it in the transaction of the
 * change, once for a batch. `from` is the earliest time of the changed controls.
 */
export async function remarkStudies(
  session: Session,
  clinicId: number,
  deviceId: string,
  analytes: readonly string[],
  from: number,
  now: number,
): Promise<void> {
  const controls = (await deviceControls(session, clinicId, deviceId)) ?? { judged: new Map(), maxAgeMs: null };
  const starts = analytes.map((analyte) => markedFrom(controls.judged.get(analyte) ?? [], from));
  const start = Math.min(from, ...starts);
  const stateOf = statesOf(controls);
  const since = start === Number.MIN_SAFE_INTEGER ? start : start - COLLECTED_MS;
  for (let place = { at: since, id: 0 }; ; ) {
    const studies = await session.all(measuredAfter, { clinicId, ...place, limit: STUDIES_PER_READ });
    for (const study of studies) {
      if (deviceOf(study) !== deviceId) continue;
      const quality = columnOf(study, study.quality, controls, stateOf);
      if (quality !== study.quality) await writeQuality(session, study, quality, now);
    }
    const last = studies.at(-1);
    if (last === undefined) return;
    place = { at: last.acquired_at, id: last.id };
    await nextTurn();
  }
}

/** Writes the marks of a study. Neither its revision nor its checksum changes, because they are of the results. */
export async function writeQuality(
  session: Session,
  { id, fp, patient_id: patientId }: { readonly id: number } & Pick<StudyColumns, "fp" | "patient_id">,
  quality: OptionalStudyColumns["quality"],
  now: number,
): Promise<void> {
  await session.all(write, { id, patientId, quality });
  await announceStudy(session, { fp, patientId, previousPatientId: patientId, now });
}

const write = query(
  (db, p: { id: number; patientId: number | null; quality: string | null }) =>
    db.updateTable("study").set({ quality: p.quality }).where("id", "=", p.id),
  ({ patientId }) => ({ patients: [patientId] }),
);

const measuredAfter = checked(
  query((db, p: { clinicId: number; at: number; id: number; limit: number }) =>
    db
      .selectFrom("study")
      .leftJoin("patient", "patient.id", "study.patient_id")
      .select(STUDY_CONTENT)
      .select(["study.id", "study.patient_id", "study.source", "study.snapshot", "patient.fp as patient_fp"])
      .where("study.clinic_id", "=", p.clinicId)
      .where((where) => where(where.refTuple("study.acquired_at", "study.id"), ">", where.tuple(p.at, p.id)))
      .orderBy("study.acquired_at")
      .orderBy("study.id")
      .limit(p.limit),
  ),
);
