import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { UNSTAMPED } from "../../database/stamps.ts";
import { announceSoap } from "../changes/clinic-soap.ts";
import { markOutdatedFlags } from "../filing/outdated-flags.ts";
import { survivorOf, toPatient } from "../patients/patients.ts";
import { moveRemarks } from "../studies/study-remark.ts";
import { findIntactStudy, reviseStudy } from "../studies/studies.ts";
import { type AnimalImage, animals, patientByFp, removeAnimal, storeAnimal } from "./animals.ts";
import { record, type RecordedKind, type StoreContext, subjectOf } from "./batches.ts";
import { addEventsOfSoap, eventOfAppointment, eventOfOrder } from "../webhooks/events.ts";
import { listNames, namePatient } from "./sources.ts";

// Merges an animal into another one, the survivor. Its studies, SOAP records, events, numbers and names go to the survivor, and it
// is removed. A batch has each of them, so that undo.ts moves them back.

/** Why two animals are not merged. */
export type MergeCode =
  | ("same" | "unknown_survivor" | "unknown_merged" | "removed_survivor")
  /** The survivor was merged into the other one before. */
  | "circle"
  /** The other one was merged into a third one before. */
  | "merged_elsewhere"
  | "other_species"
  /** Other clinics are connected to the one that would go. */
  | "other_clinics";

export interface Merged {
  readonly fp: string;
  /** The numbers of records that went to the survivor; all 0 if the animals were merged before. */
  readonly moved: { readonly studies: number; readonly soap_records: number; readonly events: number };
  readonly isNew: boolean;
}

interface Pair {
  readonly clinicId: number;
  /** The fp of the animal that stays. */
  readonly survivor: string;
  /** The fp of the animal that goes. */
  readonly merged: string;
}

type StoredAnimal = NonNullable<Awaited<ReturnType<typeof findAnimal>>>;

/** Merges two animals of a clinic. Run it in a transaction. Repeating it changes nothing. */
export async function mergeAnimals(
  session: Session,
  { clinicId, survivor: survivorFp, merged: mergedFp }: Pair,
  context: StoreContext,
): Promise<Merged | { readonly code: MergeCode }> {
  if (survivorFp === mergedFp) return { code: "same" };
  const [survivor, merged] = [await findAnimal(session, survivorFp), await findAnimal(session, mergedFp)];
  const kept = await clinicsOf(session, survivor);
  const gone = await clinicsOf(session, merged);
  // A closed connection suffices: practice software removes an animal, then merges it.
  if (survivor === undefined || !kept.has(clinicId)) return { code: "unknown_survivor" };
  if (merged === undefined || !gone.has(clinicId)) return { code: "unknown_merged" };
  const last = await survivorOf(session, survivorFp);
  if (merged.merged_into_id !== null) {
    const isDone = (await survivorOf(session, mergedFp)) === last;
    const moved = { studies: 0, soap_records: 0, events: 0 };
    return isDone ? { fp: last, moved, isNew: false } : { code: "merged_elsewhere" };
  }
  if (last === mergedFp) return { code: "circle" };
  if (survivor.deleted_at !== null || kept.get(clinicId) !== true) return { code: "removed_survivor" };
  if ([...gone].some(([id, isOpen]) => id !== clinicId && isOpen)) return { code: "other_clinics" };
  if (isOtherSpecies(survivor, merged)) return { code: "other_species" };
  return { fp: survivorFp, moved: await moveAll(session, survivor, merged, context), isNew: true };
}

/** Returns the clinics that were connected to an animal, and whether they are. */
async function clinicsOf(session: Session, animal: StoredAnimal | undefined): Promise<ReadonlyMap<number, boolean>> {
  if (animal === undefined) return new Map();
  const rows = await session.all(connectionsOf, { patientId: animal.id });
  return new Map(rows.map(({ clinic_id, active }) => [clinic_id, active === 1]));
}

/** A study is never flagged for another species: exotic alone contradicts no exotic animal. */
export function isOtherSpecies(one: SpeciesOf, other: SpeciesOf): boolean {
  if (one.species !== other.species) return true;
  const [precise, otherPrecise] = [one.precise_species, other.precise_species];
  return precise !== null && otherPrecise !== null && precise !== otherPrecise;
}

