import { useState } from "preact/hooks";
import type { StockBatch, StockCount } from "../../../dashboard/types/stock.ts";
import { call } from "../../api.ts";
import { clinicPath, may } from "../../session.ts";
import { date } from "../../text.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Field } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { plainDate } from "../../ui/words/words.ts";
import { t } from "./texts.ts";

/** The stock that a count is of: a batch, or null for the stock without one. */
type Countable = Pick<StockCount, "batch" | "quantity"> & { name: string };

interface BatchesProps {
  fp: string;
  unit: string;
  batches: readonly StockBatch[];
  withoutBatch: number;
  reload: () => Promise<void>;
}

/** The batches in the order of use. A person who counts one corrects its quantity. */
export function Batches({ fp, unit, batches, withoutBatch, reload }: BatchesProps) {
  const [counted, count] = useState<Countable | null>(null);
  const columns = [
    t("lot"),
    [t("expiry"), "labelled"],
    [t("received"), "labelled"],
    [t("quantity"), "number labelled"],
  ] as const;
  return (
    <>
      <DataTable label={t("batches")} class="cards" columns={[...columns, may("staff") && t("action")]}>
        {batches.map((batch) => (
          <tr key={batch.id}>
            <th scope="row">{batch.lot ?? <span class="quiet">{t("noLot")}</span>}</th>
            <td>
              <Expiry day={batch.expiry_date} isExpired={batch.is_expired} />
            </td>
            <td>{date(batch.received_at)}</td>
            <td class="number">{batch.quantity}</td>
            <CountCell of={{ batch: batch.id, quantity: batch.quantity, name: batchName(batch) }} count={count} />
          </tr>
        ))}
        {withoutBatch > 0 && (
          <tr>
            <th scope="row" colSpan={3}>
              <span class="quiet">{t("withoutBatch")}</span>
            </th>
            <td class="number">{withoutBatch}</td>
            <CountCell of={{ batch: null, quantity: withoutBatch, name: t("withoutBatch") }} count={count} />
          </tr>
        )}
      </DataTable>
      {counted !== null && <Count fp={fp} unit={unit} of={counted} close={() => count(null)} reload={reload} />}
    </>
  );
}

function CountCell({ of, count }: { of: Countable; count: (of: Countable) => void }) {
  if (!may("staff")) return null;
  return (
    <td>
      <button type="button" onClick={() => count(of)}>
        {t("count")}
        <span class="visually-hidden"> {of.name}</span>
      </button>
    </td>
  );
}

interface CountProps {
  fp: string;
  unit: string;
  of: Countable;
  close: () => void;
  reload: () => Promise<void>;
}

function Count({ fp, unit, of: { batch, quantity, name }, close, reload }: CountProps) {
  const act = async (fields: Record<string, string>) => {
    const body: StockCount = { batch, quantity: Number(fields["counted"]) };
    await call("POST", `${clinicPath()}/stock/${fp}/count`, body);
    await reload();
  };
  return (
    <FormDialog title={t("countTitle", { batch: name })} close={close} act={act} button={t("saveCount")}>
      <p>{t("countText", { quantity })}</p>
      <Field label={t("countedNow")} hint={unit}>
        <input name="counted" type="number" min={0} step={1} inputMode="numeric" required />
      </Field>
    </FormDialog>
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

/** Names a batch by its lot and expiry date. */
export function batchName({ lot, expiry_date, is_expired }: StockBatch): string {
  const expiry = expiry_date === null ? null : t("partExpires", { day: plainDate(expiry_date) });
  return [lot ?? t("noLot"), expiry, is_expired ? t("expired") : null].filter((word) => word !== null).join(", ");
}

export function Quantity({ unit }: { unit: string }) {
  return (
    <Field label={t("quantity")} hint={unit}>
      <input name="quantity" type="number" min={1} step={1} inputMode="numeric" required />
    </Field>
  );
}
