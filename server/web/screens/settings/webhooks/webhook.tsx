import type {
  AttemptRow,
  DeliveryPage,
  DeliveryRow,
  WebhookRow,
  WebhookType,
} from "../../../../dashboard/types/settings/webhooks.ts";
import { webhookText } from "../../../../dashboard/types/webhook-reasons.ts";
import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { call } from "../../../api.ts";
import { Empty, Loaded, Problem, useResource } from "../../../resource.tsx";
import { useInterval } from "../../../use-interval.ts";
import { clinicPath } from "../../../session.ts";
import { dateTime, language } from "../../../text.ts";
import { Badge } from "../../../ui/status/badge.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { Pager } from "../../../ui/list/pager.tsx";
import { useAction } from "../../../ui/form/use-action.ts";
import { SettingsFrame } from "../frame.tsx";
import { ResendAll, WebhookCommands } from "./commands.tsx";
import { t } from "./texts.ts";
import { WebhookState } from "./webhooks.tsx";
import "./webhooks.css";

const PAGE_SIZE = 20;

/** Interval of reloads while a message is being sent, in milliseconds. */
const LOOK_AGAIN_MS = 1500;

/** One webhook with the log of its messages. */
export function WebhookScreen() {
  return (
    <SettingsFrame part="webhooks">
      <WebhookOfClinic />
    </SettingsFrame>
  );
}

function WebhookOfClinic() {
  const { id = "" } = useRoute().params;
  const [page, setPage] = useState(1);
  const log = useResource<DeliveryPage>(`/webhooks/${id}/deliveries?page=${page}&page_size=${PAGE_SIZE}`);
  const reload = () => void log.reload();
  const isMoving = log.data?.deliveries.some(isUnderWay) === true;
  useInterval(reload, LOOK_AGAIN_MS, isMoving, page);
  return (
    <>
      <p>
        <a href="/dashboard/settings/webhooks">{t("back")}</a>
      </p>
      <Loaded of={log}>
        {({ webhook, deliveries, total }) => (
          <>
            <p class="webhook-url">
              <code>{webhook.url}</code>
            </p>
            <p>
              <WebhookState of={webhook} />
            </p>
            <StateWords of={webhook} />
            <WebhookCommands of={webhook} reload={reload} />
            <h2>{t("log")}</h2>
            {deliveries.length > 0 && <ResendAll of={webhook} reload={reload} />}
            {deliveries.length === 0 ? (
              <Empty title={t("noMessages")}>{t("noMessagesNext")}</Empty>
            ) : (
              <Log of={webhook} deliveries={deliveries} reload={reload} />
            )}
            <Pager of={{ page, page_size: PAGE_SIZE, total, has_more: page * PAGE_SIZE < total }} open={setPage} />
          </>
        )}
      </Loaded>
    </>
  );
}

/** Whether the outcome of an attempt comes soon. */
function isUnderWay({ state, next_at }: DeliveryRow): boolean {
  if (state === "new" || state === "sending") return true;
  return state === "retrying" && next_at !== null && Date.parse(next_at) <= Date.now();
}

/** Why it is paused, since when it fails, and until when its old secret signs. */
function StateWords({ of: { paused, pause_code, paused_at, failing_since, old_secret_ends_at } }: { of: WebhookRow }) {
  return (
    <>
      {paused && pause_code === null && <p class="quiet">{t("pausedNext")}</p>}
      {pause_code !== null && paused_at !== null && (
        <p class="warning">{t(`paused ${pause_code}`, { time: dateTime(paused_at) })}</p>
      )}
      {!paused && failing_since !== null && <p class="warning">{t("failing", { time: dateTime(failing_since) })}</p>}
      {old_secret_ends_at !== null && <p class="quiet">{t("oldSecret", { time: dateTime(old_secret_ends_at) })}</p>}
    </>
  );
}

function Log({
  of: { id },
  deliveries,
  reload,
}: {
  of: WebhookRow;
  deliveries: readonly DeliveryRow[];
  reload: () => void;
}) {
  const { run, retry, error, isRunning } = useAction();
  const resend = async (delivery: DeliveryRow) => {
    await run(async () => call("POST", `${clinicPath()}/webhooks/${id}/resend`, { id: delivery.id }));
    reload();
  };
  return (
    <>
      {error !== undefined && <Problem error={error} retry={retry} />}
      <DataTable
        label={t("log")}
        class="cards"
        columns={[t("message"), t("record"), t("state"), t("attempts"), t("actions")]}
      >
        {deliveries.map((delivery) => (
          <tr key={delivery.id}>
            <th scope="row">
              {t(delivery.type)}
              <div class="quiet">{dateTime(delivery.changed_at)}</div>
            </th>
            <td>
              <RecordOf of={delivery} />
            </td>
            <td>
              <DeliveryState of={delivery} />
            </td>
            <td>
              <ol class="plain-list webhook-attempts">
                {delivery.attempts.map((attempt) => (
                  <li key={attempt.number}>
                    {t("attempt", {
                      number: attempt.number,
                      time: dateTime(attempt.started_at),
                      outcome: outcomeOf(attempt),
                    })}
                  </li>
                ))}
              </ol>
            </td>
            <td>
              {delivery.state !== "new" && delivery.state !== "sending" && (
                <button type="button" disabled={isRunning} onClick={() => void resend(delivery)}>
                  {t("resend")}
                </button>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
    </>
  );
}

function outcomeOf({ ended_at, status, reason, why }: AttemptRow): string {
  if (ended_at === null) return t("underWay");
  if (why !== null) return webhookText(why, language.value);
  return reason ?? t("answered", { status: status ?? 0 });
}

/** Where the pages of a type's records are; null for records without a page of their own. */
const FOLDERS: Readonly<Record<WebhookType, string | null>> = {
  "study.filed": "results",
  "study.revised": "results",
  "patient.changed": "patients",
  "soap.signed": "records",
  "soap.amended": "records",
  "appointment.changed": null,
  "stock.low": "stock",
  "order.placed": null,
  "order.changed": null,
};

function RecordOf({ of: { type, fp } }: { of: DeliveryRow }) {
  if (type === "webhook.test") return <>—</>;
  const folder = FOLDERS[type];
  const code = <code class="webhook-url">{fp}</code>;
  return folder === null ? code : <a href={`/dashboard/${folder}/${fp}`}>{code}</a>;
}

function DeliveryState({ of: { state, next_at } }: { of: DeliveryRow }) {
  const tone = state === "given-up" ? "warning" : state === "delivered" ? "done" : "active";
  return (
    <>
      <Badge tone={tone}>{t(state)}</Badge>
      {state === "retrying" && next_at !== null && <div class="quiet">{t("nextAt", { time: dateTime(next_at) })}</div>}
    </>
  );
}
