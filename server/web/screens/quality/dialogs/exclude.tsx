import type { ExclusionBody, ShownPoint } from "../../../../dashboard/types/quality.ts";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { pointText } from "../words/words.ts";
import { t } from "./texts.ts";

/** Asks for the handling mistake for which a run does not count. */
export function Exclude({
  point,
  unit,
  close,
  reload,
}: {
  point: ShownPoint;
  unit: string | null;
  close: () => void;
  reload: () => Promise<void>;
}) {
  const exclude = async ({ reason = "" }: Record<string, string>) => {
    const body: ExclusionBody = { reason: reason.trim() };
    await call("POST", `${clinicPath()}/quality/values/${point.id}/exclusion`, body);
    await reload();
  };
  return (
    <FormDialog title={t("excludeTitle")} close={close} act={exclude} button={t("excludeButton")}>
      <p>{pointText(point, unit)}</p>
      <p class="quiet">{t("excludeWhy")}</p>
      <Field label={t("excludeReason")} hint={t("excludeHint")}>
        <input name="reason" required maxLength={200} autocomplete="off" />
      </Field>
    </FormDialog>
  );
}
