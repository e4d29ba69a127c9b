import type { InventoryItem } from "../../../shared/api/inventory.ts";
import type { FileLine, LineFault, LineOutcome } from "../../dashboard/types/file-import.ts";
import type { Session } from "../../database/query.ts";
import { storeNewItem } from "../../records/inventory/new-item.ts";
import { changeItem, findItem, findStock, type ItemFacts } from "../../records/inventory/stock.ts";
import { record } from "../../records/registry/batches.ts";
import { stockItems } from "../../records/registry/stock-items.ts";
import { auditItem, type SyncRequest } from "../../records/registry/sync/request.ts";
import type { FileStock } from "./stock-rows.ts";

// Stores an item of a list of stock. A new one has its lots; of an item that exists the stock stays, since it has moved after the
// list was made.

type StockRequest = Pick<SyncRequest<unknown>, "clinicId" | "now" | "by"> &
  Required<Pick<SyncRequest<unknown>, "batch">>;

type StoredStock = Omit<FileLine, "line" | "name"> & { readonly outcome: LineOutcome };

/** Stores the item of a line. Run it in a transaction. @returns what became of the line */
export async function storeStock(session: Session, line: FileStock, request: StockRequest): Promise<StoredStock> {
  const found = await findItem(session, request.clinicId, line);
  if (found === undefined) return line.isFirst ? addLine(session, line, request) : outcomeOf("new");
  if (!line.isFirst) return outcomeOf((await isOfImport(session, found.fp, line, request)) ? "new" : "unchanged");
  const name = (code: string) => refused({ field: "item", code, value: line.name });
  if (line.sku !== null && found.sku !== null && found.sku !== line.sku) return name("name_taken");
  if (line.category !== null && (line.category === "SERVICE") !== found.is_virtual) return name("service_or_stock");
  return changeLine(session, found, line, request);
}

function outcomeOf(outcome: LineOutcome, changes: readonly string[] = []): StoredStock {
  return { outcome, changes, faults: [] };
}

function refused(fault: LineFault): StoredStock {
  return { outcome: "refused", changes: [], faults: [fault] };
}

async function addLine(session: Session, line: FileStock, request: StockRequest): Promise<StoredStock> {
  const { name, sku, category, unit, low_stock_threshold, deliveries } = line;
  if (category === null) return refused({ field: "category", code: "missing", value: "" });
  const item = { name, sku, category, unit: unit ?? "", low_stock_threshold: low_stock_threshold ?? 0 };
  const fp = await storeNewItem(session, request.clinicId, item, deliveries, {
    now: request.now,
    userId: request.by.userId ?? null,
  });
  const after = fp === null ? null : await stockItems.read(session, fp);
  if (fp === null || after === null) return refused({ field: "item", code: "name_taken", value: name });
  await record(session, request.batch, { kind: stockItems, subject: fp, before: null, after });
  await auditItem(session, "stock item add", fp, request);
  return outcomeOf("new");
}

/** Whether this import added the item, with the lot of the line. */
async function isOfImport(session: Session, fp: string, { delivery }: FileStock, { clinicId, now }: StockRequest) {
  const stock = await findStock(session, clinicId, fp);
  return (
    stock?.batches.some(
      ({ lot, expiry_date, received_at }) =>
        received_at === now && lot === delivery.lot && expiry_date === delivery.expiry_date,
    ) ?? false
  );
}

/** The words of the page for the fields of an item. */
const FIELDS = { name: "item", sku: "sku", category: "category", unit: "stock_unit", low_stock_threshold: "threshold" };

async function changeLine(
  session: Session,
  found: InventoryItem,
  line: FileStock,
  request: StockRequest,
): Promise<StoredStock> {
  const before: ItemFacts = {
    ...{ name: found.name, sku: found.sku, category: found.category, unit: found.unit },
    low_stock_threshold: found.low_stock_threshold,
  };
  const after: ItemFacts = {
    name: line.name,
    sku: line.sku ?? before.sku,
    category: line.category ?? before.category,
    unit: line.unit ?? before.unit,
    low_stock_threshold: line.low_stock_threshold ?? before.low_stock_threshold,
  };
  const names = Object.keys(FIELDS) as (keyof ItemFacts)[];
  const changed = names.filter((name) => before[name] !== after[name]);
  if (changed.length === 0) return outcomeOf("unchanged");
  if (changed.includes("name") && (await findItem(session, request.clinicId, { sku: null, name: line.name }))) {
    return refused({ field: "item", code: "name_taken", value: line.name });
  }
  await changeItem(session, found.fp, after, request.now);
  await record(session, request.batch, { kind: stockItems, subject: found.fp, before, after });
  await auditItem(session, "stock item change", found.fp, request);
  return outcomeOf(
    "changed",
    changed.map((name) => FIELDS[name]),
  );
}
