import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { InventoryItem } from "../../shared/inventory.ts";
import { keyOf } from "../auth.ts";
import { listItems } from "../store/stock.ts";
import { PageOf, pageOf, type RouteContext } from "./context.ts";
import { choiceParameter, pageParameters, textParameter } from "./parameters.ts";

// GET /api/v1/inventory (specification, section 4.6).

const ItemPage = Type.Object({ success: Type.Literal(true), data: PageOf(InventoryItem) });

export function inventoryRoutes(app: FastifyInstance, { store, guard }: RouteContext): void {
  app.route({
    method: "GET",
    url: "/api/v1/inventory",
    onRequest: guard("x-api-key", "clinic.inventory.view"),
    schema: { response: { 200: ItemPage } },
    config: { parameters: ["page", "page_size", "category", "low_stock_only"] },
    handler: async (request) => {
      const { page, pageSize } = pageParameters(request);
      const list = await listItems(store, {
        clinicId: keyOf(request).clinic_id,
        category: textParameter(request, "category"),
        lowStockOnly: choiceParameter(request, "low_stock_only", ["true", "false"]) === "true",
        page,
        pageSize,
      });
      return { success: true, data: pageOf(list, page, pageSize) };
    },
  });
}
