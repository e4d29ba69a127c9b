import { refusal } from "../../../../server/dashboard/types/refusals.ts";
import { expect, test } from "vitest";
import { openStore } from "../../../../server/database/open.ts";
import { query } from "../../../../server/database/query.ts";
import { findRecord, listRecords } from "../../../../server/records/soap/soap-list.ts";
import { listNamedEvents } from "../../../../server/records/calendar/calendar-list.ts";
import { listCategories } from "../../../../server/records/inventory/item-categories.ts";
import { addEvent } from "../../../../server/records/calendar/calendar.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { amendSoap, editSoap, moveSoap, writeSoap } from "../../../../server/records/soap/soap.ts";
import { consumeStock, findStock, receiveStock } from "../../../../server/records/inventory/stock.ts";
import type { Entity } from "../../../../server/import/lines.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, noon, patient, startServer } from "../../harness.ts";
import { batch, event, item, soap } from "../../records.ts";

// Goal: the commands of the dashboard on records, events and stock work on both engines.

const used = { reason: "used", user_id: null, at: noon } as const;
const ours = newFp("clinic");
const theirs = newFp("clinic");
const content = { soap_type: "EXAMINATION", subjective: null, objective: null, assessment: null, plan: "Rest." };

async function startClinics(...entities: (Entity | Entity[])[]) {
  const { store, database } = await startServer(clinic(ours), clinic(theirs), ...entities);
  const idOf = async (fp: string) => (await findClinic(store, fp))?.id ?? 0;
  return { store, database, clinicId: await idOf(ours), otherId: await idOf(theirs) };
}

test("simultaneous consumptions, of two servers, never take more than there is", async () => {
  const vaccine = item(ours, { quantity_on_hand: 12 });
  const lots = [batch(vaccine.fp, { lot: "A", quantity: 5 }), batch(vaccine.fp, { lot: "B", quantity: 7 })];
  const { store, database, clinicId } = await startClinics(vaccine, lots);
  const other = await openStore(database, 30_000);
  const asked = Array.from({ length: 10 }, (_, index) =>
    (index % 2 === 0 ? store : other)
      .transaction((session) =>
        consumeStock(session, { clinicId, fp: vaccine.fp, quantity: 5, today: "2026-11-21", batch: null }, used),
      )
      // A server without further attempts lets its user try again.
      .catch((error: unknown) => ({ outcome: (error as Error).constructor.name })),
  );
  const outcomes = (await Promise.all(asked)).map(({ outcome }) => outcome);
  await other.close();
  const consumed = outcomes.filter((outcome) => outcome === "consumed").length;
  const stock = await findStock(store, clinicId, vaccine.fp);
  const left = stock?.batches.reduce((total, { quantity }) => total + quantity, 0);
  expect(consumed).toBe(2);
  expect([stock?.item.quantity_on_hand, left]).toEqual([2, 2]);
});

test("a simultaneous delivery and consumption lose nothing", async () => {
  const vaccine = item(ours, { quantity_on_hand: 0 });
  const { database, clinicId } = await startClinics(vaccine);
  // A slow machine must not end the wait for a lock.
  const store = await openStore(database, 30_000);
  const delivery = {
    clinicId,
    fp: vaccine.fp,
    lot: "A",
    expiry_date: null,
    received_at: noon,
    quantity: 3,
    userId: null,
  };
  await store.transaction((session) => receiveStock(session, delivery));
  const outcomes = await Promise.all([
    store.transaction((session) => receiveStock(session, { ...delivery, quantity: 4 })),
    store.transaction((session) =>
      consumeStock(session, { clinicId, fp: vaccine.fp, quantity: 2, today: "2026-11-21", batch: null }, used),
    ),
    store.transaction((session) => receiveStock(session, { ...delivery, lot: "B" })),
  ]);
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["received", "consumed", "received"]);
  const stock = await findStock(store, clinicId, vaccine.fp);
  expect(stock?.item.quantity_on_hand).toBe(8);
  expect(stock?.batches.map(({ lot, quantity }) => [lot, quantity]).toSorted()).toEqual([
    ["A", 5],
    ["B", 3],
  ]);
  await store.close();
});

