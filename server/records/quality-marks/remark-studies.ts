import { setImmediate as nextTurn } from "node:timers/promises";
import type { QualityState } from "../../../shared/clinical/control/state.ts";
import { query, type Session } from "../../database/query.ts";
import { type OptionalStudyColumns, parseStored, type StudyColumns } from "../../database/schema.ts";
import { announceStudy } from "../changes/clinic-studies.ts";
import type { ChangedControls } from "../controls/series.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import { DeviceControls } from "./device-controls.ts";
import { measuredValues, studyQuality } from "./marks.ts";

// Marks studies by the controls of their devices, when they are filed and when a control comes late or is corrected.

/** Returns the controls of a device of one clinic. */
export type ControlsOf = (deviceId: string) => DeviceControls;

export function controlsOf(session: Session, clinicId: number): ControlsOf {
  const known = new Map<string, DeviceControls>();
  return (deviceId) => {
    const controls = known.get(deviceId) ?? new DeviceControls(session, clinicId, deviceId);
    known.set(deviceId, controls);
    return controls;
  };
}

type MarkedRow = Pick<StudyColumns, "modality" | "acquired_at" | "results" | "snapshot" | "source">;

/** Returns the column `quality` of a study that a clinic's device sent. `before` is the stored one. */
export async function qualityColumn(of: ControlsOf, row: MarkedRow, before: string | null): Promise<string | null> {
  const deviceId = deviceOf(row);
  if (deviceId === null) return null;
  const controls = of(deviceId);
  const firstAt = await controls.firstAt();
  // The clinic kept no controls of the device then.
  if (firstAt === null || row.acquired_at < firstAt) return null;
  const values = measuredValues({
    ...{ modality: row.modality, acquiredAt: row.acquired_at },
    results: parseStored(row.results),
    snapshot: parseStored(row.snapshot),
  });
  const measured: { analyte: string; state: QualityState }[] = [];
  for (const { analyte, code, at } of values) measured.push({ analyte, state: await controls.stateOf(code, at) });
  return JSON.stringify(studyQuality(measured, parseStored(before)));
}

/** The id of the device that sent a study; null for an imported or an entered one. */
function deviceOf({ source }: Pick<MarkedRow, "source">): string | null {
  return parseStored(source)?.device_id ?? null;
}

/** Studies that are read at a time. */
const STUDIES_PER_READ = 500;

/** The results of one study come within this time after the first one, which is its time; each is marked by its own. */
const COLLECTED_MS = 7 * 86_400_000;

/**
 * Marks the studies of devices again, after controls changed: one that came late, was named, left out or taken back, or has another
 * target or rule. Writes the studies alone whose marks change, and announces them as changed. Call it in the transaction of the
 * change, once for a batch.
 */
export async function remarkStudies(
  session: Session,
  clinicId: number,
  changed: readonly ChangedControls[],
  now: number,
): Promise<void> {
  for (const [deviceId, changes] of Map.groupBy(changed, (change) => change.deviceId)) {
    const analytes = [...new Set(changes.flatMap((change) => change.analytes))];
    const [from, to] = [Math.min(...changes.map((each) => each.from)), Math.max(...changes.map((each) => each.to))];
    await remarkDevice(session, clinicId, { deviceId, analytes, from, to }, now);
  }
}

async function remarkDevice(
  session: Session,
  clinicId: number,
  { deviceId, analytes, from, to }: ChangedControls,
  now: number,
): Promise<void> {
  const of = controlsOf(session, clinicId);
  const controls = of(deviceId);
  const firstAt = await controls.firstAt();
  // A device without a control never marked anything.
  if (firstAt === null) return;
  const start = await controls.markedFrom(analytes, from);
  const end = await controls.markedUntil(analytes, { from, to });
  // No earlier study has a mark. A level that never passed would otherwise read all studies of the clinic with each control.
  let place = { at: Math.max(firstAt, start - COLLECTED_MS), id: 0 };
  for (;;) {
    const studies = await session.all(measuredBetween, { clinicId, ...place, end, limit: STUDIES_PER_READ });
    for (const study of studies) {
      if (deviceOf(study) !== deviceId) continue;
      const quality = await qualityColumn(of, study, study.quality);
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

const measuredBetween = checked(
  query((db, p: { clinicId: number; at: number; id: number; end: number; limit: number }) =>
    db
      .selectFrom("study")
      .leftJoin("patient", "patient.id", "study.patient_id")
      .select(STUDY_CONTENT)
      .select(["study.id", "study.patient_id", "study.source", "study.snapshot", "patient.fp as patient_fp"])
      .where("study.clinic_id", "=", p.clinicId)
      .where((where) => where(where.refTuple("study.acquired_at", "study.id"), ">", where.tuple(p.at, p.id)))
      .where("study.acquired_at", "<=", p.end)
      .orderBy("study.acquired_at")
      .orderBy("study.id")
      .limit(p.limit),
  ),
);
