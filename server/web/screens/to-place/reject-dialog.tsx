import type { UnmatchedDetails } from "../../../dashboard/types/results/unmatched.ts";
import { Problem } from "../../resource.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { formValues } from "../../ui/form.ts";
import { t } from "./texts.ts";
import type { Desk } from "./use-desk.ts";

/** Asks for the reason of a rejection. */
export function RejectDialog({
  desk: { reject, action },
  study,
  close,
}: {
  desk: Desk;
  study: UnmatchedDetails;
  close: () => void;
}) {
  async function submit(event: SubmitEvent): Promise<void> {
    if (await reject(study, formValues(event)["reason"] ?? "")) close();
  }
  return (
    <Dialog title={t("rejectTitle")} close={close}>
      <form onSubmit={(event) => void submit(event)}>
        <p>{t("rejectWhy")}</p>
        <Field label={t("rejectReason")} hint={t("rejectHint")}>
          <input name="reason" required maxLength={200} autocomplete="off" autofocus />
        </Field>
        {action.error !== undefined && <Problem error={action.error} />}
        <div class="actions">
          <button type="submit" class="danger" disabled={action.isRunning}>
            {t("rejectConfirm")}
          </button>
          <button type="button" onClick={close}>
            {t("cancel")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
