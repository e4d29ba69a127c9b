import type { Modality } from "../../../../shared/api/study.ts";
import type { PatientResults, PatientStudy, PatientStudyHead, ResultValue } from "../patients.ts";
import { MODALITIES } from "./study-words.ts";

// Turns the studies of a patient into rows of one analyte, and rows into a matrix of analytes by days.

/** Values that compare with each other: one analyte in one unit, into which the server converted them. A device's own code is comparable on that device alone. */
export interface ResultRow {
  key: string;
  modality: Modality;
  analyte: string;
  /** Name in the catalogue, or the device's name of its own code; null if both are unknown. */
  name: string | null;
  /** Turkish name of the catalogue; null for an own code. */
  name_tr: string | null;
  unit: string | null;
  /** The device of an own code; null for an analyte of the catalogue. */
  device: string | null;
  /** The newest first. */
  values: RowValue[];
}

export interface RowValue extends ResultValue {
  study: PatientStudy;
}

/** Studies of one day, at most one of each modality. */
export interface ResultColumn {
  day: string;
  studies: PatientStudy[];
}

export interface ResultMatrix {
  /** The newest first. */
  columns: ResultColumn[];
  groups: { modality: Modality; rows: MatrixRow[] }[];
}

export interface MatrixRow extends ResultRow {
  /** Values of each column. A cell is empty if its studies lack the analyte, and has several values if a study repeats it. */
  cells: RowValue[][];
}

/** Collects the values of each analyte in the order of a report. Codes outside the catalogue follow, by code. */
export function resultRows({ studies, analytes }: Pick<PatientResults, "studies" | "analytes">): ResultRow[] {
  const places = new Map(analytes.map(({ modality, code }, index) => [`${modality} ${code}`, index]));
  const rows = new Map<string, ResultRow & { place: number }>();
  for (const study of studies) {
    for (const value of study.values) {
      const key = rowKey(study, value);
      let row = rows.get(key);
      if (row === undefined) {
        const { modality } = study;
        const { analyte, unit } = value;
        const device = deviceOf(study, value);
        const place = (device === null ? places.get(`${modality} ${analyte}`) : undefined) ?? analytes.length;
        const name = analytes[place]?.name ?? value.device_label;
        const name_tr = analytes[place]?.name_tr ?? null;
        row = { key, modality, analyte, name, name_tr, unit, device, values: [], place };
        rows.set(key, row);
      }
      row.values.push({ ...value, study });
    }
  }
  const inOrder = [...rows.values()].toSorted(
    (a, b) =>
      MODALITIES.indexOf(a.modality) - MODALITIES.indexOf(b.modality) || a.place - b.place || compare(a.key, b.key),
  );
  return inOrder.map(({ place: _place, ...row }) => row);
}

function rowKey(study: PatientStudy, value: ResultValue): string {
  const device = value.code_source === "device" ? [study.device_name, study.device] : null;
  return JSON.stringify([study.modality, value.analyte, value.unit, device]);
}

function deviceOf({ device_name }: PatientStudy, { code_source }: ResultValue): string | null {
  return code_source === "device" ? device_name : null;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Arranges the studies with results by days. `dayOf` gives the day of an instant in the clinic's time zone. */
export function resultMatrix(
  results: Pick<PatientResults, "studies" | "analytes">,
  dayOf: (instant: string) => string,
): ResultMatrix {
  const columns: ResultColumn[] = [];
  const columnOf = new Map<string, number>();
  for (const study of results.studies) {
    if (study.values.length === 0) continue;
    const day = dayOf(study.acquired_at);
    const last = columns.at(-1);
    const fits = last?.day === day && last.studies.every(({ modality }) => modality !== study.modality);
    if (fits) last.studies.push(study);
    else columns.push({ day, studies: [study] });
    columnOf.set(study.fp, columns.length - 1);
  }
  const rows = resultRows(results).map((row): MatrixRow => {
    const cells: RowValue[][] = columns.map(() => []);
    for (const value of row.values) cells[columnOf.get(value.study.fp) ?? -1]?.push(value);
    return { ...row, cells };
  });
  const groups = MODALITIES.map((modality) => ({ modality, rows: rows.filter((row) => row.modality === modality) }));
  return { columns, groups: groups.filter((group) => group.rows.length > 0) };
}

/** Names the device of a study. Devices of one name have the clinic's id of the device beside it. */
export function deviceTitle(
  { device_name, device, device_id }: PatientStudyHead,
  studies: readonly PatientStudyHead[],
): string {
  const isShared = studies.some((other) => other.device_name === device_name && other.device !== device);
  return isShared && device_id !== null ? `${device_name} (${device_id})` : device_name;
}
