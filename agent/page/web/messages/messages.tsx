import { useLocation } from "preact-iso";
import type { LocalMessageRow, LocalMessages } from "../../types/messages.ts";
import { Empty, Loaded, useLocal } from "../../../../server/web/resource.tsx";
import { dateTime } from "../../../../server/web/text.ts";
import { DataTable } from "../../../../server/web/ui/list/data-table.tsx";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import "../../../../server/web/ui/list/list-bar.css";
import { State } from "../../../../server/web/ui/status/status-card.tsx";
import { messageStates, stateTone, stateWord, t } from "./texts.ts";
import "./messages.css";
import { ReasonText } from "./reason.tsx";

/** Every message that a device sent, the newest first. The page's address holds the filters. */
export function Messages() {
  const { query, route } = useLocation();
  const { state = "", device = "", before = "" } = query;
  const list = useLocal<LocalMessages>(`/messages${queryText({ state, device, before })}`);
  const show = (wanted: Record<string, string>) => route(`/messages${queryText(wanted)}`);
  return (
    <>
      <h1>{t("messages")}</h1>
      <p class="actions states" role="group" aria-label={t("state")}>
        {["", ...messageStates()].map((one) => (
          <button
            key={one}
            type="button"
            class="chip"
            aria-pressed={state === one}
            onClick={() => show({ state: one, device })}
          >
            {one === "" ? t("all") : stateWord(one)}
          </button>
        ))}
      </p>
      <div class="list-bar">
        <Field label={t("device")}>
          <select value={device} onChange={({ currentTarget }) => show({ state, device: currentTarget.value })}>
            <option value="">{t("anyDevice")}</option>
            {(list.data?.devices ?? [device].filter(Boolean)).map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </Field>
      </div>
      <Loaded of={list}>
        {({ messages, next }) => (
          <>
            {messages.length > 0 ? (
              <MessageTable messages={messages} />
            ) : state === "" && device === "" ? (
              <Empty title={t("none")}>{t("noneNext")}</Empty>
            ) : (
              <Empty title={t("noMatch")}>{t("noMatchNext")}</Empty>
            )}
            <p class="actions">
              {before !== "" && <a href={`/messages${queryText({ state, device })}`}>{t("newest")}</a>}
              {next !== null && (
                <a href={`/messages${queryText({ state, device, before: String(next) })}`}>{t("older")}</a>
              )}
            </p>
          </>
        )}
      </Loaded>
    </>
  );
}

function queryText(wanted: Record<string, string>): string {
  const text = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value !== "")).toString();
  return text === "" ? "" : `?${text}`;
}

function MessageTable({ messages }: { messages: readonly LocalMessageRow[] }) {
  return (
    <DataTable
      label={t("messages")}
      class="cards"
      columns={[t("received"), t("device"), t("state"), [t("sample"), "labelled"], t("reason")]}
    >
      {messages.map(({ id, device, received_at, state, sample_ids = [], ...why }) => (
        <tr key={id}>
          <th scope="row">
            <a href={`/messages/${encodeURIComponent(id)}`}>{dateTime(received_at)}</a>
          </th>
          <td>{device}</td>
          <td>
            <State tone={stateTone(state)}>{stateWord(state)}</State>
          </td>
          <td class="message-text">{sample_ids.join(", ")}</td>
          <td class="message-text">
            <ReasonText of={why} />
          </td>
        </tr>
      ))}
    </DataTable>
  );
}
