import type { PasswordBody } from "../../../dashboard/types/settings/account.ts";
import { PASSWORD_CHARS_MIN } from "../../../dashboard/types/settings/session.ts";
import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { Field } from "../../ui/form/field.tsx";
import { formValues } from "../../ui/form/form.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { t } from "./texts.ts";

export function PasswordForm({ name, changed }: { name: string; changed: () => Promise<void> }) {
  const { run, error, isRunning } = useAction();
  const [state, setState] = useState<"differs" | "done" | null>(null);
  const submit = (event: SubmitEvent) => {
    const form = event.currentTarget as HTMLFormElement;
    const { old_password = "", new_password = "", again } = formValues(event);
    if (new_password !== again) return setState("differs");
    setState(null);
    void run(async () => {
      await call("POST", "/account/password", { old_password, new_password } satisfies PasswordBody);
      form.reset();
      setState("done");
      await changed();
    });
  };
  return (
    <form class="card" onSubmit={submit}>
      <h2>{t("password")}</h2>
      {/* Password managers store the new password under this name. */}
      <input type="text" autocomplete="username" value={name} readOnly hidden />
      <Field label={t("oldPassword")}>
        <input name="old_password" type="password" autocomplete="current-password" required />
      </Field>
      <Field label={t("newPassword")} hint={t("passwordHint", { count: PASSWORD_CHARS_MIN })}>
        <input
          name="new_password"
          type="password"
          autocomplete="new-password"
          minLength={PASSWORD_CHARS_MIN}
          required
        />
      </Field>
      <Field label={t("again")} fault={state === "differs" ? t("differs") : null}>
        <input name="again" type="password" autocomplete="new-password" required />
      </Field>
      {error !== undefined && <Problem error={error} />}
      <p class="actions">
        <button type="submit" disabled={isRunning}>
          {t("changePassword")}
        </button>
        <span role="status">{state === "done" && t("passwordChanged")}</span>
      </p>
    </form>
  );
}
