import type { DeviceStep } from "../../types/setup.ts";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { formValues } from "../../../../server/web/ui/form/form.ts";
import type { Say } from "./say.ts";
import { Studies } from "./studies.tsx";
import { deviceName } from "./device-name.ts";
import { t } from "./texts.ts";

/** Prompts for the device's name and allowed senders, next to the study as it would be filed. */
export function NameDevice({ step, say }: { step: DeviceStep; say: Say }) {
  const { profile, setting, id, allow, callers, studies } = step;
  const submit = (event: SubmitEvent) => {
    const typed = formValues(event);
    const networks = (typed["allow"] ?? "").split(/[\s,]+/).filter((network) => network !== "");
    void say({ to: "device", id: typed["id"] ?? "", allow: networks });
  };
  return (
    <>
      <p>
        {deviceName(profile)}
        {setting !== null && `, ${setting}`}
      </p>
      {studies.length > 0 ? (
        <>
          <h3>{t("wouldBeFiled")}</h3>
          <Studies studies={studies} />
        </>
      ) : (
        <p class="quiet">{t(step.line.kind === "folder" ? "filesRead" : "shownLater")}</p>
      )}
      <form onSubmit={submit}>
        <Field label={t("deviceName")} hint={t("deviceNameHint")}>
          <input name="id" defaultValue={id} spellcheck={false} maxLength={63} required />
        </Field>
        {callers && (
          <Field label={t("allow")} hint={t("allowHint")}>
            <input name="allow" defaultValue={allow.join(", ")} spellcheck={false} required />
          </Field>
        )}
        <button type="submit" class="primary">
          {t("save")}
        </button>
      </form>
    </>
  );
}
