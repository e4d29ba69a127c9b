import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  EXTERNAL_ID_CHARS_MAX,
  RegistryChange,
  type RegistryOrder,
  type RegistryOutcome,
  type RegistryPatient,
} from "../../../../shared/api/agent/registry.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { foldName } from "../../../../shared/clinical/analytes/analytes.ts";
import { fold } from "../../../../shared/clinical/species.ts";
import { compileLater } from "../../../../shared/schema/compile-later.ts";
import { query, type Session } from "../../../database/query.ts";
import { parseStored } from "../../../database/schema.ts";
import { listPanels } from "../../orders/order-list.ts";
import { unknownTests } from "../../orders/order-tests.ts";
import { findPlacedOrder, type StoredOrder } from "../../orders/orders.ts";
import { type Identifier, identifiersOf, patientByFp } from "../animals.ts";
import type { Batch } from "../batches.ts";
import { isErased, ownerId, readOwnerFacts } from "../owners.ts";
import { findNamedOwner, type NamedPatient, nameOwner, ownNameOf } from "../sources.ts";
import { keepOutcomes, type Outcome, takeOutcomes } from "./kept-outcomes.ts";
import { formFaults, readPatients, type ReadPatient, type RefusedItem, type SyncedOwner, readTime } from "./items.ts";
import { mergeNamed, mergeRefusals, renameNamed, renameRefusals } from "./merge.ts";
import type { SyncFault } from "./messages.ts";
import { readOrders } from "./order-items.ts";
import { syncOrders } from "./orders.ts";
import { knownByChip, syncPatients } from "./patients.ts";
import { isOlder, ITEMS_PER_TURN, olderItem, type StoredItem, type SyncRequest, withBatch, keyOf } from "./request.ts";

// The changes of practice software that an agent brings, one after the other: what a change leaves out is filled from what is
// stored, and then it is an item like those of /sync/v1.

/** A change with its number in the request and its key, not checked otherwise. */
interface Numbered {
  readonly id: number;
  readonly key: string;
  readonly kind?: unknown;
}

export type ChangesRequest = Omit<SyncRequest<Numbered>, "full" | "batch">;

type Context = Omit<SyncRequest<unknown>, "items" | "full">;

const form = compileLater(RegistryChange);

/**
 * Stores the changes in their order. Run it in a transaction. Each merge has a batch of its own, so that it can be undone alone. A
 * change that came before gets its outcome again.
 */