type SpeciesOf = Pick<StoredAnimal, "species" | "precise_species">;

async function moveAll(
  session: Session,
  survivor: StoredAnimal,
  merged: StoredAnimal,
  context: StoreContext,
): Promise<Merged["moved"]> {
  await storeAnimal(session, { ...(await stateOf(session, merged)), merged_into_id: survivor.id }, context);
  // Before the studies, because a study that moves leaves the order of another animal.
  await moveEach(session, orders, await session.all(ordersOf, { id: merged.id }), survivor, context);
  const moved = {
    studies: await moveEach(session, studies, await session.all(studiesOf, { id: merged.id }), survivor, context),
    soap_records: await moveEach(session, soapRecords, await session.all(soapOf, { id: merged.id }), survivor, context),
    events: await moveEach(session, events, await session.all(eventsOf, { id: merged.id }), survivor, context),
  };
  const used = await session.all(movementsFor, { id: merged.id });
  const numbered = used.map(({ id }) => ({ fp: String(id) }));
  await moveEach(session, stockMovements, numbered, survivor, context);
  await addNumbers(session, survivor, merged, context);
  await moveNames(session, survivor, merged, context);
  await removeAnimal(session, merged.fp, context);
  return moved;
}

/** Returns the animal as `storeAnimal` takes it. */
async function stateOf(
  session: Session,
  { fp, owner_customer_id }: StoredAnimal,
): Promise<Parameters<typeof storeAnimal>[1]> {
  const image = (await animals.read(session, fp)) as unknown as AnimalImage;
  return { ...image, fp, owner_customer_id };
}

async function moveEach(
  session: Session,
  kind: MovedKind,
  list: readonly { readonly fp: string }[],
  survivor: StoredAnimal,
  { batch, now }: StoreContext,
): Promise<number> {
  for (const { fp } of list) {
    const before = await kind.read(session, fp);
    await kind.move(session, fp, survivor, "merged", now);
    const after = await kind.read(session, fp);
    if (after !== null) await record(session, batch, { kind, subject: fp, before, after });
  }
  return list.length;
}

/** Numbers of an animal: the import takes as many. */
const NUMBERS_MAX = 100;

/** Adds the numbers of the merged animal, which keeps them: nobody finds a removed animal by its numbers. */
async function addNumbers(
  session: Session,
  survivor: StoredAnimal,
  merged: StoredAnimal,
  context: StoreContext,
): Promise<void> {
  const state = await stateOf(session, survivor);
  const known = new Set(state.identifiers.map(({ identifier }) => identifier));
  const added = (await stateOf(session, merged)).identifiers
    .filter(({ identifier }) => !known.has(identifier))
    .slice(0, Math.max(0, NUMBERS_MAX - known.size));
  if (added.length === 0) return;
  // Each number is a record of its own, so that a later change of the animal does not stop the undo.
  const identifiers = [...state.identifiers, ...added];
  await storeAnimal(session, { ...state, identifiers }, { ...context, batch: null });
  for (const { identifier, type } of added) {
    const subject = subjectOf(survivor.fp, identifier);
    await record(session, context.batch, { kind: numbers, subject, before: null, after: { type } });
  }
}

/** Moves the names in practice software. The survivor's name of the same source stays its only own one. */
async function moveNames(
  session: Session,
  survivor: StoredAnimal,
  merged: StoredAnimal,
  context: StoreContext,
): Promise<void> {
  const own = (await listNames(session, survivor.id)).filter(({ mergedInto }) => mergedInto === null);
  for (const name of await listNames(session, merged.id)) {
    const first = own.find(({ clinicId, source }) => clinicId === name.clinicId && source === name.source);
    const mergedInto = name.mergedInto ?? first?.externalId ?? null;
    await namePatient(session, { ...name, patientId: survivor.id, mergedInto }, context);
  }
}

/** A kind of record that follows its animal. */
interface MovedKind extends RecordedKind {
  readonly move: (
    session: Session,
    fp: string,
    to: StoredAnimal,
    cause: "merged" | "undone",
    now: number,
  ) => Promise<void>;
}

