import { signal } from "@preact/signals";
import { UNITS_COOKIE } from "../../dashboard/types/settings/session.ts";
import { translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";

// The units that the user chose in this browser. A cookie tells the server, also for the files that the user downloads.

const YEAR_S = 365 * 86_400;

/** A unit system or "sent"; empty for the units of the clinic. */
export const userUnits = signal(new RegExp(`(?:^|; )${UNITS_COOKIE}=(\\w+)`).exec(document.cookie)?.[1] ?? "");

function choose(units: string): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${UNITS_COOKIE}=${units}; Path=/; Max-Age=${units === "" ? 0 : YEAR_S}; SameSite=Strict${secure}`;
  userUnits.value = units;
}

export function UserUnits() {
  return (
    <Field label={t("units")}>
      <select value={userUnits.value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">{t("clinics")}</option>
        <option value="conventional">{t("conventional")}</option>
        <option value="si">{t("si")}</option>
        <option value="sent">{t("sent")}</option>
      </select>
    </Field>
  );
}

const t = translations({
  units: ["Units", "Birimler"],
  clinics: ["The clinic's", "Kliniğinki"],
  conventional: ["Conventional (mg/dL)", "Geleneksel (mg/dL)"],
  si: ["SI (mmol/L)", "SI (mmol/L)"],
  sent: ["As sent by the device", "Cihazın gönderdiği gibi"],
});