test("stock of another clinic is not found, received or consumed", async () => {
  const vaccine = item(ours);
  const { store, clinicId, otherId } = await startClinics(vaccine, item(theirs, { category: "FOOD" }));
  const { fp } = vaccine;
  const refused = { outcome: "refused", reason: refusal("STOCK.NO_ITEM", fp) };
  const delivery = {
    clinicId: otherId,
    fp,
    lot: null,
    expiry_date: null,
    received_at: noon,
    quantity: 1,
    userId: null,
  };
  expect(await findStock(store, otherId, fp)).toBe(undefined);
  expect(await store.transaction((session) => receiveStock(session, delivery))).toEqual(refused);
  expect(
    await store.transaction((session) =>
      consumeStock(session, { clinicId: otherId, fp, quantity: 1, today: "2026-11-21", batch: null }, used),
    ),
  ).toEqual(refused);
  expect((await findStock(store, clinicId, fp))?.item.quantity_on_hand).toBe(12);
  expect([await listCategories(store, clinicId), await listCategories(store, otherId)]).toEqual([
    ["VACCINE"],
    ["FOOD"],
  ]);
});

test("a draft is edited by its clinic until it is signed, and then amended", async () => {
  const dog = patient();
  const { store, clinicId, otherId } = await startClinics(dog, connection(dog.fp, ours), connection(dog.fp, theirs));
  const patientId = (await store.first(patientIdOf, { fp: dog.fp }))?.id ?? 0;
  const fp = await store.transaction((session) => writeSoap(session, { clinicId, patientId, content, now: noon }));
  const edit = async (clinicOfUser: number, plan: string) =>
    store.transaction((session) => editSoap(session, { clinicId: clinicOfUser, fp, changes: { plan }, now: noon }));
  expect(await edit(otherId, "Ours")).toEqual(refusal("SOAP.NOT_OWN", fp));
  expect(await edit(clinicId, "Rest for a week.")).toBe(null);
  const draft = await findRecord(store, clinicId, fp);
  expect(draft).toMatchObject({ plan: "Rest for a week.", is_own: true, next_status: "IN_PROGRESS" });
  for (const to of ["IN_PROGRESS", "SIGNED"] as const) {
    expect(await store.transaction((session) => moveSoap(session, { clinicId, fp, to, now: noon }))).toBe(null);
  }
  expect(await edit(clinicId, "Other")).toEqual(refusal("SOAP.SIGNED", "SIGNED", "plan"));
  expect(await edit(clinicId, "Rest for a week.")).toBe(null);
  const amended = await store.transaction((session) => amendSoap(session, { clinicId, fp, now: noon + 1 }));
  const foreign = await findRecord(store, otherId, fp);
  expect(foreign).toMatchObject({ is_own: false, next_status: null, version: draft?.version });
  expect(foreign?.amended_by.map((each) => each.fp)).toEqual([(amended as { fp: string }).fp]);
});

test("lists show the records and events of the clinic alone, in their order", async () => {
  const [dog, cat] = [patient({ name: "Çakıl" }), patient({ name: "Boncuk", species: "cat" })];
  const [draft, foreign] = [soap(dog.fp, ours), soap(dog.fp, theirs, { created_at: "2026-11-02T09:00:00.000Z" })];
  const appointment = event(ours, { patient_fp: dog.fp });
  const { store, clinicId } = await startClinics(
    ...[dog, cat, connection(dog.fp, ours), connection(cat.fp, ours, false), draft, foreign],
    ...[soap(cat.fp, theirs), appointment, event(theirs)],
  );
  const filter = { clinicId, status: null, patientFp: null, page: 1, pageSize: 20 };
  const { items, total } = await listRecords(store, filter);
  expect([items.map(({ fp }) => fp), total]).toEqual([[draft.fp, foreign.fp], 2]);
  const times = { start_at: noon, end_at: noon + 1 };
  const added = await store.transaction((session) =>
    addEvent(
      session,
      { clinic_id: clinicId, title: "x", type: "SALE", ...times, patient_id: null, assigned_user_id: null },
      noon,
    ),
  );
  const events = await listNamedEvents(store, { clinicId, start: noon, end: noon + 30 * 86_400_000 });
  expect(events.map(({ fp, patient: shown }) => [fp, shown?.name])).toEqual([
    [added, undefined],
    [appointment.fp, "Çakıl"],
  ]);
});

const patientIdOf = query((db, p: { fp: string }) => db.selectFrom("patient").select("id").where("fp", "=", p.fp));
