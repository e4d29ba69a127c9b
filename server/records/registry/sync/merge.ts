import type { Session } from "../../../database/query.ts";
import type { StoreContext } from "../batches.ts";
import { type MergeCode, mergeAnimals } from "../merge.ts";
import { namePatient, ownNameOf, type SourceName } from "../sources.ts";
import { auditItem, laterOf, type SyncRequest, withBatch } from "./request.ts";
import type { SyncMergeAnswer } from "./messages.ts";

// Practice software merges one of its patients into another one. The name of the merged one stays as an alias of the survivor.

export interface MergeRequest extends Omit<SyncRequest<never>, "items" | "full"> {
  readonly survivor: string;
  readonly merged: string;
}

export type MergeOutcome = SyncMergeAnswer | { readonly code: MergeCode };

/** Merges the patients of two external ids. Run it in a transaction. */
export async function mergeNamed(session: Session, request: MergeRequest): Promise<MergeOutcome> {
  const { now, clock } = request;
  return withBatch(
    session,
    request,
    async (batch) => merge(session, request, { now, clock, served: null, batch }),
    "merge",
  );
}

async function merge(session: Session, request: MergeRequest, context: StoreContext): Promise<MergeOutcome> {
  const { clinicId, source } = request;
  const nameOf = (externalId: string): SourceName => ({ clinicId, source, externalId });
  if (request.survivor === request.merged) return { code: "same" };
  const [chain, mergedChain] = [
    await ownNameOf(session, nameOf(request.survivor)),
    await ownNameOf(session, nameOf(request.merged)),
  ];
  const survivor = chain.before;
  if (survivor?.patient_id == null || survivor.fp === null) return { code: "unknown_survivor" };
  if (chain.met.has(request.merged)) return { code: "circle" };
  const unmoved = { studies: 0, soap_records: 0, events: 0 };
  const { fp } = survivor;
  if (mergedChain.met.size > 1) {
    return mergedChain.name.externalId === chain.name.externalId
      ? { outcome: "unchanged", fp, merged_fp: null, moved: unmoved }
      : { code: "merged_elsewhere" };
  }
  if (survivor.removed === 1) return { code: "removed_survivor" };
  const merged = mergedChain.before;
  // An item that is older than the merged one is older than the survivor now.
  const updatedAt = laterOf(survivor.source_updated_at, merged?.source_updated_at ?? null);
  const raise = async () => {
    if (updatedAt === survivor.source_updated_at) return;
    const own = { ...chain.name, patientId: survivor.patient_id, updatedAt, removed: false };
    // Not of the batch, so that a later item of the survivor does not stop the undo.
    await namePatient(session, own, { batch: null });
  };
  const mergedFp = merged?.fp ?? null;
  if (mergedFp !== null && mergedFp !== fp) {
    const outcome = await mergeAnimals(session, { clinicId, survivor: fp, merged: mergedFp }, context);
    if ("code" in outcome) return outcome;
    await raise();
    await auditItem(session, "sync: patient merged", mergedFp, request);
    await auditItem(session, "sync: patient updated", fp, request);
    return { outcome: "merged", fp, merged_fp: mergedFp, moved: outcome.moved };
  }
  // The patient of the merged name never came. Its later items go to the survivor.
  const alias = { patientId: survivor.patient_id, updatedAt: merged?.source_updated_at ?? null, removed: false };
  await namePatient(session, { ...mergedChain.name, ...alias, mergedInto: chain.name.externalId }, context);
  await raise();
  return { outcome: "merged", fp, merged_fp: null, moved: unmoved };
}

/** Why a patient gets no other external id. */
type RenameCode = "same_id" | "unknown_id" | "id_taken";

/** The words of these refusals. */
export const renameRefusals: Readonly<Record<RenameCode, string>> = {
  same_id: "The new external id is the earlier one",
  unknown_id: "No patient with the earlier external id is stored: send it first",
  id_taken: "The new external id is of another patient: merge the two",
};

export interface RenameRequest extends Omit<SyncRequest<never>, "items" | "full"> {
  readonly from: string;
  readonly to: string;
}

/** Gives a patient another external id; the earlier one stays as an alias. Run it in a transaction. Repeating it changes nothing. */
export async function renameNamed(
  session: Session,
  request: RenameRequest,
): Promise<{ readonly outcome: "updated" | "unchanged"; readonly fp: string } | { readonly code: RenameCode }> {
  const { clinicId, source, from, to } = request;
  if (from === to) return { code: "same_id" };
  const [earlier, next] = [
    await ownNameOf(session, { clinicId, source, externalId: from }),
    await ownNameOf(session, { clinicId, source, externalId: to }),
  ];
  const { before } = earlier;
  if (before?.patient_id == null || before.fp === null) return { code: "unknown_id" };
  if (earlier.name.externalId === next.name.externalId) return { outcome: "unchanged", fp: before.fp };
  // Two animals are merged, not renamed.
  if (next.before?.patient_id != null) return { code: "id_taken" };
  const entry = {
    patientId: before.patient_id,
    updatedAt: before.source_updated_at,
    removed: before.removed === 1,
  };
  const { fp } = before;
  return withBatch(session, request, async (batch) => {
    await namePatient(session, { ...next.name, ...entry }, { batch });
    await namePatient(session, { ...earlier.name, ...entry, mergedInto: next.name.externalId }, { batch });
    await auditItem(session, "sync: patient updated", fp, request);
    return { outcome: "updated", fp };
  });
}

/** The words of the refusals. */
export const mergeRefusals: Readonly<Record<MergeCode, string>> = {
  same: "survivor and merged are the same external id",
  unknown_survivor: "No patient with the external id of survivor is stored: send it first",
  unknown_merged: "The patient of merged is not one of the clinic",
  removed_survivor: "The patient of survivor is removed: send it again first",
  circle: "survivor was merged into merged before",
  merged_elsewhere: "merged was merged into another patient before",
  other_species: "The patients are of different species",
  other_clinics: "Other clinics are connected to the patient of merged",
};
