import type { FastifyInstance } from "fastify";
import { InventoryItem } from "../../shared/api/inventory.ts";
import { exampleOf } from "../http/openapi/examples.ts";
import type { Operation } from "../http/openapi/document.ts";
import { syncHeaders } from "../http/openapi/headers.ts";
import { keyOf, versionsOf } from "../http/request-context.ts";
import { linkNext, walkOf } from "../http/walk.ts";
import { listChangedItems } from "../records/inventory/changed-items.ts";
import { listItems } from "../records/inventory/stock.ts";
import { EnvelopeOf, PageOf, pageOf, type RouteContext } from "./context.ts";
import { syncedPage } from "./walked-page.ts";
import { instant, invalid, pageParameters, readParameters, text, yesOrNo } from "../http/query-parameters.ts";

// GET /api/v1/inventory.

const ItemPageEnvelope = EnvelopeOf(PageOf(InventoryItem, "InventoryItemPage"), "InventoryItemPageEnvelope");

const list = {
  operationId: "listInventoryItems",
  summary: "List inventory items",
  description:
    "The items of the key's clinic, by name.\n\n" +
    "With `updated_since`, an addition to the published specification, the items that changed since, also in their quantity, " +
    "last changed first, with the headers `Link` and `Sync-Cursor` and without `page`. A copy of the inventory starts with " +
    "`updated_since=1970-01-01` and asks without other filters: an item that no longer fits them is not listed. " +
    "/api/v1/changes lists the deleted ones.",
  header: "x-api-key",
  permissions: ["clinic.inventory.view"],
  parameters: {
    ...pageParameters,
    category: text("Only this category: `MEDICATION`, `VACCINE`, `CONSUMABLE`, `SERVICE` or another, in upper case."),
    low_stock_only: yesOrNo("If true, only items below their `low_stock_threshold`."),
    updated_since: instant(
      "An addition to the published specification. Only items whose last change became visible at or after this time.",
    ),
    after: walkOf("items", "stock"),
  },
  headers: syncHeaders,
  example: { success: true, data: pageOf({ items: [exampleOf.item], total: 1 }, 1, 20) },
} satisfies Operation;

export function inventoryRoutes(app: FastifyInstance, { store, syncPoints }: RouteContext): void {
  app.get(
    "/api/v1/inventory",
    { schema: { response: { 200: ItemPageEnvelope } }, config: list },
    async (request, reply) => {
      const {
        page,
        page_size: pageSize,
        category,
        low_stock_only,
        updated_since,
        after: walk,
      } = readParameters(request, list.parameters);
      const clinicId = keyOf(request).clinic_id;
      const isChanges = updated_since !== null;
      if (walk !== null && (typeof walk.key[0] === "number") !== isChanges)
        throw invalid("after", "the position of another list", "the value in the Link header of a page of this list");
      if (isChanges) {
        if (page !== 1) throw invalid("page", String(page), "left out together with updated_since");
        const point = await syncPoints.find(clinicId, updated_since, versionsOf(request).answers);
        const filter = { clinicId, category, lowStockOnly: low_stock_only, pageSize };
        const found = await listChangedItems(store, {
          ...filter,
          updatedSince: point.from ?? updated_since,
          after: walk && { changedAt: Number(walk.key[0]), fp: walk.key[1] },
        });
        const last = found.last && ([found.last.changedAt, found.last.fp] as const);
        const place = { list: "stock", last, walk, page, point } as const;
        return { success: true, data: await syncedPage(syncPoints, request, reply, { found, pageSize, ...place }) };
      }
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
