import { createHash } from "node:crypto";
import { type FpKind, fpPattern, isFp } from "../../../shared/api/fp.ts";

// The ids of resources. R4 allows letters, digits, `-` and `.` in an id, so `_` of an fp becomes `-`.

/** Types of resources with the kind of record that their ids name. */
export const KINDS = {
  Patient: "patient",
  DiagnosticReport: "cds",
  Observation: "cds",
  Specimen: "cds",
  ImagingStudy: "cds",
  ServiceRequest: "order",
} as const satisfies Record<string, FpKind>;

export function idOf(fp: string): string {
  return fp.replace("_", "-");
}

/** The id of a result: its study and its place in it, from 1. */
export function observationId(studyFp: string, index: number): string {
  return `${idOf(studyFp)}-${index + 1}`;
}

/** Devices have no fp: a device is the name that its studies print. */
export function deviceId(name: string): string {
  return `device-${createHash("sha256").update(name).digest("hex").slice(0, 32)}`;
}

/** Returns the fp that an id names. Null for an id that this server never makes. */
export function fpOf(kind: FpKind, id: string): string | null {
  const fp = id.replace("-", "_");
  return isFp(kind, fp) && idOf(fp) === id ? fp : null;
}

const OBSERVATION = new RegExp(
  `^(${fpPattern("cds")
    .replace("_", "-")
    .replaceAll(/^\^|\$$/g, "")})-([1-9]\\d{0,3})$`,
);

/** Returns the study and the index of a result. Null for an id that this server never makes. */
export function resultOf(id: string): { readonly fp: string; readonly index: number } | null {
  const [, study, number] = OBSERVATION.exec(id) ?? [];
  const fp = study === undefined ? null : fpOf("cds", study);
  return fp === null ? null : { fp, index: Number(number) - 1 };
}

/** The reference of a resource within this server. */
export function reference(type: string, id: string): { reference: string } {
  return { reference: `${type}/${id}` };
}
