import { useState } from "preact/hooks";
import type { ControlledDevice, ScheduleBody } from "../../../../dashboard/types/quality.ts";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { DeviceChoice } from "./device-choice.tsx";
import { t } from "./texts.ts";

/** Asks how many days lie between controls of a device. It may be one that never had a control. */
export function SetSchedule({
  devices,
  device,
  close,
  reload,
}: {
  devices: readonly ControlledDevice[];
  device: ControlledDevice | undefined;
  close: () => void;
  reload: () => Promise<void>;
}) {
  const [id, setId] = useState(device?.device_id ?? "");
  const [days, setDays] = useState(daysOf(device));
  const save = async () => {
    const body: ScheduleBody = { device_id: id, every_days: days === "" ? null : Number(days) };
    await call("PUT", `${clinicPath()}/quality/schedule`, body);
    await reload();
  };
  return (
    <FormDialog title={t("scheduleTitle")} close={close} act={save} button={t("scheduleButton")} isReady={id !== ""}>
      <p class="quiet">
        {t("scheduleWhy")} {t("marksStay")}
      </p>
      <DeviceChoice
        devices={devices}
        chosen={id}
        choose={(next) => {
          setId(next);
          setDays(daysOf(devices.find(({ device_id }) => device_id === next)));
        }}
        other={t("choose")}
      />
      <Field label={t("everyDays")} hint={t("everyHint")}>
        <input
          type="number"
          min={1}
          max={366}
          step={1}
          value={days}
          onInput={({ currentTarget }) => setDays(currentTarget.value)}
        />
      </Field>
    </FormDialog>
  );
}

function daysOf(device: ControlledDevice | undefined): string {
  return device?.schedule == null ? "" : String(device.schedule.every_days);
}
