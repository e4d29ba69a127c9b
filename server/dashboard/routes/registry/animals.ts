import type { FastifyInstance, FastifyRequest } from "fastify";
import type { PatientHint } from "../../../../shared/api/study.ts";
import type {
  AnimalBody,
  AnimalCheck,
  EditedAnimal,
  RemovedAnimals,
  SavedAnimal,
  TypedAnimal,
  WaitingResult,
} from "../../types/animals.ts";
import type { Session } from "../../../database/query.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { knownPatients, type PatientLists } from "../../../records/patients/patient-list.ts";
import { findRemoved, listRemovedAnimals, readEditedAnimal } from "../../../records/registry/by-hand/edited-animal.ts";
import { likelyDoubles, likelyOwners } from "../../../records/registry/by-hand/likely-doubles.ts";
import { type ReadAnimal, readTypedAnimal } from "../../../records/registry/by-hand/typed-animal.ts";
import { type HandContext, addAnimal, editAnimal } from "../../../records/registry/by-hand/write-animal.ts";
import { removeByHand, restoreAnimal, setDeceased } from "../../../records/registry/by-hand/write-animal.ts";
import { animalFromHint } from "../../../records/registry/by-hand/animal-from-hint.ts";
import { refusal } from "../../types/refusals.ts";
import { assignStudy } from "../../../records/unmatched/commands.ts";
import { parseStored } from "../../../records/studies/study-content.ts";
import { findOwnStudy } from "../../../records/unmatched/unmatched-page.ts";
import { instantOf, wallTime } from "../../types/wall-time.ts";
import { isRealDate } from "../../../../shared/schema/timestamp.ts";
import { clinicOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";
import { actorOf } from "../commands.ts";
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
    return animalFromHint(parseStored(stored.patient_hint) as PatientHint | null, now());
  });
}

function saveRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(BASE, { config: { access: "staff" } }, async (request): Promise<SavedAnimal> => {
    const { result, ...body } = newBody(request.body);
    const context = contextOf(request, now);
    return store.transaction(async (session) => {
      const animal = await checked(session, body, context, null);
      const added = foundOwner(await addAnimal(session, animal, context));
      await auditCommand(session, "patient add", [added.fp, added.ownerFp], actorOf(request, now()));
      const revision = result === undefined ? null : await fileTo(session, request, { result, fp: added.fp, now });
      return { fp: added.fp, revision };
    });
  });
  app.put(`${BASE}/:fp`, { config: { access: "staff" } }, async (request): Promise<SavedAnimal> => {
    const { version, ...body } = editBody(request.body);
    const context = contextOf(request, now);
    const fp = patientFp(request);
    return store.transaction(async (session) => {
      await ownPatient(session, context.clinicId, fp);
      const seen = await readEditedAnimal(session, { clinicId: context.clinicId, fp });
      if (seen.version !== version) refuse(refusal("PATIENT.CHANGED"));
      const animal = await checked(session, body, context, fp);
      const { ownerFp } = foundOwner(await editAnimal(session, fp, animal, context));
      await auditCommand(session, "patient edit", [fp, ownerFp], actorOf(request, now()));
      return { fp, revision: null };
    });
  });
}

function stateRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.put(`${BASE}/:fp/deceased`, { config: { access: "staff" } }, async (request) => {
    const { died_on } = deceasedBody(request.body);
    const context = contextOf(request, now);
    const fp = patientFp(request);
    const deceasedAt = died_on === null ? null : dayOfDeath(died_on, clinicOf(request).timeZone, now());
    return store.transaction(async (session) => {
      const { patient } = await ownPatient(session, context.clinicId, fp);
      if (died_on !== null && patient.date_of_birth !== null && died_on < patient.date_of_birth) {
        refuseFaults([{ field: "died_on", code: "before_birth" }]);
      }
      await setDeceased(session, fp, deceasedAt, context);
      const command = died_on === null ? "patient not deceased" : "patient deceased";
      await auditCommand(session, command, [fp], actorOf(request, now()));
      return {};
    });
  });
  app.post(`${BASE}/:fp/remove`, { config: { access: "staff" } }, async (request) => {
    const context = contextOf(request, now);
    return store.transaction(async (session) => {
      const { id, patient } = await ownPatient(session, context.clinicId, patientFp(request));
      const refused = await removeByHand(session, { id, fp: patient.fp }, context);
      if (refused !== null) refuse(refused);
      await auditCommand(session, "patient remove", [patient.fp], actorOf(request, now()));
      return {};
    });
  });
  app.get(
    `${BASE}/removed`,
    { config: { access: "reader" } },
    async (request): Promise<RemovedAnimals> => listRemovedAnimals(store, clinicOf(request).id),
  );
  app.post(`${BASE}/:fp/restore`, { config: { access: "staff" } }, async (request) => {
    const context = contextOf(request, now);
    const fp = patientFp(request);
    return store.transaction(async (session) => {
      found(await findRemoved(session, context.clinicId, fp));
      await restoreAnimal(session, fp, context);
      await auditCommand(session, "patient restore", [fp], actorOf(request, now()));
      return {};
    });
  });
}

function contextOf(request: FastifyRequest, now: () => number): HandContext {
  return { clinicId: clinicOf(request).id, now: now(), clock: now };
}

/** Checks a typed animal again when it is saved: another user may have added one that is alike. */
async function checked(
  session: Session,
  { animal: typed, seen }: AnimalBody,
  { clinicId, now }: HandContext,
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

/** Files a waiting study to the new animal. A user who chose the species confirms a contradiction of the device by it. */
async function fileTo(
  session: Session,
  request: FastifyRequest,
  { result, fp, now }: { result: WaitingResult; fp: string; now: () => number },
): Promise<number> {
  const actor = actorOf(request, now());
  const stored = foundRecord("This study", await findOwnStudy(session, actor.clinicId, result.fp));
  const patient = await ownPatient(session, actor.clinicId, fp);
  const refused =
    stored.revision === result.revision
      ? await assignStudy(session, stored, { patient, typedSpecies: patient.patient.species }, actor)
      : refusal("STUDY.CHANGED");
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