function movedKind({ name, read, move }: Pick<MovedKind, "name" | "read" | "move">): MovedKind {
  return {
    name,
    read,
    move,
    async restore(session, fp, image, { now }) {
      const to = await findAnimal(session, String(image?.["patient_fp"]));
      if (to !== undefined) await move(session, fp, to, "undone", now);
    },
  };
}

export const studies = movedKind({
  name: "study",
  async read(session, fp) {
    const stored = await findIntactStudy(session, fp);
    return stored === undefined ? null : { patient_fp: stored.patient_fp };
  },
  // A damaged study stays where it is. The flags of the others stay, and are marked if they are outdated there.
  async move(session, fp, to, cause, now) {
    const stored = await findIntactStudy(session, fp);
    if (stored === undefined) return;
    // The undo moves studies before orders.
    if (stored.order_fp !== null) await moveOrderTo(session, stored.order_fp, to.id, now);
    await reviseStudy(session, stored, { patient_id: to.id, cause }, now);
    if (stored.patient_fp !== null) await moveRemarks(session, { fp, from: stored.patient_fp, to: to.fp });
    await markOutdatedFlags(session, to.id, toPatient(to), now, fp);
  },
});

export const orders = movedKind({
  name: "order",
  read: async (session, fp) => (await session.first(patientOfOrder, { fp })) ?? null,
  // The undo moves the studies of the merge first, each with its order. A study that still answers the order came to the survivor
  // later, and the order of its sample stays with it.
  async move(session, fp, to, cause, now) {
    if (cause === "undone" && (await session.first(studyOfOtherPatient, { fp, patientId: to.id })) !== undefined)
      return;
    await moveOrderTo(session, fp, to.id, now);
  },
});

async function moveOrderTo(session: Session, fp: string, to: number, now: number): Promise<void> {
  for (const { clinic_id: clinicId } of await session.all(moveOrder, { fp, to, now }))
    await session.all(eventOfOrder, { fp, clinicId, change: "changed" });
}

export const soapRecords = movedKind({
  name: "soap",
  read: async (session, fp) => (await session.first(patientOfSoap, { fp })) ?? null,
  async move(session, fp, to, _cause, now) {
    const from = await session.first(patientIdOfSoap, { fp });
    if (from === undefined) return;
    await session.all(moveSoap, { fp, from: from.id, to: to.id });
    await announceSoap(session, { fp, patientId: to.id, previousPatientId: from.id, now });
    await addEventsOfSoap(session, { fp, patientId: to.id, previousPatientId: from.id, change: "changed" });
  },
});

export const events = movedKind({
  name: "event",
  read: async (session, fp) => (await session.first(patientOfEvent, { fp })) ?? null,
  async move(session, fp, to, _cause, now) {
    const event = await session.first(clinicOfEvent, { fp });
    if (event === undefined) return;
    await session.all(moveEvent, { fp, to: to.id, clinicId: event.id, now });
    await session.all(eventOfAppointment, { fp, clinicId: event.id, change: "changed" });
  },
});

/** Movements of stock that was used for an animal, each by its id. */
export const stockMovements = movedKind({
  name: "stock movement",
  read: async (session, id) => (await session.first(patientOfMovement, { id: Number(id) })) ?? null,
  async move(session, id, to) {
    await session.all(moveMovement, { id: Number(id), to: to.id });
  },
});

/** Numbers that came with a merged animal, each by the fp of the survivor and the number. */
export const numbers: RecordedKind = {
  name: "number",
  async read(session, subject) {
    const [fp, number] = JSON.parse(subject) as [string, string];
    const image = (await animals.read(session, fp)) as unknown as AnimalImage | null;
    const found = image?.identifiers.find(({ identifier }) => identifier === number);
    return found === undefined ? null : { type: found.type };
  },
  async restore(session, subject, _image, context) {
    const [fp, number] = JSON.parse(subject) as [string, string];
    const animal = await findAnimal(session, fp);
    if (animal === undefined) return;
    const state = await stateOf(session, animal);
    const identifiers = state.identifiers.filter(({ identifier }) => identifier !== number);
    await storeAnimal(session, { ...state, identifiers }, context);
  },
};

