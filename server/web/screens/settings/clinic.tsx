import { type ClinicSettings as Settings, NOT_RUN_HOURS } from "../../../dashboard/types/settings/clinic-settings.ts";
import type { Language } from "../../../../shared/api/language.ts";
import type { UnitChoice } from "../../../../shared/clinical/units/unit-choice.ts";
import type { ClinicOfUser, SessionState } from "../../../dashboard/types/settings/session.ts";
import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { Loaded, Problem, useResource } from "../../resource.tsx";
import { clinic, clinicPath, refreshSession } from "../../session.ts";
import { translations } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { changesOf, formValues } from "../../ui/form/form.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { Retention } from "./retention.tsx";
import { UnitsField } from "./units-field.tsx";
import { ViewerField } from "./viewer-field.tsx";
import { SettingsFrame } from "./frame.tsx";
import { Facts } from "../../ui/status/facts.tsx";
import "./clinic.css";

/** Settings, Clinic: language, time zone, and whether the clinic confirms connections of other clinics. */
export function ClinicSettings() {
  return (
    <SettingsFrame part="clinic">
      <SettingsOfClinic />
    </SettingsFrame>
  );
}

function SettingsOfClinic() {
  // Read when the screen opens: the page's own session may be hours old.
  const session = useResource<SessionState>("/session", "", false);
  return (
    <Loaded of={session}>
      {(data) => {
        const clinics = data.state === "signed in" ? data.clinics : [];
        const shown = clinics.find(({ fp }) => fp === clinic.value?.fp);
        return shown !== undefined && <SettingsForm of={shown} />;
      }}
    </Loaded>
  );
}

function SettingsForm({ of }: { of: ClinicOfUser }) {
  // The settings as the form shows them: a save sends those that its user changed, and leaves another admin's changes.
  const [opened, setOpened] = useState(of);
  const { name, fp, language, time_zone, confirms_connections, not_run_hours, viewer_template, units } = opened;
  const { run, error, isRunning } = useAction();
  const [isSaved, setSaved] = useState(false);
  const submit = (event: SubmitEvent) => {
    const chosen = formValues(event);
    const settings: Required<Settings> = {
      language: (chosen["language"] || null) as Language | null,
      time_zone: chosen["time_zone"] || null,
      confirms_connections: chosen["confirms_connections"] !== undefined,
      not_run_hours: Number(chosen["not_run_hours"]),
      viewer_template: chosen["viewer_template"]?.trim() || null,
      units: JSON.parse(chosen["units"] ?? "null") as UnitChoice,
    };
    setSaved(false);
    void run(async () => {
      await call("PUT", `${clinicPath()}/settings/clinic`, changesOf(settings, opened));
      setOpened({ ...opened, ...settings });
      await refreshSession();
      setSaved(true);
    });
  };
  return (
    <>
      <Facts
        of={[
          [t("name"), name],
          [t("id"), <code key="id">{fp}</code>],
        ]}
      />
      <form class="clinic-form" onSubmit={submit}>
        <LanguageAndZone language={language} time_zone={time_zone} />
        <Field label={t("notRun")} hint={t("notRunHint")}>
          <input
            type="number"
            name="not_run_hours"
            required
            min={NOT_RUN_HOURS.min}
            max={NOT_RUN_HOURS.max}
            step={1}
            defaultValue={not_run_hours}
          />
        </Field>
        <UnitsField of={units} />
        <ViewerField template={viewer_template} />
        <label class="check">
          <input type="checkbox" name="confirms_connections" defaultChecked={confirms_connections} />{" "}
          <span>
            {t("confirms")} <span class="quiet">{t("confirmsHint")}</span>
          </span>
        </label>
        {error !== undefined && <Problem error={error} />}
        <p class="actions">
          <button type="submit" class="primary" disabled={isRunning}>
            {t("save")}
          </button>
          <span role="status">{isSaved && t("saved")}</span>
        </p>
      </form>
      <Retention />
    </>
  );
}

function LanguageAndZone({ language, time_zone }: Pick<ClinicOfUser, "language" | "time_zone">) {
  return (
    <>
      <Field label={t("language")} hint={t("languageHint")}>
        <select name="language">
          <option value="" selected={language === null}>
            {t("ofBrowser")}
          </option>
          <option value="en" selected={language === "en"}>
            English
          </option>
          <option value="tr" selected={language === "tr"}>
            Türkçe
          </option>
        </select>
      </Field>
      <Field label={t("timeZone")} hint={t("timeZoneHint")}>
        <select name="time_zone">
          <option value="" selected={time_zone === null}>
            {t("ofBrowser")}
          </option>
          {timeZones(time_zone).map((zone) => (
            <option key={zone} value={zone} selected={zone === time_zone}>
              {zone}
            </option>
          ))}
        </select>
      </Field>
    </>
  );
}

/** Lists the time zones of the browser, plus the chosen one if the browser lacks it. */
function timeZones(chosen: string | null): string[] {
  const known = Intl.supportedValuesOf("timeZone");
  return chosen === null || known.includes(chosen) ? known : [chosen, ...known];
}

const t = translations({
  name: ["Name", "Ad"],
  id: ["Id in the API", "API kimliği"],
  language: ["Language", "Dil"],
  languageHint: ["Each user can choose another one in the menu.", "Her kullanıcı menüden başka bir dil seçebilir."],
  timeZone: ["Time zone", "Saat dilimi"],
  timeZoneHint: [
    "The dashboard shows all times of the clinic in it.",
    "Panel, kliniğin bütün saatlerini bu dilimde gösterir.",
  ],
  notRun: ["Hours after which an order counts as not run", "İstemin çalışılmamış sayılacağı süre (saat)"],
  notRunHint: [
    "Today then names the order. A running one that gets no more results counts as done.",
    "Bugün sayfası o zaman istemi gösterir. Yeni sonucu gelmeyen istem bitmiş sayılır.",
  ],
  confirms: [
    "Other clinics wait for our confirmation before they see a patient of ours.",
    "Diğer klinikler hastamızı görmeden önce onayımızı bekler.",
  ],
  confirmsHint: [
    "Without it they see the patient with the consent of its owner, and Today says so. You can end it.",
    "Onaysız, hastayı sahibinin kabulüyle görürler ve Bugün bunu bildirir. Sonlandırabilirsiniz.",
  ],
  ofBrowser: ["That of each browser", "Her tarayıcının kendisininki"],
  save: ["Save", "Kaydet"],
  saved: ["Saved.", "Kaydedildi."],
});
