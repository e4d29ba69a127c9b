import { useState } from "preact/hooks";
import type { ControlledDevice } from "../../../../dashboard/types/quality.ts";
import { clinicPath } from "../../../session.ts";
import { language, locale } from "../../../text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { CloseButton, Dialog } from "../../../ui/form-dialog/dialog.tsx";
import { dayOf } from "../../../ui/words/words.ts";
import { deviceTitle } from "../words/words.ts";
import { t } from "./texts.ts";

/** Months that the list offers, this one first. */
const MONTHS = 24;

/** Chooses a device and a month, and downloads its report. */
export function MonthlyReport({
  devices,
  device,
  close,
}: {
  devices: readonly ControlledDevice[];
  device: ControlledDevice | undefined;
  close: () => void;
}) {
  const [months] = useState(lastMonths);
  const [month, setMonth] = useState(months[0] ?? "");
  const [id, setId] = useState(device?.device_id ?? "");
  const query = new URLSearchParams({ device: id, month, language: language.value });
  const foot = (
    <>
      <CloseButton />
      <a class="button primary" href={`/clinic/v1${clinicPath()}/quality/report.pdf?${query}`} download>
        {t("download")}
      </a>
    </>
  );
  return (
    <Dialog title={t("monthTitle")} close={close} foot={foot}>
      <p class="quiet">{t("monthWhy")}</p>
      <Field label={t("device")}>
        <select value={id} onChange={({ currentTarget }) => setId(currentTarget.value)}>
          {devices.map((each) => (
            <option key={each.device_id} value={each.device_id}>
              {deviceTitle(each)}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t("month")}>
        <select value={month} onChange={({ currentTarget }) => setMonth(currentTarget.value)}>
          {months.map((each) => (
            <option key={each} value={each}>
              {monthText(each)}
            </option>
          ))}
        </select>
      </Field>
    </Dialog>
  );
}

/** This month and those before it, such as `2026-11`. */
function lastMonths(): string[] {
  const [year = 0, month = 1] = dayOf(new Date().toISOString()).split("-").map(Number);
  return Array.from({ length: MONTHS }, (_, back) =>
    new Date(Date.UTC(year, month - 1 - back, 1)).toISOString().slice(0, 7),
  );
}

function monthText(month: string): string {
  const format = new Intl.DateTimeFormat(locale(), { month: "long", year: "numeric", timeZone: "UTC" });
  return format.format(new Date(`${month}-01`));
}
