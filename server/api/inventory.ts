import type { FastifyInstance } from "fastify";
import { InventoryItem } from "../../shared/api/inventory.ts";
import { exampleOf } from "../http/openapi/examples.ts";
import type { Operation } from "../http/openapi/document.ts";
import { walkHeaders } from "../http/openapi/headers.ts";
import { keyOf } from "../http/request-context.ts";
import { linkNext, walkOf } from "../http/walk.ts";
import { listItems } from "../records/inventory/stock.ts";
import { EnvelopeOf, PageOf, pageOf, type RouteContext } from "./context.ts";
import { pageParameters, readParameters, text, yesOrNo } from "../http/query-parameters.ts";

// GET /api/v1/inventory.

const ItemPageEnvelope = EnvelopeOf(PageOf(InventoryItem, "InventoryItemPage"), "InventoryItemPageEnvelope");

const list = {
  operationId: "listInventoryItems",
  summary: "List inventory items",
  description: "The items of the key's clinic, by name.",
  header: "x-api-key",
  permissions: ["clinic.inventory.view"],
  parameters: {
    ...pageParameters,
    category: text("Only this category: `MEDICATION`, `VACCINE`, `CONSUMABLE`, `SERVICE` or another, in upper case."),
    low_stock_only: yesOrNo("If true, only items below their `low_stock_threshold`."),
    after: walkOf("items"),
  },
  headers: walkHeaders,
  example: { success: true, data: pageOf({ items: [exampleOf.item], total: 1 }, 1, 20) },
} satisfies Operation;

export function inventoryRoutes(app: FastifyInstance, { store }: RouteContext): void {
  app.get(
    "/api/v1/inventory",
    { schema: { response: { 200: ItemPageEnvelope } }, config: list },
    async (request, reply) => {
      const {
        page,
        page_size: pageSize,
        category,
        low_stock_only,
        after: walk,
      } = readParameters(request, list.parameters);
      const clinicId = keyOf(request).clinic_id;
      const after = walk && { name: String(walk.key[0]), fp: walk.key[1] };
      const found = await listItems(store, { clinicId, category, lowStockOnly: low_stock_only, page, pageSize, after });
      const { last } = found;
      const number = walk?.page ?? page;
      if (last !== null) linkNext(request, reply, "items", { key: [last.name, last.fp], page: number + 1, next: null });
      const data = pageOf(found, number, pageSize);
      return { success: true, data: walk === null ? data : { ...data, has_more: last !== null } };
    },
  );
}
