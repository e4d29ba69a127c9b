import type {
  NewWebhook,
  WebhookList,
  WebhookRow,
  WebhookType,
} from "../../../../dashboard/types/settings/webhooks.ts";
import { webhookTypes } from "../../../../dashboard/types/settings/webhooks.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { Empty, Loaded, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { ago } from "../../../text.ts";
import { Badge } from "../../../ui/status/badge.tsx";
import { CheckList } from "../../../ui/form/check-list.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { SettingsFrame } from "../frame.tsx";
import { Secret } from "../keys/secret.tsx";
import { t } from "./texts.ts";
import "../keys/keys.css";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import "./webhooks.css";

export function Webhooks() {
  return (
    <SettingsFrame part="webhooks">
      <WebhooksOfClinic />
    </SettingsFrame>
  );
}

function WebhooksOfClinic() {
  const list = useResource<WebhookList>("/webhooks");
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    void list.reload();
  };
  return (
    <>
      <p class="quiet">
        {t("intro")} <a href="/dashboard/help/webhooks">{t("help")}</a>
      </p>
      <Loaded of={list}>
        {({ webhooks, private_allowed }) => (
          <>
            <p class="actions">
              <button type="button" class="primary" onClick={() => setOpen(true)}>
                {t("newWebhook")}
              </button>
            </p>
            {webhooks.length === 0 ? (
              <Empty title={t("none")}>{t("noneNext")}</Empty>
            ) : (
              <WebhookTable webhooks={webhooks} />
            )}
            {isOpen && <NewWebhookDialog isPrivateAllowed={private_allowed} close={close} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly WebhookRow[] }) {
  return (
    <DataTable
      label={t("webhooks")}
      class="cards"
      columns={[t("url"), t("types"), t("state"), [t("lastDelivered"), "labelled"]]}
    >
      {webhooks.map((webhook) => (
        <tr key={webhook.id}>
          <th scope="row" class="webhook-url">
            <a href={`/dashboard/settings/webhooks/${webhook.id}`}>{webhook.url}</a>
          </th>
          <td>
            <ul class="plain-list">
              {webhook.types.map((type) => (
                <li key={type}>{t(type)}</li>
              ))}
            </ul>
          </td>
          <td>
            <WebhookState of={webhook} />
          </td>
          <td>{webhook.delivered_at === null ? t("never") : ago(webhook.delivered_at)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

export function WebhookState({ of: { paused, waiting, given_up } }: { of: WebhookRow }) {
  return (
    <>
      <Badge tone={paused ? "warning" : "active"}>{t(paused ? "paused" : "active")}</Badge>
      {waiting > 0 && <div class="quiet">{t("waiting", { count: waiting })}</div>}
      {given_up > 0 && <div>{t("givenUp", { count: given_up })}</div>}
    </>
  );
}

function NewWebhookDialog({ isPrivateAllowed, close }: { isPrivateAllowed: boolean; close: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const [chosen, setChosen] = useState<readonly WebhookType[]>(webhookTypes);
  const create = async ({ url = "" }: Record<string, string>) => {
    const made = await call<NewWebhook>("POST", `${clinicPath()}/webhooks`, { url, types: [...chosen] });
    setSecret(made.secret);
  };
  if (secret !== null) {
    return <Secret title={t("made")} of={secret} label={t("theSecret")} note={t("copyNow")} close={close} />;
  }
  return (
    <FormDialog
      title={t("newWebhook")}
      close={close}
      act={create}
      button={t("create")}
      isReady={chosen.length > 0}
      staysOpen
    >
      <Field label={t("url")} hint={isPrivateAllowed ? t("urlPrivateHint") : t("urlHint")}>
        <input name="url" type="url" maxLength={2000} autocomplete="off" required />
      </Field>
      <CheckList
        legend={t("types")}
        values={webhookTypes.map((type) => ({ value: type, name: t(type), words: t(`${type} words`) }))}
        chosen={chosen}
        choose={setChosen}
      />
    </FormDialog>
  );
}
