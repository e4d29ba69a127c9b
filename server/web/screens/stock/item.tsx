import { useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import type { Consumed, Consumption, Delivery, ItemDetail, StockBatch } from "../../../../shared/dashboard/stock.ts";
import { wallTime } from "../../../../shared/dashboard/wall-time.ts";
import { call } from "../../api.ts";
import { Empty, Loaded, Problem, useResource } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { date, timeZone } from "../../text.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Field } from "../../ui/field.tsx";
import { formValues } from "../../ui/form.ts";
import { useAction } from "../../ui/use-action.ts";
import { ItemState } from "./stock.tsx";
import { categoryName, dayName, t } from "./texts.ts";

/** One item: its batches in the order of use, deliveries and consumption. */
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
                  <Use fp={fp} unit={item.unit} onHand={item.quantity_on_hand} reload={stock.reload} />
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
    <DataTable label={t("batches")} columns={[t("lot"), t("expiry"), t("received"), [t("quantity"), "number"]]}>
      {batches.map(({ lot, expiry_date, received_at, quantity }) => (
        <tr key={`${received_at} ${lot} ${expiry_date}`}>
          <th scope="row">{lot ?? <span class="quiet">{t("noLot")}</span>}</th>
          <td>
            <Expiry day={expiry_date} />
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

function Expiry({ day }: { day: string | null }) {
  if (day === null) return <span class="quiet">{t("never")}</span>;
  return (
    <>
      {dayName(day)} {isExpired(day) && <strong class="stock-expired">{t("expired")}</strong>}
    </>
  );
}

function isExpired(day: string): boolean {
  return day < wallTime(Date.now(), timeZone.value).date;
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

function Use({ fp, unit, onHand, reload }: MoveProps & { onHand: number }) {
  const { run, error, isRunning } = useAction();
  const [consumed, setConsumed] = useState<Consumed | null>(null);
  const submit = (event: SubmitEvent) => {
    const form = event.currentTarget as HTMLFormElement;
    const body: Consumption = { quantity: Number(formValues(event)["quantity"]) };
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
      <Quantity unit={unit} />
      {error !== undefined && <Problem error={error} />}
      <button type="submit" class="primary" disabled={isRunning || onHand === 0}>
        {t("take")}
      </button>
      <div role="status">{consumed !== null && <Taken consumed={consumed} />}</div>
    </form>
  );
}

function Quantity({ unit }: { unit: string }) {
  return (
    <Field label={t("quantity")} hint={unit}>
      <input name="quantity" type="number" min={1} step={1} inputMode="numeric" required />
    </Field>
  );
}

/** Says from which batches a quantity was taken, so that the right boxes leave the fridge. */
function Taken({ consumed: { taken, taken_without_batch } }: { consumed: Consumed }) {
  return (
    <>
      <p class="stock-taken">
        <strong>{t("taken")}</strong>
      </p>
      <ul class="stock-taken">
        {taken.map(({ lot, quantity, expiry_date, received_at }) => (
          <li key={`${received_at} ${lot} ${expiry_date}`}>
            {lot === null ? t("partWithoutLot", { quantity }) : t("part", { quantity, lot })}
            {expiry_date !== null && `, ${t("partExpires", { day: dayName(expiry_date) })}`}{" "}
            {expiry_date !== null && isExpired(expiry_date) && <strong class="stock-expired">{t("expired")}</strong>}
          </li>
        ))}
        {taken_without_batch > 0 && <li>{t("partWithoutBatch", { quantity: taken_without_batch })}</li>}
      </ul>
    </>
  );
}
