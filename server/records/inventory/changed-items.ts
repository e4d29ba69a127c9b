import type { Kysely } from "kysely";
import type { InventoryItem } from "../../../shared/api/inventory.ts";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { type ChangePosition, cutPage, NEWEST } from "../changes/changed-page.ts";
import type { WalkedPage } from "../patients/patients.ts";
import { type ItemFilter, toItem } from "./stock.ts";

// The items of a clinic that changed, also in their stock, the last changed first.

export interface ChangedItemFilter extends Pick<ItemFilter, "clinicId" | "category" | "lowStockOnly" | "pageSize"> {
  /** Milliseconds since 1970, inclusive. */
  readonly updatedSince: number;
  /** The last item before the page; null for the first page. */
  readonly after: ChangePosition | null;
}

/** Lists one page. */
export async function listChangedItems(
  session: Session,
  { clinicId, category, lowStockOnly, updatedSince, pageSize, after }: ChangedItemFilter,
): Promise<WalkedPage<InventoryItem, ChangePosition>> {
  const byStock = lowStockOnly ? lists.low : lists.all;
  const { rows: list, count } = category === null ? byStock.everyCategory : byStock.oneCategory;
  const filter = { clinicId, category: category ?? "", updatedSince };
  const parameters = { ...filter, ...(after ?? NEWEST), limit: pageSize + 1 };
  const counted = await session.first(count, parameters);
  const { rows, last } = cutPage(await session.all(list, parameters), pageSize);
  return { items: rows.map(toItem), total: counted?.total ?? 0, last };
}

interface ListParameters extends ChangePosition {
  clinicId: number;
  category: string;
  updatedSince: number;
  limit: number;
}

export const lists = {
  all: { everyCategory: listQueries(false, false), oneCategory: listQueries(true, false) },
  low: { everyCategory: listQueries(false, true), oneCategory: listQueries(true, true) },
};

function listQueries(byCategory: boolean, lowOnly: boolean) {
  function matches(db: Kysely<Tables>, p: ListParameters) {
    return db
      .selectFrom("inventory_item")
      .where("clinic_id", "=", p.clinicId)
      .where("changed_at", ">=", p.updatedSince)
      .$if(byCategory, (rows) => rows.where("category", "=", p.category))
      .$if(lowOnly, (rows) => rows.whereRef("quantity_on_hand", "<", "low_stock_threshold"));
  }
  return {
    count: query((db, p: ListParameters) => matches(db, p).select(({ fn }) => fn.countAll<number>().as("total"))),
    rows: query((db, p: ListParameters) =>
      matches(db, p)
        .where((where) => where(where.refTuple("changed_at", "fp"), "<", where.tuple(p.changedAt, p.fp)))
        .selectAll()
        .orderBy("changed_at", "desc")
        .orderBy("fp", "desc")
        .limit(p.limit),
    ),
  };
}
