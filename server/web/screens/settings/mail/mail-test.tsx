import { useState } from "preact/hooks";
import type { MailResult } from "../../../../dashboard/types/results/sharing.ts";
import { mailText } from "../../../../dashboard/types/settings/mail-server.ts";
import { call } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { language } from "../../../text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { formValues } from "../../../ui/form/form.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { t } from "./texts.ts";

/** Sends a test, and shows what the mail server replied. */
export function MailTest() {
  const { run, error, isRunning } = useAction();
  const [outcome, setOutcome] = useState<MailResult | null>(null);
  const submit = (event: SubmitEvent) => {
    const { to = "" } = formValues(event);
    setOutcome(null);
    void run(async () => setOutcome(await call<MailResult>("POST", `${clinicPath()}/mail-server/test`, { to })));
  };
  return (
    <form onSubmit={submit}>
      <h2>{t("test")}</h2>
      <Field label={t("to")}>
        <input name="to" type="email" required maxLength={254} />
      </Field>
      <p class="actions">
        <button type="submit" disabled={isRunning}>
          {t("test")}
        </button>
      </p>
      <p role="status" class={outcome?.ok === false ? "fault" : undefined}>
        {outcome !== null && `${t(outcome.ok ? "worked" : "failed")} ${mailText(outcome.reason, language.value)}`}
      </p>
      {error !== undefined && <Problem error={error} />}
    </form>
  );
}