async function findAnimal(session: Session, fp: string) {
  return session.first(patientByFp, { fp });
}

const connectionsOf = query((db, p: { patientId: number }) =>
  db.selectFrom("clinic_patient").select(["clinic_id", "active"]).where("patient_id", "=", p.patientId),
);

const studiesOf = query((db, p: { id: number }) =>
  db.selectFrom("study").select("fp").where("patient_id", "=", p.id).orderBy("id"),
);

const ordersOf = query((db, p: { id: number }) =>
  db.selectFrom("lab_order").select("fp").where("patient_id", "=", p.id).orderBy("id"),
);

const patientOfOrder = query((db, p: { fp: string }) =>
  db
    .selectFrom("lab_order")
    .innerJoin("patient", "patient.id", "lab_order.patient_id")
    .select("patient.fp as patient_fp")
    .where("lab_order.fp", "=", p.fp),
);

const studyOfOtherPatient = query((db, p: { fp: string; patientId: number }) =>
  db
    .selectFrom("study")
    .select("id")
    .where("order_fp", "=", p.fp)
    .where("patient_id", "is not", null)
    .where("patient_id", "!=", p.patientId)
    .limit(1),
);

// The event of the order names its clinic for the stamp.
const moveOrder = query(
  (db, p: { fp: string; to: number; now: number }) =>
    db
      .updateTable("lab_order")
      .set((column) => ({ patient_id: p.to, changed_at: column.lit(UNSTAMPED) }))
      .where("fp", "=", p.fp)
      .returning("clinic_id"),
  ({ now }) => ({ changedAt: now, stamps: "orders" }),
);

const soapOf = query((db, p: { id: number }) =>
  db.selectFrom("soap").select("fp").where("patient_id", "=", p.id).orderBy("id"),
);

const eventsOf = query((db, p: { id: number }) =>
  db.selectFrom("calendar_event").select("fp").where("patient_id", "=", p.id).orderBy("id"),
);

const patientOfSoap = query((db, p: { fp: string }) =>
  db
    .selectFrom("soap")
    .innerJoin("patient", "patient.id", "soap.patient_id")
    .select("patient.fp as patient_fp")
    .where("soap.fp", "=", p.fp),
);

const patientIdOfSoap = query((db, p: { fp: string }) =>
  db.selectFrom("soap").select("patient_id as id").where("fp", "=", p.fp),
);

const moveSoap = query(
  (db, p: { fp: string; from: number; to: number }) =>
    db.updateTable("soap").set({ patient_id: p.to }).where("fp", "=", p.fp),
  ({ from, to }) => ({ patients: [from, to] }),
);

const patientOfEvent = query((db, p: { fp: string }) =>
  db
    .selectFrom("calendar_event")
    .leftJoin("patient", "patient.id", "calendar_event.patient_id")
    .select("patient.fp as patient_fp")
    .where("calendar_event.fp", "=", p.fp),
);

const clinicOfEvent = query((db, p: { fp: string }) =>
  db.selectFrom("calendar_event").select("clinic_id as id").where("fp", "=", p.fp),
);

const moveEvent = query(
  (db, p: { fp: string; to: number; clinicId: number; now: number }) =>
    db
      .updateTable("calendar_event")
      .set((column) => ({ patient_id: p.to, changed_at: column.lit(UNSTAMPED) }))
      .where("fp", "=", p.fp),
  ({ clinicId, now }) => ({ clinics: [clinicId], changedAt: now, stamps: "events" }),
);

const movementsFor = query((db, p: { id: number }) =>
  db.selectFrom("stock_movement").select("id").where("patient_id", "=", p.id).orderBy("id"),
);

const patientOfMovement = query((db, p: { id: number }) =>
  db
    .selectFrom("stock_movement as movement")
    .innerJoin("patient", "patient.id", "movement.patient_id")
    .select("patient.fp as patient_fp")
    .where("movement.id", "=", p.id),
);

// Responses of /api/v1 have no movement.
const moveMovement = uncachedWrite((db, p: { id: number; to: number }) =>
  db.updateTable("stock_movement").set({ patient_id: p.to }).where("id", "=", p.id),
);
