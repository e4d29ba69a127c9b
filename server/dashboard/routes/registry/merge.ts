import type { FastifyInstance, FastifyRequest } from "fastify";
import { isFp } from "../../../../shared/api/fp.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import type { KnownPatient } from "../../../records/patients/clinic-patients.ts";
import type { PatientLists } from "../../../records/patients/patient-list.ts";
import { compareAnimals } from "../../../records/registry/by-hand/compare-animals.ts";
import { readEditedAnimal } from "../../../records/registry/by-hand/edited-animal.ts";
import { likelyDoubles } from "../../../records/registry/by-hand/likely-doubles.ts";
import { subjectsOfBatch } from "../../../records/registry/by-hand/recent-changes.ts";
import { readTypedAnimal } from "../../../records/registry/by-hand/typed-animal.ts";
import { byHand } from "../../../records/registry/by-hand/write-animal.ts";
import { type MergeCode, mergeAnimals } from "../../../records/registry/merge.ts";
import { undoBatch, type UndoOutcome } from "../../../records/registry/undo.ts";
import type { Session } from "../../../database/query.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import type { LikelyDoubles, MergeComparison, OwnerFacts, Written } from "../../types/animals.ts";
import { type RefusalCode, refusal } from "../../types/refusals.ts";
import { handOf } from "../commands.ts";
import { patientFp } from "../records/patients.ts";
import { found, ownPatient } from "../records/study-command.ts";
import { mergeBody } from "./animal-body.ts";

// A user merges two animals that are one, and undoes what was written of animals and owners.

const CLINIC = "/clinic/v1/clinics/:clinic";
const ANIMAL = `${CLINIC}/patients/:fp`;

const noBody = bodyReader({});

const mergeRefusals: Readonly<Record<MergeCode, RefusalCode>> = {
  same: "MERGE.SAME",
  other_species: "MERGE.OTHER_SPECIES",
  other_clinics: "MERGE.OTHER_CLINICS",
  // Each of these animals is out of the clinic's sight.
  unknown_survivor: "MERGE.LEFT",
  unknown_merged: "MERGE.LEFT",
  removed_survivor: "MERGE.LEFT",
  circle: "MERGE.LEFT",
  merged_elsewhere: "MERGE.LEFT",
};

const undoRefusals: Readonly<Record<Extract<UndoOutcome, { undone: false }>["code"], RefusalCode>> = {
  unknown: "UNDO.OVER",
  undone: "UNDO.DONE",
  changed: "UNDO.CHANGED",
  in_use: "UNDO.IN_USE",
};

export function mergeRoutes(app: FastifyInstance, { store, now }: DashboardContext, lists: PatientLists): void {
  app.get(`${ANIMAL}/doubles`, { config: { access: "staff" } }, async (request): Promise<LikelyDoubles> => {
    const [clinicId, fp] = [clinicOf(request).id, patientFp(request)];
    const known = await lists.known(clinicId);
    return store.snapshot(async (session) => {
      await ownPatient(session, clinicId, fp);
      const { animal } = await readEditedAnimal(session, { clinicId, fp });
      const { animal: read } = readTypedAnimal({ ...animal, owner: ownerOf(known, fp) ?? animal.owner }, now());
      return { name: animal.name, doubles: likelyDoubles(read, known, fp) };
    });
  });
  app.get(`${ANIMAL}/merge/:patient`, { config: { access: "staff" } }, async (request): Promise<MergeComparison> => {
    const { patient } = request.params as { patient: string };
    return store.snapshot((session) => compare(session, request, patient));
  });
  app.post(`${ANIMAL}/merge`, { config: { access: "staff" } }, async (request): Promise<Written> => {
    const { merged, version } = mergeBody(request.body);
    const hand = handOf(request, now);
    return store.transaction(async (session) => {
      const seen = await compare(session, request, merged);
      if (seen.version !== version) refuse(refusal("PATIENT.CHANGED"));
      const pair = { clinicId: hand.clinicId, survivor: patientFp(request), merged };
      const merge = byHand(session, hand, (context) => mergeAnimals(session, pair, context), "merge");
      const { result, batch } = await merge;
      if ("code" in result) refuse(refusal(mergeRefusals[result.code]));
      await auditCommand(session, "patient merge", [pair.survivor, merged], hand);
      return { batch };
    });
  });
  app.post(`${CLINIC}/changes/:batch/undo`, { config: { access: "staff" } }, async (request): Promise<object> => {
    noBody(request.body);
    const { batch: fp } = request.params as { batch: string };
    const hand = handOf(request, now);
    return store.transaction(async (session) => {
      const context = { now: hand.now, clock: now, served: null };
      const outcome = await undoBatch(session, { clinicId: hand.clinicId, fp }, context);
      if (!outcome.undone) refuse(refusal(undoRefusals[outcome.code]));
      await auditCommand(session, "undo", [fp, ...(await subjectsOfBatch(session, fp))], hand);
      return {};
    });
  });
}

/** The owner by name and address: the two entries of one animal often have two entries of its owner, too. */
function ownerOf(known: readonly KnownPatient[], fp: string): OwnerFacts | undefined {
  const own = known.find((each) => each.fp === fp);
  if (own === undefined || (own.owner_name ?? own.owner_phone ?? own.owner_email) === null) return undefined;
  const { owner_name: name, owner_phone: phone, owner_email: email } = own;
  return { name, phone, email, language: null, time_zone: null };
}

/** Reads the animal of the path and another one. @throws 404 unless the clinic sees both */
async function compare(session: Session, request: FastifyRequest, other: string): Promise<MergeComparison> {
  const [clinicId, fp] = [clinicOf(request).id, patientFp(request)];
  await ownPatient(session, clinicId, fp);
  await ownPatient(session, clinicId, found("This patient", isFp("patient", other) ? other : undefined));
  return compareAnimals(session, { clinicId, fps: [fp, other] });
}