export async function storeChanges(session: Session, request: ChangesRequest): Promise<RegistryOutcome[]> {
  const { items, ...about } = request;
  const { source, now, by } = about;
  const sender = { ...keyOf(by), source };
  const known = await takeOutcomes(session, sender, now);
  const outcomes: RegistryOutcome[] = [];
  const storeRun = async (run: typeof items, batch: Batch | null | undefined) => {
    for (const { id, key, ...change } of run) {
      // On SQLite no query gives up the turn, and other requests would wait for all changes.
      if (outcomes.length % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await nextTurn();
      const context = { ...about, ...(batch !== undefined && { batch }) };
      const outcome = known.get(key) ?? (await storeChange(session, change, context));
      known.set(key, outcome);
      outcomes.push({ id, ...outcome });
    }
  };
  for (const run of runsOf(items)) {
    if (isMerge(run[0])) await storeRun(run, undefined);
    else await withBatch(session, about, (batch) => storeRun(run, batch), "hl7");
  }
  await keepOutcomes(session, sender, known, now);
  return outcomes;
}

const isMerge = (change: Numbered | undefined) => change?.kind === "merge";

/** Returns the changes up to each merge, and each merge. */
function runsOf(changes: readonly Numbered[]): Numbered[][] {
  const runs: Numbered[][] = [];
  for (const change of changes) {
    const last = runs.at(-1);
    if (last === undefined || isMerge(change) || isMerge(last[0])) runs.push([change]);
    else last.push(change);
  }
  return runs;
}

async function storeChange(session: Session, given: unknown, context: Context): Promise<Outcome> {
  if (!form.Check(given)) return rejected(formFaults(form, given, () => true));
  const change: RegistryChange = given;
  switch (change.kind) {
    case "patient":
      return storePatient(session, change, context);
    case "order":
      return storeOrder(session, change.item, context);
    case "merge": {
      const merged = await mergeNamed(session, { ...context, survivor: change.survivor, merged: change.merged });
      if (!("code" in merged)) return { outcome: merged.outcome, fp: merged.fp, code: null, reason: null };
      return rejected([{ field: "", code: merged.code, message: mergeRefusals[merged.code] }]);
    }
    case "rename": {
      const renamed = await renameNamed(session, { ...context, from: change.from, to: change.to });
      if (!("code" in renamed)) return { outcome: renamed.outcome, fp: renamed.fp, code: null, reason: null };
      return rejected([{ field: "", code: renamed.code, message: renameRefusals[renamed.code] }]);
    }
  }
}

/** The code is the first fault's. */
function rejected(faults: readonly SyncFault[]): Outcome {
  return { outcome: "rejected", fp: null, ...codeAndReason(faults) };
}

function codeAndReason(faults: readonly SyncFault[]): Pick<Outcome, "code" | "reason"> {
  const [first] = faults;
  if (first === undefined) return { code: null, reason: null };
  return {
    code: `REGISTRY.${first.code.toUpperCase()}`,
    reason: faults.map(({ message }) => message).join("; "),
  };
}

function outcomeOf(items: readonly Pick<StoredItem, "fp" | "outcome" | "errors">[]): Outcome {
  const [item] = items;
  if (item === undefined) throw new Error("expected one item");
  return { outcome: item.outcome, fp: item.fp, ...codeAndReason(item.errors) };
}

type PatientChange = Extract<RegistryChange, { kind: "patient" }>;

async function storePatient(session: Session, { item, only_new }: PatientChange, context: Context): Promise<Outcome> {
  const { clinicId, source, now } = context;
  const { name, before } = await ownNameOf(session, { clinicId, source, externalId: item.external_id });
  const named = await findAnimal(session, before);
  if (only_new === true && named !== undefined) return unchanged(named);
  const faults: SyncFault[] = [];
  // The clock of the agent's computer may be ahead of the server's, by any time.
  const sentAt = readTime("updated_at", item.updated_at ?? null, Number.POSITIVE_INFINITY, faults);
  const updatedAt = sentAt === null ? null : Math.min(sentAt, now);
  const storedAt = before?.source_updated_at ?? null;
  if (before !== undefined && storedAt !== null && isOlder(updatedAt, storedAt)) {
    return outcomeOf([olderItem(storedAt, before.fp, before)]);
  }
  const deadBy = readTime("dead_by", item.dead_by ?? null, now, faults);
  if (faults.length > 0) return rejected(faults);
  const store = async (read: ReadPatient | RefusedItem) =>
    outcomeOf((await syncPatients(session, { ...context, items: [read], full: null, isMatchedByChip: true })).items);
  if (item.deleted === true) return store({ externalId: item.external_id, updatedAt, patient: null });

  const { owner: _owner, replaced = [], dead_by: _deadBy, updated_at: _updatedAt, deleted: _deleted, ...facts } = item;
  const words = named === undefined ? {} : { name: named.name, species: named.precise_species ?? named.species };
  // The checks of /sync/v1 see what the change has. What is stored was checked by the door that brought it.
  const [read] = readPatients([{ ...words, ...facts, owner: ANY_OWNER }], now);
  if (read === undefined) throw new Error("an item was not read");
  if ("faults" in read) return rejected(read.faults);
  const given = read.patient;
  if (given === null) throw new Error("a patient was read as removed");
  // An animal of another door is filled too: with its name it is the stored one.
  const isSought = before === undefined;
  const stored = isSought ? await findAnimal(session, await knownByChip(session, name, given, context)) : named;
  if (only_new === true && stored !== undefined) return unchanged(stored);
  const numbers = stored === undefined ? [] : await session.all(identifiersOf, { patientId: stored.id });
  const kept = <Value>(field: keyof RegistryPatient, value: Value, earlier: Value | undefined): Value =>
    item[field] === undefined && earlier !== undefined ? earlier : value;
  const patient = {
    ...given,
    sex: kept("sex", given.sex, stored?.sex),
    breed: kept("breed", given.breed, stored?.breed),
    date_of_birth: kept("date_of_birth", given.date_of_birth, stored?.date_of_birth),
    weight_kg: kept("weight_kg", given.weight_kg, stored?.weight_kg),
    deceasedAt: kept("deceased_at", given.deceasedAt, stored?.deceased_at) ?? deadBy,
    identifiers: withNumbers(numbers, given.identifiers, replaced),
    owner: await ownerOf(session, item, name.externalId, stored, context),
  };
  return store({ ...read, updatedAt, patient });
}

async function findAnimal(session: Session, named: NamedPatient | undefined) {
  const fp = named?.fp ?? null;
  return fp === null ? undefined : session.first(patientByFp, { fp });
}

function unchanged({ fp }: { readonly fp: string }): Outcome {
  return { outcome: "unchanged", fp, code: null, reason: null };
}

/** Passes the checks in the place of an owner that is found afterwards. */
const ANY_OWNER = { external_id: "-", name: "-" };

/** Adds numbers to the stored ones, without other numbers of the replaced types. */
function withNumbers(
  stored: readonly Identifier[],
  given: readonly Identifier[],
  replaced: readonly string[],
): Identifier[] {
  const isGiven = ({ identifier }: Identifier) => given.some((each) => each.identifier === identifier);
  const kept = stored.filter((each) => isGiven(each) || !replaced.includes(each.type ?? ""));
  return [...kept, ...given.filter(({ identifier }) => kept.every((each) => each.identifier !== identifier))];
}

/**
 * Returns the owner of an animal with all facts. Without an id it is the stored owner. A new animal gets an owner of its own, since
 * a name alone identifies no person. So does an animal whose stored owner has another name and other animals.
 */
async function ownerOf(
  session: Session,
  { owner = {} }: RegistryPatient,
  ownId: string,
  animal: { readonly id: number; readonly owner_customer_id: number } | undefined,
  { clinicId, source, batch = null }: Context,
): Promise<SyncedOwner> {
  const isOther = async (customerId: number) =>
    owner.external_id === undefined &&
    owner.name !== undefined &&
    (await isOtherOwner(session, { customerId, called: owner.name, animalId: animal?.id ?? 0 }));
  const stored = animal?.owner_customer_id;
  // The data of an erased owner never come back to it: what the software sends is another owner.
  const isNew = stored === undefined || (await isErased(session, stored)) || (await isOther(stored));
  const customerId = isNew ? undefined : stored;
  const known =
    customerId === undefined ? undefined : await session.first(nameOfOwner, { clinicId, source, customerId });
  const externalId = owner.external_id ?? known?.external_id ?? ownerIdFor(ownId);
  const name = { clinicId, source, externalId };
  const isNameless = owner.external_id === undefined && known === undefined;
  // An owner whom another door brought gets the name of this one.
  if (isNameless && customerId !== undefined)
    await nameOwner(session, { ...name, customerId, updatedAt: null }, { batch });
  let named = await findNamedOwner(session, name);
  // The animal's own owner may have other animals by now.
  if (named !== undefined && (await isOther(named.customer_id))) {
    const own = await ownerId(session, newFp("customer"), { batch });
    await nameOwner(session, { ...name, customerId: own, updatedAt: null }, { batch });
    named = await findNamedOwner(session, name);
  }
  const facts = named === undefined ? null : await readOwnerFacts(session, named.customer_id);
  return {
    externalId,
    name: owner.name ?? facts?.name ?? null,
    phone: owner.phone === undefined ? (facts?.phone ?? null) : owner.phone,
    email: owner.email === undefined ? (facts?.email ?? null) : owner.email,
  };
}

/** Whether an owner has other animals and is not called so. */
async function isOtherOwner(
  session: Session,
  { called, ...about }: { readonly customerId: number; readonly called: string; readonly animalId: number },
): Promise<boolean> {
  const { name } = await readOwnerFacts(session, about.customerId);
  if (name === null || fold(name) === fold(called)) return false;
  return (await session.first(otherAnimal, about)) !== undefined;
}

const otherAnimal = query((db, p: { customerId: number; animalId: number }) =>
  db
    .selectFrom("patient")
    .select("id")
    .where("owner_customer_id", "=", p.customerId)
    .where("id", "!=", p.animalId)
    .where("deleted_at", "is", null)
    .limit(1),
);

/** Returns the id of the owner whom only this animal has. */
function ownerIdFor(animal: string): string {
  const id = `owner of ${animal}`;
  if (id.length <= EXTERNAL_ID_CHARS_MAX) return id;
  return `owner of ${createHash("sha256").update(animal).digest("hex").slice(0, 32)}`;
}

const nameOfOwner = query((db, p: { clinicId: number; source: string; customerId: number }) =>
  db
    .selectFrom("customer_source")
    .select("external_id")
    .where("clinic_id", "=", p.clinicId)
    .where("source", "=", p.source)
    .where("customer_id", "=", p.customerId)
    .orderBy("external_id")
    .limit(1),
);

async function storeOrder(session: Session, item: RegistryOrder, context: Context): Promise<Outcome> {
  const { clinicId, source, now } = context;
  const stored = await findPlacedOrder(session, { clinicId, source, number: item.external_id });
  if (stored !== undefined && item.cancelled === true && (await isPart(session, item.tests, stored, context))) {
    const message = "The cancellation has fewer tests than the order, which is cancelled as a whole alone";
    return rejected([{ field: "tests", code: "part_of_order", message }]);
  }
  const isOfStored =
    stored !== undefined && (item.cancelled === true || item.tests === undefined || isPanel(stored.panel, item.tests));
  const wanted = isOfStored
    ? { tests: parseStored(stored.tests), device: stored.device_id, panel: stored.panel }
    : await withPanels(session, item.tests, context);
  const [read] = readOrders([{ ...item, tests: wanted?.tests, device: wanted?.device }], now);
  if (read === undefined) throw new Error("an item was not read");
  if ("faults" in read) return rejected(read.faults);
  const order = { ...read, panel: wanted?.panel ?? null };
  return outcomeOf((await syncOrders(session, { ...context, items: [order], full: null })).items);
}

/** Whether the tests of a cancellation are some of its order's. Without tests, and by the panel's name, it cancels all of them. */
async function isPart(
  session: Session,
  tests: readonly string[] | undefined,
  stored: Pick<StoredOrder, "tests" | "panel">,
  context: Context,
): Promise<boolean> {
  if (tests === undefined || isPanel(stored.panel, tests)) return false;
  const cancelled = new Set((await withPanels(session, tests, context))?.tests.map(foldName));
  return parseStored(stored.tests).some((test) => !cancelled.has(foldName(test)));
}

interface WantedTests {
  readonly tests: readonly string[];
  readonly device: string | null;
  readonly panel: string | null;
}

/** Replaces a test that the catalogue lacks by the tests of the clinic's panel with its name. The panels have one device, or none. */
async function withPanels(
  session: Session,
  tests: readonly string[] | undefined,
  { clinicId, now }: Context,
): Promise<WantedTests | null> {
  if (tests === undefined) return null;
  const unknown = new Set(unknownTests(tests).map(({ test }) => test));
  if (unknown.size === 0) return { tests, device: null, panel: null };
  const panels = await listPanels(session, clinicId, now);
  const found = tests.map((test) => (unknown.has(test) ? panels.find(({ name }) => isPanel(name, [test])) : undefined));
  const devices = new Set(found.flatMap((panel) => panel?.device ?? []));
  const [device = null] = devices.size === 1 ? devices : [];
  return {
    tests: [...new Set(tests.flatMap((test, index) => found[index]?.tests ?? [test]))],
    device,
    panel: tests.length === 1 ? (found[0]?.name ?? null) : null,
  };
}

function isPanel(name: string | null, [test, ...others]: readonly string[]): boolean {
  return name !== null && test !== undefined && others.length === 0 && foldName(name) === foldName(test);
}
