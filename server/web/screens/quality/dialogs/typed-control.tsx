import { useRef, useState } from "preact/hooks";
import type { ControlledDevice, ShownSeries, TypedControl } from "../../../../dashboard/types/quality.ts";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { newId } from "../../../write-ids.ts";
import type { Names } from "../words/words.ts";
import { ControlFields, type ControlName, namesOf, textOrNull } from "./control-fields.tsx";
import { ControlRows, type TypedValue } from "./control-rows.tsx";
import { DeviceChoice } from "./device-choice.tsx";
import { t } from "./texts.ts";
import { instantText, nowText, TimeField } from "./when.tsx";

/** The choice in a list that opens fields of its own. */
const OTHER = "";
const NO_NAME: ControlName = { material: "", level: "", lot: "", expires: "" };

/** Types the values of a control: of one that has charts, or of a new one. */
export function TypeControl({
  devices,
  device: shown,
  names,
  close,
  reload,
}: {
  devices: readonly ControlledDevice[];
  device: ControlledDevice | undefined;
  names: Names;
  close: () => void;
  reload: () => Promise<void>;
}) {
  const [id, setId] = useState(shown?.device_id ?? OTHER);
  const [deviceName, setDeviceName] = useState("");
  const known = controlsOf(devices.find(({ device_id }) => device_id === id));
  const [key, setKey] = useState(known[0]?.key ?? OTHER);
  const [name, setName] = useState(NO_NAME);
  const [values, setValues] = useState<readonly TypedValue[]>([]);
  const { current: entryId } = useRef(newId());
  const [when, setWhen] = useState(nowText);
  const control = known.find((each) => each.key === key);
  const rows = rowsOf(control, known[0], values);
  const typed = rows.filter(({ text }) => text.trim() !== "");
  const at = instantText(when);
  const save = async ({ comment }: Record<string, string>) => {
    if (at === null) return;
    const body: TypedControl = {
      ...{ entry_id: entryId, device_id: id === OTHER ? deviceName.trim() : id, measured_at: at },
      ...namesOf(control ?? name),
      results: typed.map(({ analyte, text, unit }) => ({ analyte, text: text.trim(), unit })),
      comment: textOrNull(comment),
    };
    await call("POST", `${clinicPath()}/quality/controls`, body);
    await reload();
  };
  const isReady = at !== null && typed.length > 0;
  return (
    <FormDialog title={t("typeTitle")} close={close} act={save} button={t("typeButton")} isReady={isReady}>
      <DeviceChoice
        devices={devices}
        chosen={id}
        choose={(next) => {
          setId(next);
          setKey(controlsOf(devices.find(({ device_id }) => device_id === next))[0]?.key ?? OTHER);
          setValues([]);
        }}
        other={t("otherDevice")}
      />
      {id === OTHER && <DeviceName name={deviceName} rename={setDeviceName} />}
      <ControlChoice known={known} chosen={key} choose={setKey} />
      {control === undefined && <ControlFields of={name} change={setName} />}
      <TimeField label={t("measured")} text={when} change={setWhen} />
      <ControlRows
        rows={rows}
        names={names}
        change={(row) => setValues([...values.filter(({ analyte }) => analyte !== row.analyte), row])}
      />
      <Field label={t("comment")}>
        <input name="comment" maxLength={500} autocomplete="off" />
      </Field>
    </FormDialog>
  );
}

function DeviceName({ name, rename }: { name: string; rename: (name: string) => void }) {
  return (
    <Field label={t("deviceName")} hint={t("deviceNameHint")}>
      <input
        required
        maxLength={64}
        autocomplete="off"
        value={name}
        onInput={({ currentTarget }) => rename(currentTarget.value)}
      />
    </Field>
  );
}

/** Chooses one of the controls that the device has, or another one. */
function ControlChoice({
  known,
  chosen,
  choose,
}: {
  known: readonly KnownControl[];
  chosen: string;
  choose: (key: string) => void;
}) {
  if (known.length === 0) return null;
  return (
    <Field label={t("control")}>
      <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {known.map((each) => (
          <option key={each.key} value={each.key}>
            {[each.material, t("controlOf", each)].filter(Boolean).join(", ")}
          </option>
        ))}
        <option value={OTHER}>{t("otherControl")}</option>
      </select>
    </Field>
  );
}

interface KnownControl extends ControlName {
  readonly key: string;
  readonly series: readonly ShownSeries[];
}

/** The controls of a device by level and lot, the one that was run last first. */
function controlsOf(device: ControlledDevice | undefined): KnownControl[] {
  const lasts = (device?.series ?? []).toSorted((one, other) => (other.last_at ?? "").localeCompare(one.last_at ?? ""));
  return [...new Set(lasts.map(keyOf))].map((key) => {
    const series = lasts.filter((each) => keyOf(each) === key);
    return {
      ...{ key, series, level: series[0]?.level ?? "", lot: series[0]?.lot ?? "" },
      material: series.find(({ material }) => material !== null)?.material ?? "",
      expires: series.find(({ expires }) => expires !== null)?.expires ?? "",
    };
  });
}

function keyOf({ level, lot }: ShownSeries): string {
  return JSON.stringify([level, lot]);
}

/**
 * The values to type: those of the chosen control, or without targets those of the last one, since a new lot has the same analytes.
 * A text that was typed before another control was chosen stays; the unit and the target are those of the chosen one.
 */
function rowsOf(
  control: KnownControl | undefined,
  last: KnownControl | undefined,
  values: readonly TypedValue[],
): TypedValue[] {
  const typed = new Map(values.map((row) => [row.analyte, row]));
  const own = distinct((control ?? last)?.series.map(valueOf) ?? []);
  const known = new Map(own.map((row) => [row.analyte, row]));
  return distinct([...own, ...values]).map((row) => ({
    ...(known.get(row.analyte) ?? row),
    text: typed.get(row.analyte)?.text ?? "",
    target: control === undefined ? null : (known.get(row.analyte)?.target ?? null),
  }));
}

function valueOf({ analyte, unit, target }: ShownSeries): TypedValue {
  return { analyte, unit, units: [], target, text: "" };
}

/** Each analyte once: the typed value is the one that is shown. */
function distinct(rows: readonly TypedValue[]): TypedValue[] {
  return [...new Map(rows.map((row) => [row.analyte, row])).values()];
}
