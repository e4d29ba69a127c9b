import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { DATE_PATTERN, Nullable } from "../../../shared/api/schema.ts";
import { isRealDate } from "../../../shared/api/timestamp.ts";
import type { Consumed, ItemDetail, ItemList, StockBatch } from "../../../shared/dashboard/stock.ts";
import { allocationOrder } from "../../domain/inventory-stock.ts";
import { ApiError } from "../../http/errors.ts";
import { pageParameters, readParameters, text, yesOrNo } from "../../http/query-parameters.ts";
import { auditCommand } from "../../store/audit.ts";
import { listCategories } from "../../store/dashboard/stock.ts";
import type { Session } from "../../store/database/query.ts";
import { consumeStock, findStock, listItems, receiveStock } from "../../store/stock.ts";
import { clinicOf } from "../auth/guard.ts";
import { bodyReader } from "../body.ts";
import type { DashboardContext } from "../context.ts";
import { actorOf, refuse } from "./commands.ts";

// The clinic's stock: its items, their batches, deliveries and consumption.

const filters = {
  ...pageParameters,
  category: text("Only this category."),
  low: yesOrNo("If true, only items below their threshold."),
};

const Quantity = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const receiveBody = bodyReader({
  quantity: Quantity,
  lot: Nullable(Type.String({ maxLength: 100 })),
  expiry_date: Nullable(Type.String({ pattern: DATE_PATTERN })),
});
const consumeBody = bodyReader({ quantity: Quantity });

const url = "/clinic/v1/clinics/:clinic/stock";
const urlOfOne = `${url}/:fp`;

export function stockRoutes(app: FastifyInstance, context: DashboardContext): void {
  readRoutes(app, context);
  moveRoutes(app, context);
}

function readRoutes(app: FastifyInstance, { store }: DashboardContext): void {
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
    return detailOf(await stockOf(store, clinicOf(request).id, fp));
  });
}

function moveRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(`${urlOfOne}/receive`, { config: { access: "staff" } }, async (request): Promise<ItemDetail> => {
    const { quantity, lot, expiry_date } = receiveBody(request.body);
    if (expiry_date !== null && !isRealDate(expiry_date)) {
      throw new ApiError("REQUEST.INVALID_BODY", `expiry_date is ${expiry_date}, expected a day that exists.`);
    }
    const { fp } = request.params as { fp: string };
    const { id: clinicId } = clinicOf(request);
    const delivery = { quantity, lot: lot?.trim() || null, expiry_date, received_at: now() };
    return store.transaction(async (session) => {
      await stockOf(session, clinicId, fp);
      const receipt = await receiveStock(session, { clinicId, fp, ...delivery });
      if (receipt.outcome === "refused") refuse(receipt.reason);
      if (receipt.outcome === "received") {
        await auditCommand(session, "stock receive", [fp], actorOf(request, now()));
      }
      return detailOf(await stockOf(session, clinicId, fp));
    });
  });
  app.post(`${urlOfOne}/consume`, { config: { access: "staff" } }, async (request): Promise<Consumed> => {
    const { quantity } = consumeBody(request.body);
    const { fp } = request.params as { fp: string };
    const { id: clinicId } = clinicOf(request);
    return store.transaction(async (session) => {
      const { batches } = await stockOf(session, clinicId, fp);
      const consumption = await consumeStock(session, { clinicId, fp, quantity });
      if (consumption.outcome === "refused") refuse(consumption.reason);
      const detail = detailOf(await stockOf(session, clinicId, fp));
      if (consumption.outcome === "nothing") return { ...detail, taken: [], taken_without_batch: 0 };
      await auditCommand(session, "stock consume", [fp], actorOf(request, now()));
      const taken = consumption.taken.flatMap((part) =>
        batches.filter(({ id }) => id === part.id).map((batch) => toBatch({ ...batch, quantity: part.quantity })),
      );
      return { ...detail, taken, taken_without_batch: quantity - sum(taken) };
    });
  });
}

type Stock = NonNullable<Awaited<ReturnType<typeof findStock>>>;

async function stockOf(session: Session, clinicId: number, fp: string): Promise<Stock> {
  const stock = await findStock(session, clinicId, fp);
  if (stock === undefined) throw new ApiError("RECORD.NOT_FOUND", "This item");
  return stock;
}

function detailOf({ item, batches }: Stock): ItemDetail {
  const left = allocationOrder(item.category, batches).filter(({ quantity }) => quantity > 0);
  const named = new Map(batches.map((batch) => [batch.id, batch]));
  const shown = left.flatMap(({ id }) => named.get(id) ?? []).map(toBatch);
  return { item, batches: shown, without_batch: Math.max(0, item.quantity_on_hand - sum(shown)) };
}

function toBatch({ lot, quantity, received_at, expiry_date }: Stock["batches"][number]): StockBatch {
  return { lot, quantity, received_at: new Date(received_at).toISOString(), expiry_date };
}

function sum(batches: readonly { quantity: number }[]): number {
  return batches.reduce((total, { quantity }) => total + quantity, 0);
}
