import type { ControlledDevice, ScheduleBody } from "../../../../dashboard/types/quality.ts";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { deviceTitle } from "../words/words.ts";
import { t } from "./texts.ts";

/** Asks how many days lie between controls of a device. */
export function SetSchedule({
  device,
  close,
  reload,
}: {
  device: Pick<ControlledDevice, "device_id" | "name" | "schedule">;
  close: () => void;
  reload: () => Promise<void>;
}) {
  const save = async ({ days = "" }: Record<string, string>) => {
    const body: ScheduleBody = { device_id: device.device_id, every_days: days === "" ? null : Number(days) };
    await call("PUT", `${clinicPath()}/quality/schedule`, body);
    await reload();
  };
  return (
    <FormDialog
      title={t("scheduleTitle", { device: deviceTitle(device) })}
      close={close}
      act={save}
      button={t("scheduleButton")}
    >
      <p class="quiet">{t("scheduleWhy")}</p>
      <Field label={t("everyDays")} hint={t("everyHint")}>
        <input
          type="number"
          name="days"
          min={1}
          max={366}
          step={1}
          defaultValue={device.schedule === null ? "" : String(device.schedule.every_days)}
        />
      </Field>
    </FormDialog>
  );
}
