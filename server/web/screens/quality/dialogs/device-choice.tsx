import type { ControlledDevice } from "../../../../dashboard/types/quality.ts";
import type { DevicesBody } from "../../../../dashboard/types/devices/devices.ts";
import { useResource } from "../../../resource.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { deviceTitle } from "../words/words.ts";
import { t } from "./texts.ts";

/** Chooses a device: one with controls or another one of the clinic's PCs, then `other` if it is given. */
export function DeviceChoice({
  devices,
  chosen,
  choose,
  other,
}: {
  devices: readonly ControlledDevice[];
  chosen: string;
  choose: (id: string) => void;
  /** The words of the choice that names no device; its value is empty. */
  other: string;
}) {
  const connected = useResource<DevicesBody>("/devices").data?.agents.flatMap((agent) => agent.devices) ?? [];
  const names = new Map(connected.map(({ id, name }) => [id, name ?? id]));
  for (const { device_id, name } of devices) names.set(device_id, name);
  return (
    <Field label={t("device")}>
      <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {[...names].map(([id, name]) => (
          <option key={id} value={id}>
            {deviceTitle({ device_id: id, name })}
          </option>
        ))}
        <option value="">{other}</option>
      </select>
    </Field>
  );
}
