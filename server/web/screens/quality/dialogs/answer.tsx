import { useState } from "preact/hooks";
import type { AnswerBody, ControlQuestion } from "../../../../dashboard/types/quality.ts";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { ControlFields, type ControlName, namesOf, textOrNull } from "./control-fields.tsx";
import { t } from "./texts.ts";

/** Asks which material, level and lot a sample of a device is. What the device names is filled in. */
export function AnswerQuestion({
  question,
  close,
  reload,
}: {
  question: ControlQuestion;
  close: () => void;
  reload: () => Promise<void>;
}) {
  const { device_id, device_name, sample } = question;
  const [name, setName] = useState<ControlName>({
    material: question.material ?? "",
    level: question.level ?? "",
    lot: question.lot ?? "",
    expires: "",
  });
  const answer = async (fields: Record<string, string>) => {
    const from = textOrNull(fields["from"]);
    const body: AnswerBody = { device_id, sample, sent_level: question.level, from, ...namesOf(name) };
    await call("POST", `${clinicPath()}/quality/answers`, body);
    await reload();
  };
  return (
    <FormDialog title={t("answerTitle", { sample })} close={close} act={answer} button={t("answerButton")}>
      <p>{t("answerWhy", { device: device_name })}</p>
      <ControlFields of={name} change={setName} />
      <Field label={t("from")} hint={t("fromHint")}>
        <input type="date" name="from" />
      </Field>
    </FormDialog>
  );
}
