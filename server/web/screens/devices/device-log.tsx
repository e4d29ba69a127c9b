import { useState } from "preact/hooks";
import {
  type DeviceEventShown,
  deviceEventKinds,
  type DeviceLogBody,
  type ReagentShown,
} from "../../../dashboard/types/devices/devices.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { dateTime } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { State } from "../../ui/status/status-card.tsx";
import { t } from "./log-texts.ts";

/** The log of a device. It is loaded when a person opens it. */
export function DeviceLog({ device }: { device: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="device-log" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("log")}</summary>
      {isOpen && <OpenLog device={device} />}
    </details>
  );
}

function OpenLog({ device }: { device: string }) {
  const [kind, setKind] = useState("");
  const filter = new URLSearchParams({ device, ...(kind !== "" && { event: kind }) });
  const log = useResource<DeviceLogBody>(`/devices/log?${filter.toString()}`);
  return (
    <>
      <Field label={t("kind")}>
        <select onChange={(event) => setKind(event.currentTarget.value)}>
          <option value="">{t("all")}</option>
          {deviceEventKinds.map((each) => (
            <option key={each} value={each}>
              {t(each)}
            </option>
          ))}
        </select>
      </Field>
      <Loaded of={log}>
        {({ reagents, events, has_older }) => (
          <>
            {reagents.length > 0 && (kind === "" || kind === "reagent") && <Reagents of={reagents} />}
            {events.length === 0 ? (
              <p class="quiet">{t(kind === "" ? "none" : "noneOfKind")}</p>
            ) : (
              <Events of={events} />
            )}
            {has_older && <p class="quiet">{t("older")}</p>}
          </>
        )}
      </Loaded>
    </>
  );
}

function Reagents({ of: reagents }: { of: readonly ReagentShown[] }) {
  return (
    <DataTable
      label={t("reagents")}
      class="cards"
      columns={[t("name"), [t("lot"), "labelled"], [t("expires"), "labelled"], [t("since"), "labelled"]]}
    >
      {reagents.map(({ name, lot, expires, since, state }) => (
        <tr key={name}>
          <th scope="row">{name ?? t("noName")}</th>
          <td>{lot}</td>
          <td>
            {expires} {state === "unknown" ? t("unknown") : <Ends state={state} />}
          </td>
          <td>{dateTime(since)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

function Ends({ state }: { state: Exclude<ReagentShown["state"], "unknown"> }) {
  if (state === "ok") return null;
  return <State tone={state === "soon" ? "plain" : "bad"}>{t(state)}</State>;
}

function Events({ of: events }: { of: readonly DeviceEventShown[] }) {
  return (
    <DataTable label={t("log")} class="cards" columns={[t("time"), t("what"), t("details")]}>
      {events.map((event) => (
        <tr key={event.id}>
          <td>{dateTime(event.at)}</td>
          <td>{t(event.event)}</td>
          <td>
            {event.subject !== null && <strong>{event.subject} </strong>}
            {factsOf(event).join(", ")}
            {event.text !== null && <span lang={event.by === null ? "en" : undefined}> {event.text}</span>}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function factsOf({ lot, expires, count, by }: DeviceEventShown): string[] {
  return [
    ...(lot === null ? [] : [t("lotOf", { lot })]),
    ...(expires === null ? [] : [t("until", { date: expires })]),
    ...(count === null ? [] : [t("left", { count })]),
    ...(by === null ? [] : [t("typedBy", { name: by })]),
  ];
}
