import { useLocation, useRoute } from "preact-iso";
import type { Delivery, ItemDetail, MovementList } from "../../../dashboard/types/stock.ts";
import { call } from "../../api.ts";
import { Empty, Loaded, Problem, useResource } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { Field } from "../../ui/form/field.tsx";
import { formValues } from "../../ui/form/form.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { Batches, Quantity } from "./batches.tsx";
import { Movements } from "./movements.tsx";
import { ItemState } from "./stock.tsx";
import { Take } from "./take.tsx";
import { categoryName, t } from "./texts.ts";

/** One item: its batches in the order of use, its deliveries and consumption, and its movements. Their page is in the address. */
export function StockItem() {
  const { fp = "" } = useRoute().params;
  const { query, route } = useLocation();
  const stock = useResource<ItemDetail>(`/stock/${fp}`);
  const movements = useResource<MovementList>(`/stock/${fp}/movements?page=${query["page"] ?? "1"}`);
  const reload = async () => {
    await Promise.all([stock.reload(), movements.reload()]);
  };
  return (
    <Loaded of={stock}>
      {({ item, batches, without_batch }) => (
        <>
          <h1>{item.name}</h1>
          <p class="actions">
            <span class="quiet">{categoryName(item.category)}</span>
            <ItemState item={item} />
          </p>
          {item.is_virtual ? (
            <p>{t("virtualText")}</p>
          ) : (
            <>
              <p>
                {t("onHand")}: <strong class="stock-on-hand">{`${item.quantity_on_hand} ${item.unit}`}</strong>{" "}
                <span class="quiet">
                  {t("threshold")} {item.low_stock_threshold}
                </span>
              </p>
              {may("staff") && (
                <div class="stock-moves">
                  <Take fp={fp} item={item} batches={batches} reload={reload} />
                  <StockIn fp={fp} unit={item.unit} reload={reload} />
                </div>
              )}
              <h2>{t("batches")}</h2>
              <p class="quiet">{t(item.category === "MEDICATION" || item.category === "VACCINE" ? "fefo" : "fifo")}</p>
              {batches.length === 0 && without_batch === 0 ? (
                <Empty title={t("noBatches")} />
              ) : (
                <Batches fp={fp} unit={item.unit} batches={batches} withoutBatch={without_batch} reload={reload} />
              )}
              <Movements
                fp={fp}
                of={movements}
                reload={reload}
                open={(page) => route(`/dashboard/stock/${fp}${page === 1 ? "" : `?page=${page}`}`)}
              />
            </>
          )}
        </>
      )}
    </Loaded>
  );
}

interface MoveProps {
  fp: string;
  unit: string;
  reload: () => Promise<void>;
}

function StockIn({ fp, unit, reload }: MoveProps) {
  const { run, error, isRunning } = useAction();
  const submit = (event: SubmitEvent) => {
    const form = event.currentTarget as HTMLFormElement;
    const { quantity, lot = "", expiry_date = "" } = formValues(event);
    const body: Delivery = {
      quantity: Number(quantity),
      lot: lot.trim() === "" ? null : lot,
      expiry_date: expiry_date === "" ? null : expiry_date,
    };
    void run(async () => {
      await call("POST", `${clinicPath()}/stock/${fp}/receive`, body);
      form.reset();
      await reload();
    });
  };
  return (
    <form class="card" onSubmit={submit}>
      <h2>{t("stockIn")}</h2>
      <Quantity unit={unit} />
      <Field label={t("stockInLot")}>
        <input name="lot" maxLength={100} autocomplete="off" />
      </Field>
      <Field label={t("stockInExpiry")}>
        <input name="expiry_date" type="date" />
      </Field>
      {error !== undefined && <Problem error={error} />}
      <button type="submit" disabled={isRunning}>
        {t("add")}
      </button>
    </form>
  );
}
