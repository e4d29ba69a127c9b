import { createHash } from "node:crypto";
import { Result, type Study } from "../../../shared/api/study.ts";
import type { StudyColumns } from "../database/schema.ts";

export function describeStudy(study: Omit<Study, "patient_fp">) {
  return {
    modality: study.modality,
    device_name: study.device_name,
    status: study.status,
    acquired_at: Date.parse(study.acquired_at),
    // Canonical, so that equal results are equal text.
    results: canonical(study.results),
  };
}

// Hashes the content of a study without its origin: a resend has another message_id and perhaps a fuller hint.
export function contentHash(
  study: Omit<Study, "patient_fp"> & { patient_fp: string | null },
  dedupeKey: string | null,
  deviceId: string | null,
): string {
  const content = { ...describeStudy(study), patient_fp: study.patient_fp, dedupe_key: dedupeKey, device_id: deviceId };
  return createHash("sha256").update(canonical(content)).digest("hex");
}

/** JSON with the keys of every object in order, so that equal values are equal text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** A row as the API shows it. */
export function toStudy(
  row: Pick<StudyColumns, "fp" | "modality" | "device_name" | "status" | "acquired_at" | "results"> & {
    patient_fp: string | null;
  },
): Study {
  return {
    fp: row.fp,
    patient_fp: row.patient_fp ?? "",
    modality: row.modality as Study["modality"],
    device_name: row.device_name,
    status: row.status as Study["status"],
    acquired_at: new Date(row.acquired_at).toISOString(),
    results: JSON.parse(row.results) as Result[],
  };
}

const resultKeys = Object.keys(Result.properties) as (keyof Result)[];

/** The API's fields alone, in their published order. */
export function inOrder({ fp, patient_fp, modality, device_name, status, acquired_at, results }: Study): Study {
  const ordered = results.map(
    (result) =>
      Object.fromEntries(
        resultKeys.flatMap((key) => (Object.hasOwn(result, key) ? [[key, result[key]]] : [])),
      ) as Result,
  );
  return { fp, patient_fp, modality, device_name, status, acquired_at, results: ordered };
}

export function parsed(text: string | null): unknown {
  return text === null ? null : (JSON.parse(text) as unknown);
}

export function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
