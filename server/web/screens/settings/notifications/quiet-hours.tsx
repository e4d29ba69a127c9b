import type { QuietHoursBody, QuietHoursShown } from "../../../../dashboard/types/settings/notifications.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { clinic, clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { formValues } from "../../../ui/form/form.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { t } from "./texts.ts";

/** The hours in which the clinic wants no messages. */
export function QuietHoursForm({ quiet }: { quiet: QuietHoursShown | null }) {
  // The hours as the form shows them: the server refuses to replace others.
  const [seen, setSeen] = useState(quiet);
  const { run, error, isRunning } = useAction();
  const [isOn, setOn] = useState(quiet !== null);
  const [isSaved, setSaved] = useState(false);
  const submit = (event: SubmitEvent) => {
    const { from = "", until = "", exempt } = formValues(event);
    const body: QuietHoursBody = { quiet: isOn ? { from, until, exempt_critical: exempt !== undefined } : null, seen };
    setSaved(false);
    void run(async () => {
      await call("PUT", `${clinicPath()}/notifications/quiet-hours`, body);
      setSeen(body.quiet);
      setSaved(true);
    });
  };
  return (
    <form class="quiet-hours" onSubmit={submit}>
      <p class="quiet">{t("quietWhy", { zone: clinic.value?.time_zone ?? "UTC" })}</p>
      <p>
        <label>
          <input type="checkbox" checked={isOn} onChange={() => setOn(!isOn)} /> {t("quietOn")}
        </label>
      </p>
      {isOn && (
        <>
          <div class="quiet-times">
            <Field label={t("from")}>
              <input name="from" type="time" required defaultValue={seen?.from ?? "20:00"} />
            </Field>
            <Field label={t("until")}>
              <input name="until" type="time" required defaultValue={seen?.until ?? "07:00"} />
            </Field>
          </div>
          <p>
            <label>
              <input type="checkbox" name="exempt" defaultChecked={seen?.exempt_critical ?? true} /> {t("exempt")}
            </label>
          </p>
        </>
      )}
      {error !== undefined && <Problem error={error} />}
      <p class="actions">
        <button type="submit" class="primary" disabled={isRunning}>
          {t("save")}
        </button>
        <span role="status">{isSaved && t("saved")}</span>
      </p>
    </form>
  );
}
