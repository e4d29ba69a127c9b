import { fold } from "../../../shared/clinical/species.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { ClosedObject } from "../../../shared/schema/schema.ts";
import { ruleFaults, textProblems } from "../../../shared/schema/problems.ts";
import type { LineFault, Meaning } from "../../dashboard/types/file-import.ts";
import type { ITEM_CATEGORIES } from "../../dashboard/types/stock.ts";
import { type FirstDelivery, firstDeliveryFields, itemFields } from "../../records/inventory/new-item.ts";
import { cellOf, widthFaults } from "./cells.ts";
import type { CsvRecord } from "../../../shared/files/table/csv-records.ts";
import { readDay } from "./dates.ts";
import type { FileTable } from "./read-table.ts";

// Turns the lines of a list of stock into items with their first deliveries. Several lines of one item are its lots.

type Category = (typeof ITEM_CATEGORIES)[number];

/** An item as a line has it. Null for what its cell does not say. */
export interface FileStock {
  readonly name: string;
  readonly sku: string | null;
  readonly category: Category | null;
  readonly unit: string | null;
  readonly low_stock_threshold: number | null;
  /** The lots of all lines of the item; none for a line after the first one. */
  readonly deliveries: readonly FirstDelivery[];
  /** The lot of this line. */
  readonly delivery: FirstDelivery;
  readonly isFirst: boolean;
}

/** The lines of one item. */
interface Lots {
  readonly first: number;
  readonly facts: string;
  readonly deliveries: FirstDelivery[];
  /** The first line that says something else of the item. */
  other: number | null;
}

const VALUE_CHARS_MAX = 60;

/** An expiry date with two digits is of this many years at most after the present one. */
const YEARS_AHEAD = 50;

const checked = compileLater(ClosedObject({ ...itemFields, ...firstDeliveryFields }));

export class StockRowReader {
  readonly #table: FileTable;
  readonly #now: number;
  readonly #items = new Map<string, Lots>();

  constructor(table: FileTable, now: number) {
    this.#table = table;
    this.#now = now;
    let index = 0;
    for (const row of table.rows) {
      this.#note(row, index);
      index += 1;
    }
  }

