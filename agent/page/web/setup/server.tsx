import type { PlaceStep, ServerStep } from "../../types/setup.ts";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { formValues } from "../../../../server/web/ui/form/form.ts";
import type { Say } from "./say.ts";
import { ProblemNote } from "./problem-note.tsx";
import { t } from "./texts.ts";

/** Connects this PC to the clinic by a code of the dashboard, or by a key that an admin saved. */
export function Server({ step: { name }, say }: { step: ServerStep; say: Say }) {
  const pair = (event: SubmitEvent) => {
    const { url = "", code = "", name: typed = "" } = formValues(event);
    void say({ to: "server", url, code, name: typed });
  };
  const useKey = (event: SubmitEvent) => {
    const { url = "", keyFile = "" } = formValues(event);
    void say({ to: "server", url, keyFile });
  };
  return (
    <>
      <p>{t("serverHow")}</p>
      <form onSubmit={pair}>
        <Field label={t("address")} hint={t("addressHint")}>
          <input name="url" type="url" placeholder="https://" autocomplete="url" required />
        </Field>
        <Field label={t("code")} hint={t("codeHint")}>
          <input name="code" autocomplete="off" autocapitalize="characters" spellcheck={false} required />
        </Field>
        <Field label={t("pcName")} hint={t("pcNameHint")}>
          <input name="name" defaultValue={name} maxLength={100} required />
        </Field>
        <button type="submit" class="primary">
          {t("connect")}
        </button>
      </form>
      <details>
        <summary>{t("haveKey")}</summary>
        <form onSubmit={useKey}>
          <Field label={t("address")}>
            <input name="url" type="url" placeholder="https://" autocomplete="url" required />
          </Field>
          <Field label={t("keyFile")} hint={t("keyFileHint")}>
            <input name="keyFile" defaultValue="agent.key" spellcheck={false} required />
          </Field>
          <button type="submit">{t("useKey")}</button>
        </form>
      </details>
    </>
  );
}

/** Prompts for the clinic's time zone and the data folder. */
export function Place({ step: { clinic, warnings, timeZone, data }, say }: { step: PlaceStep; say: Say }) {
  const submit = (event: SubmitEvent) => {
    const typed = formValues(event);
    void say({ to: "place", timeZone: typed["timeZone"] ?? "", data: typed["data"] ?? "" });
  };
  return (
    <form onSubmit={submit}>
      {clinic !== null && <p role="status">{t("connected", { clinic })}</p>}
      {warnings.map((warning) => (
        <ProblemNote key={warning} of={warning} />
      ))}
      <Field label={t("timeZone")} hint={t("timeZoneHint")}>
        <input name="timeZone" defaultValue={timeZone} list="zones" spellcheck={false} required />
      </Field>
      <datalist id="zones">
        {Intl.supportedValuesOf("timeZone").map((zone) => (
          <option key={zone}>{zone}</option>
        ))}
      </datalist>
      <Field label={t("data")} hint={t("dataHint")}>
        <input name="data" defaultValue={data} spellcheck={false} required />
      </Field>
      <button type="submit" class="primary">
        {t("goOn")}
      </button>
    </form>
  );
}
