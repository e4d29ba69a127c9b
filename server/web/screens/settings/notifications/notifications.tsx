import {
  type ChannelShown,
  deliveryText,
  type NotificationState,
  type TestOutcome,
} from "../../../../dashboard/types/settings/notifications.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { Empty, Loaded, Problem, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { ago, language } from "../../../text.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { SettingsFrame } from "../frame.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { NewChannelDialog } from "./new-channel.tsx";
import { QuietHoursForm } from "./quiet-hours.tsx";
import { t } from "./texts.ts";
import "./notifications.css";

/** Settings, Notifications: who is notified of alerts, and when. */
export function NotificationSettings() {
  return (
    <SettingsFrame part="notifications">
      <Notifications />
    </SettingsFrame>
  );
}

function Notifications() {
  const state = useResource<NotificationState>("/notifications");
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <p class="quiet">{t("intro")}</p>
      <Loaded of={state}>
        {({ channels, quiet, sends_mail }) => (
          <>
            {!sends_mail && (
              <p class="card" data-testid="no-mail">
                {t("noMail")}
              </p>
            )}
            <h2>{t("receivers")}</h2>
            {channels.length === 0 && <Empty title={t("nobody")}>{t("nobodyNext")}</Empty>}
            <ul class="channels">
              {channels.map((channel) => (
                <Channel key={channel.id} channel={channel} reload={state.reload} />
              ))}
            </ul>
            <p class="actions">
              <button type="button" class="primary" onClick={() => setAdding(true)}>
                {t("add")}
              </button>
            </p>
            <h2>{t("quiet")}</h2>
            <QuietHoursForm quiet={quiet} />
          </>
        )}
      </Loaded>
      {isAdding && (
        <NewChannelDialog
          close={() => {
            setAdding(false);
            void state.reload();
          }}
        />
      )}
    </>
  );
}

/** One receiver with its state, its test and its removal. */
function Channel({ channel, reload }: { channel: ChannelShown; reload: () => Promise<void> }) {
  const { id, type, target } = channel;
  const { run, retry, error, isRunning } = useAction();
  const [outcome, setOutcome] = useState<TestOutcome | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const test = async () => {
    setOutcome(null);
    setOutcome(await call<TestOutcome>("POST", `${clinicPath()}/notifications/channels/${id}/test`, {}));
    await reload();
  };
  const remove = async () => {
    await call("DELETE", `${clinicPath()}/notifications/channels/${id}`);
    await reload();
  };
  return (
    <li class="card">
      <p class="channel-head">
        <strong>{target}</strong> <span class="quiet">{t(type)}</span>
      </p>
      <ChannelHealth channel={channel} />
      <p class="actions">
        <button type="button" disabled={isRunning} aria-label={t("testOf", { target })} onClick={() => void run(test)}>
          {isRunning ? t("testing") : t("test")}
        </button>
        <button type="button" aria-label={t("removeOf", { target })} onClick={() => setRemoving(true)}>
          {t("remove")}
        </button>
      </p>
      <p role="status" class={outcome?.ok === false ? "fault" : undefined}>
        {outcome !== null &&
          `${outcome.ok ? t("testWorked") : t("testFailed")} ${deliveryText(outcome.why, language.value) ?? outcome.said}`}
      </p>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {isRemoving && (
        <FormDialog
          title={t("removeTitle")}
          button={t("remove")}
          isDangerous
          act={remove}
          close={() => setRemoving(false)}
        >
          <p>{t("removeWhat", { target })}</p>
        </FormDialog>
      )}
    </li>
  );
}

function ChannelHealth({ channel: { sent_at, fault, waiting } }: { channel: ChannelShown }) {
  return (
    <>
      <p class="quiet">
        {sent_at === null ? t("neverSent") : t("sent", { ago: ago(sent_at) })}
        {waiting > 0 && ` ${t("waiting", { count: waiting })}`}
      </p>
      {fault !== null && (
        <p class="fault">
          {t("fault", { ago: ago(fault.at) })} {(fault.why && deliveryText(fault.why, language.value)) ?? fault.reason}
        </p>
      )}
    </>
  );
}