  item(row: CsvRecord, index: number): { name: string; faults: LineFault[]; stock: FileStock | null } {
    const name = this.#cell(row, "item");
    const shown = name.slice(0, VALUE_CHARS_MAX);
    const faults = [...widthFaults(this.#table, row), ...this.#sharedFaults(row, index)];
    if (faults.length > 0) return { name: shown, faults, stock: null };
    const lots = this.#items.get(this.#keyOf(row));
    const category = this.#category(row, faults);
    const delivery = this.#delivery(row, faults);
    const threshold = this.#count(row, "threshold", faults);
    if (name === "") faults.push({ field: "item", code: "missing", value: "" });
    const stock = {
      ...{ name, sku: this.#cell(row, "sku") || null, category, unit: this.#cell(row, "stock_unit") || null },
      ...{ low_stock_threshold: threshold, delivery, isFirst: lots?.first === index },
    };
    if (faults.length === 0) faults.push(...this.#checkFaults(row, stock));
    if (faults.length > 0) return { name: shown, faults, stock: null };
    return { name: shown, faults, stock: { ...stock, deliveries: stock.isFirst ? (lots?.deliveries ?? []) : [] } };
  }

  #cell(row: CsvRecord, meaning: Meaning): string {
    return cellOf(this.#table, row, meaning);
  }

  /** An item is known by its stock keeping unit, else by its name. */
  #keyOf(row: CsvRecord): string {
    const sku = this.#cell(row, "sku");
    return sku === "" ? `name ${this.#cell(row, "item")}` : `sku ${sku}`;
  }

  #note(row: CsvRecord, index: number): void {
    const facts = FACTS.map((meaning) => this.#cell(row, meaning)).join("\n");
    const key = this.#keyOf(row);
    const lots = this.#items.get(key) ?? { first: index, facts, deliveries: [], other: null };
    this.#items.set(key, lots);
    const unread: LineFault[] = [];
    const delivery = this.#delivery(row, unread);
    if (unread.length > 0) return;
    const same = lots.deliveries.find(
      ({ lot, expiry_date }) => lot === delivery.lot && expiry_date === delivery.expiry_date,
    );
    if (lots.facts !== facts || (same !== undefined && same.quantity !== delivery.quantity)) lots.other ??= index;
    else if (same === undefined) lots.deliveries.push(delivery);
  }

  /** Refuses all lines of an item that contradict each other: each may be the right one. */
  #sharedFaults(row: CsvRecord, index: number): LineFault[] {
    const lots = this.#items.get(this.#keyOf(row));
    if (lots === undefined || lots.other === null) return [];
    const line = this.#table.rows.at(index === lots.first ? lots.other : lots.first)?.line;
    return [{ field: this.#cell(row, "sku") === "" ? "item" : "sku", code: "same_item", value: String(line) }];
  }

  #category(row: CsvRecord, faults: LineFault[]): Category | null {
    const words = this.#cell(row, "category");
    if (words === "") return null;
    const category = CATEGORIES.get(fold(words).trim());
    if (category === undefined) faults.push(this.#fault(row, "category", "unknown_category"));
    return category ?? null;
  }

  #delivery(row: CsvRecord, faults: LineFault[]): FirstDelivery {
    const thisYear = new Date(this.#now).getUTCFullYear();
    const expiry = readDay(this.#cell(row, "expiry"), this.#table.dateOrder, thisYear + YEARS_AHEAD);
    if ("code" in expiry) faults.push(this.#fault(row, "expiry", expiry.code));
    return {
      quantity: this.#count(row, "quantity", faults) ?? 0,
      lot: this.#cell(row, "lot") || null,
      expiry_date: "code" in expiry ? null : expiry.day,
    };
  }

  #count(row: CsvRecord, meaning: Meaning, faults: LineFault[]): number | null {
    const text = this.#cell(row, meaning);
    if (text === "") return null;
    if (COUNT.test(text)) return Number.parseInt(text, 10);
    faults.push(this.#fault(row, meaning, "not_a_count"));
    return null;
  }

  #checkFaults(
    row: CsvRecord,
    { delivery, isFirst: _isFirst, sku, ...stock }: Omit<FileStock, "deliveries">,
  ): LineFault[] {
    const { category, unit, low_stock_threshold } = stock;
    const item = {
      ...stock,
      category: category ?? "MEDICATION",
      unit: unit ?? "",
      low_stock_threshold: low_stock_threshold ?? 0,
    };
    const value = { ...item, ...delivery };
    const broken = ruleFaults(checked, value).map(({ path }) =>
      this.#fault(row, MEANING_OF[path] ?? "item", "too_long"),
    );
    if (sku !== null && sku.length > SKU_CHARS_MAX) broken.push(this.#fault(row, "sku", "too_long"));
    const isBad = textProblems({ ...value, sku }).length > 0;
    return isBad ? [...broken, { field: "item", code: "bad_text", value: "" }] : broken;
  }

  #fault(row: CsvRecord, field: Meaning, code: string): LineFault {
    return { field, code, value: this.#cell(row, field).slice(0, VALUE_CHARS_MAX) };
  }
}

const SKU_CHARS_MAX = 100;

/** The facts that the lines of one item have in common. */
const FACTS = ["item", "sku", "category", "stock_unit", "threshold"] as const;

const MEANING_OF: Readonly<Record<string, Meaning>> = {
  category: "category",
  unit: "stock_unit",
  low_stock_threshold: "threshold",
  quantity: "quantity",
  lot: "lot",
  expiry_date: "expiry",
};

/** A whole number, such as `12` or `12,0`. `1.000` has two meanings. */
const COUNT = /^\d{1,15}(?:[.,]0{1,2})?$/;

const CATEGORIES: ReadonlyMap<string, Category> = new Map(
  (
    [
      [
        "MEDICATION",
        "medication, medications, medicine, drug, drugs, pharmaceutical, ilaç, ilaçlar, medikament, medikamente, arzneimittel, medicament, medicaments, medicamento, medicamentos",
      ],
      ["VACCINE", "vaccine, vaccines, aşı, aşılar, impfstoff, impfstoffe, vaccin, vaccins, vacuna, vacunas"],
      [
        "CONSUMABLE",
        "consumable, consumables, supply, supplies, material, sarf, sarf malzeme, sarf malzemesi, malzeme, verbrauchsmaterial, consommable, consommables, consumible, consumibles",
      ],
      [
        "SERVICE",
        "service, services, procedure, hizmet, hizmetler, leistung, dienstleistung, prestation, servicio, servicios",
      ],
    ] as const
  ).flatMap(([category, words]) => words.split(", ").map((word) => [fold(word).trim(), category] as const)),
);
