import type { TypedRow } from "../../../dashboard/types/results/manual-study.ts";
import { t } from "./texts.ts";
import type { Preview } from "./use-preview.ts";

/** Measurements in images: a free name, a number and a unit, without range and flag. */
export function ImageRows({
  rows,
  preview,
  change,
}: {
  rows: readonly TypedRow[];
  preview: Preview;
  change: (rows: TypedRow[]) => void;
}) {
  const set = (index: number, changed: Partial<TypedRow>) =>
    change(rows.map((row, other) => (other === index ? { ...row, ...changed } : row)));
  return (
    <>
      <p class="quiet">{t("imageHint")}</p>
      {rows.map((row, index) => {
        const fault = preview.of(row, index)?.fault ?? null;
        const faultId = `fault-${index}`;
        const described = (field: "analyte" | "value") =>
          fault?.field === field ? { "aria-invalid": true, "aria-describedby": faultId } : {};
        const number = index + 1;
        return (
          <fieldset key={index} class="image-row">
            <legend class="visually-hidden">{t("measurement", { number })}</legend>
            <label>
              {t("measurementName")}
              <input
                value={row.analyte}
                maxLength={64}
                onInput={({ currentTarget }) => set(index, { analyte: currentTarget.value })}
                {...described("analyte")}
              />
            </label>
            <label>
              {t("value")}
              <input
                class="typed-value"
                value={row.value}
                maxLength={64}
                onInput={({ currentTarget }) => set(index, { value: currentTarget.value })}
                {...described("value")}
              />
            </label>
            <label>
              {t("unit")}
              <input
                value={row.unit ?? ""}
                maxLength={32}
                onInput={({ currentTarget }) => set(index, { unit: currentTarget.value })}
              />
            </label>
            <button type="button" onClick={() => change(rows.filter((_, other) => other !== index))}>
              {t("remove", { number })}
            </button>
            {fault !== null && (
              <p class="fault" id={faultId} role="alert">
                {t(fault.kind)}
              </p>
            )}
          </fieldset>
        );
      })}
      <button type="button" onClick={() => change([...rows, { analyte: "", value: "", unit: "" }])}>
        {t("addMeasurement")}
      </button>
    </>
  );
}
