import type { MadeChannel, NewChannelBody } from "../../../../dashboard/types/settings/notifications.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { Dialog } from "../../../ui/form-dialog/dialog.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { t } from "./texts.ts";

/** Adds an e-mail address or a webhook. The secret of a webhook is shown once. */
export function NewChannelDialog({ close }: { close: () => void }) {
  const [type, setType] = useState<NewChannelBody["type"]>("email");
  const [secret, setSecret] = useState<string | null>(null);
  const add = async ({ target = "" }: Record<string, string>) => {
    const body: NewChannelBody = { type, target };
    const made = await call<MadeChannel>("POST", `${clinicPath()}/notifications/channels`, body);
    if (made.secret === null) close();
    else setSecret(made.secret);
  };
  const choose = (event: Event) => setType((event.currentTarget as HTMLSelectElement).value as NewChannelBody["type"]);
  if (secret !== null) return <MadeSecret secret={secret} close={close} />;
  return (
    <FormDialog title={t("addTitle")} close={close} act={add} button={t("save")} staysOpen>
      <Field label={t("kind")}>
        <select value={type} onChange={choose}>
          <option value="email">{t("email")}</option>
          <option value="webhook">{t("webhook")}</option>
        </select>
      </Field>
      {type === "email" ? (
        <Field key="email" label={t("address")}>
          <input name="target" type="email" maxLength={250} autocomplete="off" required />
        </Field>
      ) : (
        <Field key="webhook" label={t("url")} hint={t("urlHint")}>
          <input name="target" type="url" maxLength={2000} autocomplete="off" required />
        </Field>
      )}
    </FormDialog>
  );
}

function MadeSecret({ secret, close }: { secret: string; close: () => void }) {
  const done = (
    <button type="button" class="primary" onClick={close}>
      {t("done")}
    </button>
  );
  return (
    <Dialog title={t("addTitle")} close={close} foot={done}>
      <p role="status">{t("secretOnce")}</p>
      <p class="channel-secret">
        <code>{secret}</code>
      </p>
    </Dialog>
  );
}
