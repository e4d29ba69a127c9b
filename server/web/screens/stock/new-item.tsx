import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { ITEM_CATEGORIES, type NewItemBody } from "../../../dashboard/types/stock.ts";
import { call } from "../../api.ts";
import { clinicPath } from "../../session.ts";
import { Field } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { categoryName, t } from "./texts.ts";

/** Adds an item with its first delivery, and opens it. */
export function NewItem({ close }: { close: () => void }) {
  const { route } = useLocation();
  const [category, setCategory] = useState<NewItemBody["category"]>("MEDICATION");
  const add = async ({
    name = "",
    unit = "",
    low = "",
    quantity = "",
    lot = "",
    expiry = "",
  }: Record<string, string>) => {
    const delivery = { quantity: Number(quantity), lot: lot || null, expiry_date: expiry || null };
    const body: NewItemBody = { name, category, unit, low_stock_threshold: Number(low), ...delivery };
    const { fp } = await call<{ fp: string }>("POST", `${clinicPath()}/stock`, body);
    route(`/dashboard/stock/${fp}`);
  };
  return (
    <FormDialog title={t("newItem")} close={close} act={add} button={t("addItem")}>
      <Field label={t("itemName")}>
        <input name="name" required maxLength={200} autocomplete="off" />
      </Field>
      <Field label={t("category")}>
        <select
          value={category}
          onChange={({ currentTarget }) => setCategory(currentTarget.value as NewItemBody["category"])}
        >
          {ITEM_CATEGORIES.map((each) => (
            <option key={each} value={each}>
              {categoryName(each)}
            </option>
          ))}
        </select>
      </Field>
      {category === "SERVICE" ? (
        <p class="quiet">{t("virtualText")}</p>
      ) : (
        <>
          <Field label={t("unit")} hint={t("unitHint")}>
            <input name="unit" required maxLength={64} autocomplete="off" />
          </Field>
          <Field label={t("quantityNow")}>
            <input name="quantity" type="number" min={0} step={1} inputMode="numeric" required defaultValue="0" />
          </Field>
          <Field label={t("stockInLot")}>
            <input name="lot" maxLength={100} autocomplete="off" />
          </Field>
          <Field label={t("stockInExpiry")}>
            <input name="expiry" type="date" />
          </Field>
          <Field label={t("threshold")} hint={t("thresholdHint")}>
            <input name="low" type="number" min={0} step={1} inputMode="numeric" required defaultValue="0" />
          </Field>
        </>
      )}
    </FormDialog>
  );
}
