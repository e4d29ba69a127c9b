import type { ExplanationBody, ShownSeries, ShownViolation } from "../../../../dashboard/types/quality.ts";
import { violationText } from "../../../../../shared/clinical/control/words.ts";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { dateTime, language } from "../../../text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { t } from "./texts.ts";

/** Asks what was done about a broken rule. */
export function Explain({
  violation,
  series,
  close,
  reload,
}: {
  violation: ShownViolation;
  series: ShownSeries;
  close: () => void;
  reload: () => Promise<void>;
}) {
  const { what, next } = violationText(violation, series.analyte, violation.change, language.value);
  const explain = async ({ text = "" }: Record<string, string>) => {
    const body: ExplanationBody = { violation: violation.id, text: text.trim(), seen: violation.explained?.at ?? null };
    await call("POST", `${clinicPath()}/quality/series/${series.id}/explanations`, body);
    await reload();
  };
  return (
    <FormDialog title={t("explainTitle")} close={close} act={explain} button={t("explainButton")}>
      <p>
        <strong>
          {dateTime(violation.at)} · {violation.points.join(", ")} ({violation.rule})
        </strong>{" "}
        {what} {next}
      </p>
      <Field label={t("explainText")} hint={t("explainHint")}>
        <textarea name="text" rows={3} required maxLength={500} defaultValue={violation.explained?.text ?? ""} />
      </Field>
    </FormDialog>
  );
}
