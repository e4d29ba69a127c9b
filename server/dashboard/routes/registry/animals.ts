import type { FastifyInstance } from "fastify";
import type {
  AnimalBody,
  AnimalCheck,
  EditedAnimal,
  RemovedAnimals,
  SavedAnimal,
  TypedAnimal,
  WaitingResult,
  Written,
} from "../../types/animals.ts";
import type { Session } from "../../../database/query.ts";
import { parseStored } from "../../../database/schema.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { knownPatients, type PatientLists } from "../../../records/patients/patient-list.ts";
import { findRemoved, listRemovedAnimals, readEditedAnimal } from "../../../records/registry/by-hand/edited-animal.ts";
import { likelyDoubles, likelyOwners } from "../../../records/registry/by-hand/likely-doubles.ts";
import { type ReadAnimal, readTypedAnimal } from "../../../records/registry/by-hand/typed-animal.ts";
import { addAnimal, byHand, editAnimal } from "../../../records/registry/by-hand/write-animal.ts";
import { removeByHand, restoreAnimal, setDeceased } from "../../../records/registry/by-hand/write-animal.ts";
import { animalFromHint } from "../../../records/registry/by-hand/animal-from-hint.ts";
import { refusal } from "../../types/refusals.ts";
import { assignStudy } from "../../../records/unmatched/commands.ts";
import { CONTRADICTED_FACTS } from "../../../../shared/clinical/candidates.ts";
import { findOwnStudy } from "../../../records/unmatched/unmatched-page.ts";
import { instantOf, wallTime } from "../../types/wall-time.ts";
import { isRealDate } from "../../../../shared/schema/timestamp.ts";
import { clinicOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";
import { handOf } from "../commands.ts";
import { found, patientFp } from "../records/patients.ts";
import { found as foundRecord, ownPatient } from "../records/study-command.ts";
import { checkBody, deceasedBody, editBody, newBody } from "./animal-body.ts";
import { refuse } from "../../refuse.ts";
import { refuseFaults } from "./refuse-faults.ts";

// Animals that a user writes: new, edited, deceased, removed and back again.

const BASE = "/clinic/v1/clinics/:clinic/patients";

export function animalRoutes(app: FastifyInstance, context: DashboardContext, lists: PatientLists): void {
  checkRoutes(app, context, lists);
  saveRoutes(app, context);
  stateRoutes(app, context);
}

function checkRoutes(app: FastifyInstance, { store, now }: DashboardContext, lists: PatientLists): void {
  app.post(
    `${BASE}/check`,
    { config: { access: "staff", repeats: "it changes nothing" } },
    async (request): Promise<AnimalCheck> => {
      const { animal, edited } = checkBody(request.body);
      const { animal: read, faults, warnings } = readTypedAnimal(animal, now());
      const known = await lists.known(clinicOf(request).id);
      return {
        faults: [...faults],
        warnings: [...warnings],
        doubles: likelyDoubles(read, known, edited),
        owners: likelyOwners(read.owner, known),
      };
    },
  );
  app.get(`${BASE}/:fp/edit`, { config: { access: "staff" } }, async (request): Promise<EditedAnimal> => {
    const clinicId = clinicOf(request).id;
    return store.snapshot(async (session) => {
      const fp = patientFp(request);
      await ownPatient(session, clinicId, fp);
      return readEditedAnimal(session, { clinicId, fp });
    });
  });
  app.get(`${BASE}/from-result/:fp`, { config: { access: "staff" } }, async (request): Promise<TypedAnimal> => {
    const { fp } = request.params as { fp: string };
    const stored = foundRecord("This study", await findOwnStudy(store, clinicOf(request).id, fp));
    return animalFromHint(parseStored(stored.patient_hint), now());
  });
}

function saveRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(BASE, { config: { access: "staff" } }, async (request): Promise<SavedAnimal> => {
    const { result: waiting, ...body } = newBody(request.body);
    const hand = handOf(request, now);
    return store.transaction(async (session) => {
      const animal = await checked(session, body, hand, null);
      const { result, batch } = await byHand(session, hand, (context) => addAnimal(session, animal, context));
      const added = foundOwner(result);
      await auditCommand(session, "patient add", [added.fp, added.ownerFp], hand);
      const revision = waiting === undefined ? null : await fileTo(session, hand, { waiting, fp: added.fp });
      return { fp: added.fp, revision, batch };
    });
  });
  app.put(`${BASE}/:fp`, { config: { access: "staff" } }, async (request): Promise<SavedAnimal> => {
    const { version, ...body } = editBody(request.body);
    const hand = handOf(request, now);
    const fp = patientFp(request);
    return store.transaction(async (session) => {
      await ownPatient(session, hand.clinicId, fp);
      const seen = await readEditedAnimal(session, { clinicId: hand.clinicId, fp });
      if (seen.version !== version) refuse(refusal("PATIENT.CHANGED"));
      const animal = await checked(session, body, hand, fp);
      const { result, batch } = await byHand(session, hand, (context) => editAnimal(session, fp, animal, context));
      const { ownerFp } = foundOwner(result);
      await auditCommand(session, "patient edit", [fp, ownerFp], hand);
      return { fp, revision: null, batch };
    });
  });
}

function stateRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.put(`${BASE}/:fp/deceased`, { config: { access: "staff" } }, async (request): Promise<Written> => {
    const { died_on } = deceasedBody(request.body);
    const hand = handOf(request, now);
    const fp = patientFp(request);
    const deceasedAt = died_on === null ? null : dayOfDeath(died_on, clinicOf(request).timeZone, now());
    return store.transaction(async (session) => {
      const { patient } = await ownPatient(session, hand.clinicId, fp);
      if (died_on !== null && patient.date_of_birth !== null && died_on < patient.date_of_birth) {
        refuseFaults([{ field: "died_on", code: "before_birth" }]);
      }
      const { batch } = await byHand(session, hand, (context) => setDeceased(session, fp, deceasedAt, context));
      const command = died_on === null ? "patient not deceased" : "patient deceased";
      await auditCommand(session, command, [fp], hand);
      return { batch };
    });
  });
  app.post(`${BASE}/:fp/remove`, { config: { access: "staff" } }, async (request): Promise<Written> => {
    const hand = handOf(request, now);
    return store.transaction(async (session) => {
      const { id, patient } = await ownPatient(session, hand.clinicId, patientFp(request));
      const removed = { id, fp: patient.fp };
      const { result, batch } = await byHand(session, hand, (context) => removeByHand(session, removed, context));
      if (result !== null) refuse(result);
      await auditCommand(session, "patient remove", [patient.fp], hand);
      return { batch };
    });
  });
  app.get(
    `${BASE}/removed`,
    { config: { access: "reader" } },
    async (request): Promise<RemovedAnimals> => listRemovedAnimals(store, clinicOf(request).id),
  );
  app.post(`${BASE}/:fp/restore`, { config: { access: "staff" } }, async (request): Promise<Written> => {
    const hand = handOf(request, now);
    const fp = patientFp(request);
    return store.transaction(async (session) => {
      found(await findRemoved(session, hand.clinicId, fp));
      const { batch } = await byHand(session, hand, (context) => restoreAnimal(session, fp, context));
      await auditCommand(session, "patient restore", [fp], hand);
      return { batch };
    });
  });
}

type Hand = ReturnType<typeof handOf>;

/** Checks a typed animal again when it is saved: another user may have added one that is alike. */
async function checked(
  session: Session,
  { animal: typed, seen }: AnimalBody,
  { clinicId, now }: Pick<Hand, "clinicId" | "now">,
  edited: string | null,
): Promise<ReadAnimal> {
  const { animal, faults } = readTypedAnimal(typed, now);
  refuseFaults(faults);
  const doubles = likelyDoubles(animal, await knownPatients(session, clinicId), edited);
  if (doubles.some(({ fp }) => !seen.includes(fp))) refuse(refusal("PATIENT.ALIKE"));
  return animal;
}

function foundOwner<Saved>(saved: Saved | undefined): Saved {
  return foundRecord("This owner", saved);
}

/** Files a waiting study to the new animal. A user who typed its facts confirms a contradiction of the device by them. */
async function fileTo(
  session: Session,
  actor: Hand,
  { waiting, fp }: { waiting: WaitingResult; fp: string },
): Promise<number> {
  const stored = foundRecord("This study", await findOwnStudy(session, actor.clinicId, waiting.fp));
  const patient = await ownPatient(session, actor.clinicId, fp);
  const target = { patient, typedSpecies: patient.patient.species, checked: CONTRADICTED_FACTS };
  const refused =
    stored.revision === waiting.revision ? await assignStudy(session, stored, target, actor) : refusal("STUDY.CHANGED");
  if (refused !== null) refuse(refused);
  return stored.revision + 1;
}

/** Noon of the day in the clinic's time zone, so that no zone shows another day. */
function dayOfDeath(day: string, timeZone: string | null, now: number): number {
  const zone = timeZone ?? undefined;
  const noon = isRealDate(day) ? instantOf(day, "12:00", zone) : null;
  if (noon === null || day > wallTime(now, zone).date) refuseFaults([{ field: "died_on", code: "out_of_range" }]);
  return noon ?? now;
}
