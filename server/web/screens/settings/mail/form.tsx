import { useState } from "preact/hooks";
import {
  MAIL_ENCRYPTIONS,
  type MailServerBody,
  type MailServerState,
} from "../../../../dashboard/types/settings/mail-server.ts";
import { call } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { formValues } from "../../../ui/form/form.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { t } from "./texts.ts";

interface Props {
  readonly state: MailServerState;
  readonly reload: () => Promise<void>;
  readonly remove: () => void;
}

/** Sets the mail server. The password is never read back. */
export function MailServerForm({ state: { setting, has_password }, reload, remove }: Props) {
  const { run, error, isRunning } = useAction();
  const [isSaved, setSaved] = useState(false);
  const submit = (event: SubmitEvent) => {
    const form = event.currentTarget as HTMLFormElement;
    const { host = "", port = "", encryption, user = "", password = "", from = "" } = formValues(event);
    const body: MailServerBody = {
      ...{ host: host.trim(), port: Number(port), encryption: encryption === "tls" ? "tls" : "starttls" },
      ...{ user: user.trim() || null, password: password || null, from: from.trim() },
      seen: setting,
    };
    setSaved(false);
    void run(async () => {
      await call("PUT", `${clinicPath()}/mail-server`, body);
      setSaved(true);
      (form.elements.namedItem("password") as HTMLInputElement).value = "";
      await reload();
    });
  };
  return (
    <form onSubmit={submit}>
      <Field label={t("host")} hint={t("hostHint")}>
        <input name="host" required maxLength={253} spellcheck={false} defaultValue={setting?.host ?? ""} />
      </Field>
      <Field label={t("encryption")} hint={t("encryptionHint")}>
        <select name="encryption">
          {MAIL_ENCRYPTIONS.map((one) => (
            <option key={one} value={one} selected={one === setting?.encryption}>
              {t(one)}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t("port")}>
        <input name="port" type="number" min={1} max={65_535} required defaultValue={String(setting?.port ?? 587)} />
      </Field>
      <Field label={t("user")} hint={t("userHint")}>
        <input name="user" maxLength={300} autocomplete="off" spellcheck={false} defaultValue={setting?.user ?? ""} />
      </Field>
      <Field label={t("password")} hint={t(has_password ? "passwordKept" : "passwordHint")}>
        <input name="password" type="password" maxLength={1000} autocomplete="new-password" />
      </Field>
      <Field label={t("from")} hint={t("fromHint")}>
        <input name="from" type="email" required maxLength={254} defaultValue={setting?.from ?? ""} />
      </Field>
      {error !== undefined && <Problem error={error} />}
      <p class="actions">
        <button type="submit" class="primary" disabled={isRunning}>
          {t("save")}
        </button>
        {setting !== null && (
          <button type="button" onClick={remove}>
            {t("remove")}
          </button>
        )}
        <span role="status">{isSaved && t("saved")}</span>
      </p>
    </form>
  );
}
