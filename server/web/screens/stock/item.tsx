import { useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import type { Consumed, Consumption, Delivery, ItemDetail, StockBatch } from "../../../dashboard/types/stock.ts";
import { call } from "../../api.ts";
import { Empty, Loaded, Problem, useResource } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { date } from "../../text.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Field } from "../../ui/form/field.tsx";
import { formValues } from "../../ui/form/form.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { plainDate } from "../../ui/words/words.ts";
import { ItemState } from "./stock.tsx";
import { categoryName, t } from "./texts.ts";

/** One item: its batches in the order of use, its deliveries and its consumption. */
export function StockItem() {
  const { fp = "" } = useRoute().params;
  const stock = useResource<ItemDetail>(`/stock/${fp}`);
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
                  <Use fp={fp} item={item} batches={batches} reload={stock.reload} />
                  <StockIn fp={fp} unit={item.unit} reload={stock.reload} />
                </div>
              )}
              <h2>{t("batches")}</h2>
              <p class="quiet">{t(item.category === "MEDICATION" || item.category === "VACCINE" ? "fefo" : "fifo")}</p>
              {batches.length === 0 && without_batch === 0 ? (
                <Empty title={t("noBatches")} />
              ) : (
                <Batches batches={batches} withoutBatch={without_batch} />
              )}
            </>
          )}
        </>
      )}
    </Loaded>
  );
}

function Batches({ batches, withoutBatch }: { batches: readonly StockBatch[]; withoutBatch: number }) {
  return (
    <DataTable
      label={t("batches")}
      class="cards"
      columns={[t("lot"), [t("expiry"), "labelled"], [t("received"), "labelled"], [t("quantity"), "number labelled"]]}
    >
      {batches.map(({ id, lot, expiry_date, received_at, quantity, is_expired }) => (
        <tr key={id}>
          <th scope="row">{lot ?? <span class="quiet">{t("noLot")}</span>}</th>
          <td>
            <Expiry day={expiry_date} isExpired={is_expired} />
          </td>
          <td>{date(received_at)}</td>
          <td class="number">{quantity}</td>
        </tr>
      ))}
      {withoutBatch > 0 && (
        <tr>
          <th scope="row" colSpan={3}>
            <span class="quiet">{t("withoutBatch")}</span>
          </th>
          <td class="number">{withoutBatch}</td>
        </tr>
      )}
    </DataTable>
  );
}

function Expiry({ day, isExpired }: { day: string | null; isExpired: boolean }) {
  if (day === null) return <span class="quiet">{t("never")}</span>;
  return (
    <>
      {plainDate(day)} {isExpired && <strong class="stock-expired">{t("expired")}</strong>}
    </>
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

interface UseProps {
  fp: string;
  item: ItemDetail["item"];
  batches: readonly StockBatch[];
  reload: () => Promise<void>;
}

function Use({ fp, item, batches, reload }: UseProps) {
  const { run, error, isRunning } = useAction();
  const [consumed, setConsumed] = useState<Consumed | null>(null);
  const submit = (event: SubmitEvent) => {
    const form = event.currentTarget as HTMLFormElement;
    const { quantity, batch = "" } = formValues(event);
    const body: Consumption = { quantity: Number(quantity), ...(batch === "" ? {} : { batch: Number(batch) }) };
    setConsumed(null);
    void run(async () => {
      setConsumed(await call<Consumed>("POST", `${clinicPath()}/stock/${fp}/consume`, body));
      form.reset();
      await reload();
    });
  };
  return (
    <form class="card" onSubmit={submit}>
      <h2>{t("use")}</h2>
      <Quantity unit={item.unit} />
      <Field label={t("from")}>
        <select name="batch">
          <option value="">{t("inOrder")}</option>
          {batches.map((batch) => (
            <option key={batch.id} value={batch.id}>
              {batchName(batch)}
            </option>
          ))}
        </select>
      </Field>
      {error !== undefined && <Problem error={error} />}
      <button type="submit" class="primary" disabled={isRunning || item.quantity_on_hand === 0}>
        {t("take")}
      </button>
      <div role="status">{consumed !== null && <Taken consumed={consumed} />}</div>
    </form>
  );
}

function batchName({ lot, expiry_date, is_expired }: StockBatch): string {
  const expiry = expiry_date === null ? null : t("partExpires", { day: plainDate(expiry_date) });
  return [lot ?? t("noLot"), expiry, is_expired ? t("expired") : null].filter((word) => word !== null).join(", ");
}

function Quantity({ unit }: { unit: string }) {
  return (
    <Field label={t("quantity")} hint={unit}>
      <input name="quantity" type="number" min={1} step={1} inputMode="numeric" required />
    </Field>
  );
}

/** Lists the batches from which a quantity was taken, so that the user takes the right boxes from the fridge. */
function Taken({ consumed: { taken, taken_without_batch } }: { consumed: Consumed }) {
  return (
    <>
      <p class="stock-taken">
        <strong>{t("taken")}</strong>
      </p>
      <ul class="stock-taken">
        {taken.map(({ id, lot, quantity, expiry_date, is_expired }) => (
          <li key={id}>
            {lot === null ? t("partWithoutLot", { quantity }) : t("part", { quantity, lot })}
            {expiry_date !== null && `, ${t("partExpires", { day: plainDate(expiry_date) })}`}{" "}
            {is_expired && <strong class="stock-expired">{t("expired")}</strong>}
          </li>
        ))}
        {taken_without_batch > 0 && <li>{t("partWithoutBatch", { quantity: taken_without_batch })}</li>}
      </ul>
    </>
  );
}
