import { createHash } from "node:crypto";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import { type ReadStudy, Result, type Study, type StudySource } from "../../../shared/api/study.ts";
import { withAbnormalWords } from "../../../shared/clinical/results.ts";
import { qualityOf, worstQuality } from "../../../shared/clinical/control/study-quality.ts";
import { measurementKey } from "../../../shared/clinical/measurement-key.ts";
import { type OptionalStudyColumns, parseStored, type StudyColumns } from "../../database/schema.ts";

// Converts studies between the API and the columns of `study`.

/** @returns the columns that hold the content of a study */
export function describeStudy(study: Omit<Study, "patient_fp">) {
  return {
    modality: study.modality,
    device_name: study.device_name,
    status: study.status,
    acquired_at: Date.parse(study.acquired_at),
    // Canonical JSON: equal results have equal text.
    results: canonical(withAbnormalWords(study)),
    comments: (study.comments ?? []).length === 0 ? null : JSON.stringify(study.comments),
  };
}

/** Hashes the content of a study. The message id and the hint are left out, because a resend may change them. */
export function contentHash(
  study: Omit<Study, "patient_fp"> & { patient_fp: string | null },
  dedupeKey: string | null,
  deviceId: string | null,
): string {
  // The server's own mark is left out: after an update of the catalogue a resend would otherwise be a contradiction.
  const results = canonical(study.results.map(({ abnormal: _abnormal, ...result }) => result));
  const content = {
    ...describeStudy(study),
    results,
    patient_fp: study.patient_fp,
    dedupe_key: dedupeKey,
    device_id: deviceId,
  };
  return createHash("sha256").update(canonical(content)).digest("hex");
}

/** @returns JSON with sorted keys, so that equal values have equal text */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Converts a row to the study of the API. */
export function toStudy(
  row: Pick<StudyColumns, "fp" | "modality" | "device_name" | "status" | "acquired_at" | "results" | "comments"> &
    Pick<OptionalStudyColumns, "flagged_species" | "order_fp" | "order_number"> & { patient_fp: string | null },
): Study {
  return {
    fp: row.fp,
    patient_fp: row.patient_fp ?? "",
    modality: row.modality,
    device_name: row.device_name,
    status: row.status,
    acquired_at: new Date(row.acquired_at).toISOString(),
    results: parseStored(row.results),
    ...(row.comments === null ? {} : { comments: parseStored(row.comments) }),
    ...(row.flagged_species === null ? {} : { flagged_species: row.flagged_species }),
    ...(row.order_fp === null ? {} : { order: { fp: row.order_fp, placer_number: row.order_number } }),
  };
}

/** Columns of a study that GET reads in addition to its content. */
export interface ReadFacts {
  readonly revision: number;
  /** Time at which a revision that clinics could read was replaced last; null if none was. */
  readonly corrected_at: number | null;
  readonly source: StudyColumns["source"];
  /** Whether the clinic that reads sent it. */
  readonly is_own: number;
  /** The accession of the order; null without one. */
  readonly accession: string | null;
}

/** Converts a row to the study that a clinic reads. */
export function toReadStudy({
  revision,
  corrected_at,
  source,
  is_own,
  accession,
  quality,
  ...row
}: ReadRow): ReadStudy {
  const study = toStudy(row);
  const state = parseStored(quality);
  const states = state === null ? [] : study.results.map(({ analyte }) => qualityOf(state, analyte));
  const sent = parseStored(source);
  // What a person typed at the device is for the clinic that sent it alone.
  const sample = accession ?? (is_own === 1 ? sent?.sample_ids?.[0] : undefined);
  return {
    ...study,
    ...(state === null
      ? {}
      : {
          results: study.results.map((result, index) => ({ ...result, quality: states[index] ?? "ok" })),
          quality: worstQuality(states),
        }),
    ...(sample === undefined ? {} : { accession: sample }),
    ...(sent?.study_instance_uid === undefined ? {} : { study_instance_uid: sent.study_instance_uid }),
    ...(revision === 1 ? {} : { revision }),
    ...(corrected_at === null ? {} : { corrected_at: timestampOf(corrected_at) }),
  };
}

type ReadRow = Parameters<typeof toStudy>[0] & ReadFacts & Pick<OptionalStudyColumns, "quality">;

const resultKeys = Object.keys(Result.properties) as (keyof Result)[];

/** @returns the fields of the API alone, in their published order */
export function inPublishedOrder({
  fp,
  patient_fp,
  modality,
  device_name,
  status,
  acquired_at,
  results,
  comments,
  flagged_species,
  order,
}: Study): Study {
  const ordered = results.map(
    (result) =>
      Object.fromEntries(
        resultKeys.flatMap((key) => (Object.hasOwn(result, key) ? [[key, result[key]]] : [])),
      ) as Result,
  );
  return {
    ...{ fp, patient_fp, modality, device_name, status, acquired_at, results: ordered },
    ...(comments === undefined ? {} : { comments }),
    ...(flagged_species === undefined ? {} : { flagged_species }),
    ...(order === undefined ? {} : { order: { fp: order.fp, placer_number: order.placer_number } }),
  };
}

/** @returns the sample identifiers of a study as a field; no field without any */
export function sampleIds(source: StudySource | null): { sample_ids?: string[] } {
  const ids = source?.sample_ids ?? [];
  return ids.length === 0 ? {} : { sample_ids: ids };
}

/** @returns a key that is equal for rows with the same measurements */
export function storedMeasurementKey({ results }: Pick<StudyColumns, "results">): string {
  return measurementKey(parseStored(results));
}
