import { useState } from "preact/hooks";
import { RETENTION_MONTHS, type RetentionPolicy } from "../../../dashboard/types/settings/clinic-settings.ts";
import { call } from "../../api.ts";
import { Loaded, Problem, useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { translations } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { changesOf, formValues } from "../../ui/form/form.ts";
import { useAction } from "../../ui/form/use-action.ts";

const KINDS = ["report_links", "hints"] as const satisfies readonly (keyof RetentionPolicy)[];

/** Months after which the server removes what it keeps; an empty field is the usual time. */
export function Retention() {
  const policy = useResource<RetentionPolicy>("/settings/retention", clinicPath(), false);
  return <Loaded of={policy}>{(data) => <RetentionForm policy={data} />}</Loaded>;
}

function RetentionForm({ policy }: { policy: RetentionPolicy }) {
  // The months as the form shows them: a save sends those that its user changed.
  const [opened, setOpened] = useState(policy);
  const { run, error, isRunning } = useAction();
  const [isSaved, setSaved] = useState(false);
  const submit = (event: SubmitEvent) => {
    const fields = formValues(event);
    const of = (kind: keyof RetentionPolicy) => (fields[kind] ? Number(fields[kind]) : null);
    const chosen: RetentionPolicy = { report_links: of("report_links"), hints: of("hints") };
    setSaved(false);
    void run(async () => {
      await call("PUT", `${clinicPath()}/settings/retention`, changesOf(chosen, opened));
      setOpened(chosen);
      setSaved(true);
    });
  };
  return (
    <form class="clinic-form" aria-labelledby="retention" onSubmit={submit}>
      <h2 id="retention">{t("title")}</h2>
      <p class="quiet">{t("intro")}</p>
      {KINDS.map((kind) => (
        <Field key={kind} label={t(kind)} hint={t(`${kind}_hint`)}>
          <input
            type="number"
            name={kind}
            min={RETENTION_MONTHS.min}
            max={RETENTION_MONTHS.max}
            step={1}
            defaultValue={opened[kind] ?? ""}
          />
        </Field>
      ))}
      {error !== undefined && <Problem error={error} />}
      <p class="actions">
        <button type="submit" disabled={isRunning}>
          {t("save")}
        </button>
        <span role="status">{isSaved && t("saved")}</span>
      </p>
    </form>
  );
}

const t = translations({
  title: ["How long data stay", "Verilerin saklanma süresi"],
  intro: [
    "In months. An empty field keeps them as long as usual. The server removes older ones each hour.",
    "Ay olarak. Boş alan olağan süreyi korur. Sunucu daha eskileri her saat siler.",
  ],
  report_links: ["Ended links to reports", "Süresi dolmuş rapor bağlantıları"],
  report_links_hint: ["Usually for ever.", "Olağan: süresiz."],
  hints: ["Owners' names in results without a patient", "Hastası olmayan sonuçlardaki sahip adları"],
  hints_hint: [
    "As devices sent them, with other texts such as a phone, in results that wait or are rejected. Usually for ever.",
    "Bekleyen ya da reddedilen sonuçlarda, cihazların gönderdiği adlar ve telefon gibi diğer metinler. Olağan: süresiz.",
  ],
  save: ["Save the times", "Süreleri kaydet"],
  saved: ["The times are saved.", "Süreler kaydedildi."],
});
