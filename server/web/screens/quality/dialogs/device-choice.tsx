import type { ControlledDevice } from "../../../../dashboard/types/quality.ts";
import type { DevicesBody } from "../../../../dashboard/types/devices/devices.ts";
import { useResource } from "../../../resource.tsx";
import { Field } from "../../../ui/form/field.tsx";
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
  /** The words of a choice that is no device yet; its value is empty. */
  other: string;
}) {
  const connected = useResource<DevicesBody>("/devices").data?.agents.flatMap((agent) => agent.devices) ?? [];
  const ids = [...devices.map(({ device_id }) => device_id), ...connected.map(({ id }) => id)];
  return (
    <Field label={t("device")}>
      <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {[...new Set(ids)].map((id) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
        <option value="">{other}</option>
      </select>
    </Field>
  );
}
