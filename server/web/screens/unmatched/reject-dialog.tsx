import type { UnmatchedDetails } from "../../../dashboard/types/results/unmatched.ts";
import { Field } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { t } from "./texts.ts";
import type { Unmatched } from "./use-unmatched.ts";

/** The dialog for the reason of a rejection. */
export function RejectDialog({
  unmatched,
  study,
  close,
}: {
  unmatched: Unmatched;
  study: UnmatchedDetails;
  close: () => void;
}) {
  return (
    <FormDialog
      title={t("rejectTitle")}
      close={close}
      act={({ reason = "" }) => unmatched.reject(study, reason)}
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
