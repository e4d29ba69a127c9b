import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import type { InventoryItem } from "../../../../shared/api/inventory.ts";
import type { ItemList } from "../../../dashboard/types/stock.ts";
import { Empty, Loaded, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Field } from "../../ui/form/field.tsx";
import { Pager } from "../../ui/list/pager.tsx";
import { CardWord } from "./batches.tsx";
import { NewItem } from "./new-item.tsx";
import { categoryName, t } from "./texts.ts";
import "../../ui/list/list-bar.css";
import "./stock.css";

const PAGE_SIZE = 100;

/** The items of the clinic. The filters are in the address. */
export function Stock() {
  const [isAdding, setAdding] = useState(false);
  const { query, route } = useLocation();
  const { category = "", low = "", page = "1" } = query;
  const search = (changes: Record<string, string>) => {
    const set = Object.entries({ category, low, ...changes }).filter(([, value]) => value !== "");
    return set.length === 0 ? "" : `?${new URLSearchParams(set)}`;
  };
  const list = useResource<ItemList>(`/stock${search({ page, page_size: String(PAGE_SIZE) })}`);
  const show = (changes: Record<string, string>) => route(`/dashboard/stock${search(changes)}`);
  const categories = list.data?.categories ?? (category === "" ? [] : [category]);
  return (
    <>
      <div class="between">
        <h1>{t("stock")}</h1>
        {may("staff") && (
          <p class="actions">
            <a class="button" href="/dashboard/patients/import">
              {t("importList")}
            </a>
            <button type="button" onClick={() => setAdding(true)}>
              {t("newItem")}
            </button>
          </p>
        )}
      </div>
      {isAdding && <NewItem close={() => setAdding(false)} />}
      <div class="list-bar">
        <Field label={t("category")}>
          <select value={category} onChange={({ currentTarget }) => show({ category: currentTarget.value })}>
            <option value="">{t("everyCategory")}</option>
            {categories.map((each) => (
              <option key={each} value={each}>
                {categoryName(each)}
              </option>
            ))}
          </select>
        </Field>
        <label class="check">
          <input
            type="checkbox"
            checked={low === "true"}
            onChange={({ currentTarget }) => show({ low: currentTarget.checked ? "true" : "" })}
          />
          {t("lowOnly")}
        </label>
      </div>
      <Loaded of={list}>
        {(data) =>
          data.items.length === 0 ? (
            <Empty title={t("none")}>{low === "true" ? t("noneLow") : t("noneNext")}</Empty>
          ) : (
            <>
              <ItemTable items={data.items} />
              <Pager of={data} open={(next) => show({ page: String(next) })} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function ItemTable({ items }: { items: readonly InventoryItem[] }) {
  return (
    <DataTable
      label={t("list")}
      class="cards"
      columns={[t("item"), t("category"), [t("onHand"), "number"], t("unit"), [t("threshold"), "number"], t("state")]}
    >
      {items.map((item) => (
        <tr key={item.fp}>
          <th scope="row">
            <a href={`/dashboard/stock/${item.fp}`}>{item.name}</a>
          </th>
          <td>{categoryName(item.category)}</td>
          <td class="number">{!item.is_virtual && <Shown as="onHand">{item.quantity_on_hand}</Shown>}</td>
          <td>{!item.is_virtual && <Shown as="unit">{item.unit}</Shown>}</td>
          <td class="number">{!item.is_virtual && <Shown as="threshold">{item.low_stock_threshold}</Shown>}</td>
          <td>
            <ItemState item={item} />
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function Shown({ as, children }: { as: "onHand" | "unit" | "threshold"; children: string | number }) {
  return (
    <>
      <CardWord>{t(as)}</CardWord>
      {children}
    </>
  );
}

/** Marks an item as low, or as an item without stock such as a fee. */
export function ItemState({ item }: { item: InventoryItem }) {
  if (item.is_virtual) return <Badge tone="done">{t("virtual")}</Badge>;
  return item.quantity_on_hand < item.low_stock_threshold ? <Badge tone="warning">{t("low")}</Badge> : null;
}
