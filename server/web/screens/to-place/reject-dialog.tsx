import type { UnmatchedDetails } from "../../../dashboard/types/results/unmatched.ts";
import { Field } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { t } from "./texts.ts";
import type { Desk } from "./use-desk.ts";

/** The dialog for the reason of a rejection. */
export function RejectDialog({ desk, study, close }: { desk: Desk; study: UnmatchedDetails; close: () => void }) {
  return (
    <FormDialog
      title={t("rejectTitle")}
      close={close}
      act={({ reason = "" }) => desk.reject(study, reason)}
      button={t("rejectConfirm")}
      isDangerous
    >
      <p>{t("rejectWhy")}</p>
      <Field label={t("rejectReason")} hint={t("rejectHint")}>
        <input name="reason" required maxLength={200} autocomplete="off" autofocus />
      </Field>
    </FormDialog>
  );
}
