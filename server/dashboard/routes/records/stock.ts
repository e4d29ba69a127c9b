import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { isRealDate } from "../../../../shared/schema/timestamp.ts";
import { fpPattern } from "../../../../shared/api/fp.ts";
import { Nullable } from "../../../../shared/schema/schema.ts";
import {
  type Consumed,
  type ItemDetail,
  type ItemList,
  type MovementList,
  type NewItemBody,
  type StockBatch,
  type StockCount,
  TAKE_REASONS,
  type TakeReason,
} from "../../types/stock.ts";
import { wallTime } from "../../types/wall-time.ts";
import { allocationOrder, isExpired } from "../../../records/inventory/inventory-stock.ts";
import { ApiError } from "../../../http/errors.ts";
import { pageParameters, readParameters, text, yesOrNo } from "../../../http/query-parameters.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { countStock, undoMovement } from "../../../records/inventory/corrections.ts";
import { listMovements } from "../../../records/inventory/movement-list.ts";
import { listCategories } from "../../../records/inventory/item-categories.ts";
import type { Session } from "../../../database/query.ts";
import { deliveryFields, firstDeliveryFields, itemFields, storeNewItem } from "../../../records/inventory/new-item.ts";
import { consumeStock, findStock, listItems, receiveStock } from "../../../records/inventory/stock.ts";
import { findPatient } from "../../../records/patients/patients.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";
import { actorOf } from "../commands.ts";

// The clinic's stock: its items, their batches, deliveries, consumption, counts and movements.

const filters = {
  ...pageParameters,
  category: text("Only this category."),
  low: yesOrNo("If true, only items below their threshold."),
};

const Quantity = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const receiveBody = bodyReader({ quantity: Quantity, ...deliveryFields });
const newBody: (body: unknown) => NewItemBody = bodyReader({ ...itemFields, ...firstDeliveryFields });
const BatchId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const consumeBody = bodyReader({
  quantity: Quantity,
  batch: Type.Optional(BatchId),
  reason: Type.Optional(Type.Enum([...TAKE_REASONS])),
  patient_fp: Type.Optional(Type.String({ pattern: fpPattern("patient") })),
});
const countBody: (body: unknown) => StockCount = bodyReader({
  batch: Nullable(BatchId),
  quantity: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
});

const url = "/clinic/v1/clinics/:clinic/stock";
const urlOfOne = `${url}/:fp`;

const noBody = bodyReader({});

export function stockRoutes(app: FastifyInstance, context: DashboardContext): void {
  readRoutes(app, context);
  newRoute(app, context);
  moveRoutes(app, context);
  correctRoutes(app, context);
}

function readRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(url, { config: { access: "reader", parameters: filters } }, async (request): Promise<ItemList> => {
    const { page, page_size, category, low } = readParameters(request, filters);
    const { id: clinicId } = clinicOf(request);
    const filter = { clinicId, category, lowStockOnly: low, page, pageSize: page_size };
    const { items, total } = await listItems(store, filter);
    const categories = await listCategories(store, clinicId);
    return { items, total, page, page_size, has_more: page * page_size < total, categories };
  });
  app.get(urlOfOne, { config: { access: "reader" } }, async (request): Promise<ItemDetail> => {
    const { fp } = request.params as { fp: string };
    return detailOf(await stockOf(store, clinicOf(request).id, fp), dayOf(request, now()));
  });
  app.get(
    `${urlOfOne}/movements`,
    { config: { access: "reader", parameters: pageParameters } },
    async (request): Promise<MovementList> => {
      const { page, page_size } = readParameters(request, pageParameters);
      const { fp } = request.params as { fp: string };
      const { id: clinicId } = clinicOf(request);
      await stockOf(store, clinicId, fp);
      const { items, total } = await listMovements(store, { clinicId, fp, page, pageSize: page_size });
      return { items, total, page, page_size, has_more: page * page_size < total };
    },
  );
}

function newRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(url, { config: { access: "staff" } }, async (request): Promise<{ fp: string }> => {
    const { quantity, lot, expiry_date, ...typed } = newBody(request.body);
    checkDay(expiry_date);
    const { id: clinicId } = clinicOf(request);
    const item = { ...typed, sku: null };
    return store.transaction(async (session) => {
      const { userId } = actorOf(request, now());
      const by = { now: now(), userId };
      const fp = await storeNewItem(session, clinicId, item, [{ quantity, lot, expiry_date }], by);
      if (fp === null) refuse(refusal("STOCK.NAME_TAKEN"));
      await auditCommand(session, "stock item add", [fp], actorOf(request, now()));
      return { fp };
    });
  });
}

function checkDay(expiry_date: string | null): void {
  if (expiry_date === null || isRealDate(expiry_date)) return;
  throw new ApiError("REQUEST.INVALID_BODY", `expiry_date is ${expiry_date}, expected a day that exists.`);
}

function moveRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(`${urlOfOne}/receive`, { config: { access: "staff" } }, async (request): Promise<ItemDetail> => {
    const { quantity, lot, expiry_date } = receiveBody(request.body);
    checkDay(expiry_date);
    const { fp } = request.params as { fp: string };
    const { id: clinicId } = clinicOf(request);
    const actor = actorOf(request, now());
    const delivery = { quantity, lot: lot?.trim() || null, expiry_date, received_at: actor.now };
    return store.transaction(async (session) => {
      await stockOf(session, clinicId, fp);
      const receipt = await receiveStock(session, { clinicId, fp, userId: actor.userId, ...delivery });
      if (receipt.outcome === "refused") refuse(receipt.reason);
      if (receipt.outcome === "received") {
        await auditCommand(session, "stock receive", [fp], actor);
      }
      return detailOf(await stockOf(session, clinicId, fp), dayOf(request, now()));
    });
  });
  app.post(`${urlOfOne}/consume`, { config: { access: "staff" } }, async (request): Promise<Consumed> => {
    const { quantity, batch = null, reason = "used", patient_fp = null } = consumeBody(request.body);
    if (patient_fp !== null && reason !== "used") {
      throw new ApiError("REQUEST.INVALID_BODY", `patient_fp has a patient, expected none for the reason ${reason}.`);
    }
    const { fp } = request.params as { fp: string };
    const { id: clinicId } = clinicOf(request);
    const actor = actorOf(request, now());
    const today = dayOf(request, actor.now);
    return store.transaction(async (session) => {
      const { batches } = await stockOf(session, clinicId, fp);
      const consumption = await consumeStock(
        session,
        { clinicId, fp, quantity, today, batch },
        { reason, patient_id: await patientId(session, clinicId, patient_fp), user_id: actor.userId, at: actor.now },
      );
      if (consumption.outcome === "refused") refuse(consumption.reason);
      const detail = detailOf(await stockOf(session, clinicId, fp), today);
      if (consumption.outcome === "nothing") return { ...detail, taken: [], taken_without_batch: 0 };
      const taken = consumption.taken.flatMap((part) =>
        batches.filter(({ id }) => id === part.id).map((each) => toBatch({ ...each, quantity: part.quantity }, today)),
      );
      await auditCommand(session, commandOf(reason, taken), [fp, patient_fp], actor);
      return { ...detail, taken, taken_without_batch: quantity - sum(taken) };
    });
  });
}

function correctRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(`${urlOfOne}/count`, { config: { access: "staff" } }, async (request): Promise<ItemDetail> => {
    const counted = countBody(request.body);
    const { fp } = request.params as { fp: string };
    const { id: clinicId } = clinicOf(request);
    const actor = actorOf(request, now());
    return store.transaction(async (session) => {
      await stockOf(session, clinicId, fp);
      const by = { user_id: actor.userId, at: actor.now };
      const counting = await countStock(session, { clinicId, fp, ...counted }, by);
      if (counting.outcome === "refused") refuse(counting.reason);
      if (counting.outcome === "corrected") await auditCommand(session, "stock count", [fp], actor);
      return detailOf(await stockOf(session, clinicId, fp), dayOf(request, actor.now));
    });
  });
  app.post<{ Params: { fp: string; movement: string } }>(
    `${urlOfOne}/movements/:movement/undo`,
    { config: { access: "staff" } },
    async (request): Promise<ItemDetail> => {
      const { fp, movement } = request.params;
      noBody(request.body);
      const { id: clinicId } = clinicOf(request);
      const actor = actorOf(request, now());
      return store.transaction(async (session) => {
        await stockOf(session, clinicId, fp);
        const by = { user_id: actor.userId, at: actor.now };
        const undone = /^[1-9]\d{0,14}$/.test(movement)
          ? await undoMovement(session, { clinicId, fp, movement: Number(movement) }, by)
          : undefined;
        if (undone === undefined) throw new ApiError("RECORD.NOT_FOUND", "This movement");
        if (undone.outcome === "refused") refuse(undone.reason);
        await auditCommand(session, "stock undo", [fp], actor);
        return detailOf(await stockOf(session, clinicId, fp), dayOf(request, actor.now));
      });
    },
  );
}

async function patientId(session: Session, clinicId: number, fp: string | null): Promise<number | null> {
  if (fp === null) return null;
  const patient = await findPatient(session, clinicId, fp);
  if (patient?.connected !== true) throw new ApiError("RECORD.NOT_FOUND", "This patient");
  return patient.id;
}

type Stock = NonNullable<Awaited<ReturnType<typeof findStock>>>;

async function stockOf(session: Session, clinicId: number, fp: string): Promise<Stock> {
  const stock = await findStock(session, clinicId, fp);
  if (stock === undefined) throw new ApiError("RECORD.NOT_FOUND", "This item");
  return stock;
}

function dayOf(request: FastifyRequest, now: number): string {
  return wallTime(now, clinicOf(request).timeZone ?? undefined).date;
}

/** Names the command in the audit, with an expired batch that was used, since somebody chose it. */
function commandOf(reason: TakeReason, taken: readonly StockBatch[]): string {
  const expired = taken.find(({ is_expired }) => is_expired);
  if (reason !== "used") return `stock ${reason}`;
  if (expired === undefined) return "stock consume";
  const lot = expired.lot === null ? "batch without a lot" : `lot ${expired.lot}`;
  return `stock consume: ${lot}, expired ${expired.expiry_date}`;
}

function detailOf({ item, batches }: Stock, today: string): ItemDetail {
  const left = allocationOrder(item.category, batches, today).filter(({ quantity }) => quantity > 0);
  const named = new Map(batches.map((batch) => [batch.id, batch]));
  const shown = left.flatMap(({ id }) => named.get(id) ?? []).map((each) => toBatch(each, today));
  return { item, batches: shown, without_batch: Math.max(0, item.quantity_on_hand - sum(shown)) };
}

function toBatch(batch: Stock["batches"][number], today: string): StockBatch {
  const { id, lot, quantity, received_at, expiry_date } = batch;
  const is_expired = isExpired(batch, today);
  return { id, lot, quantity, received_at: new Date(received_at).toISOString(), expiry_date, is_expired };
}

function sum(batches: readonly { quantity: number }[]): number {
  return batches.reduce((total, { quantity }) => total + quantity, 0);
}
