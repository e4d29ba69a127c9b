import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import type { NamedPatient, NewRecord as NewRecordBody, RecordDetail } from "../../../../shared/dashboard/records.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { formValues } from "../../ui/form.ts";
import { PatientPicker } from "../../ui/patient-picker.tsx";
import { useAction } from "../../ui/use-action.ts";
import { t } from "./texts.ts";
import { asType } from "./use-draft.ts";

/** Makes a draft for a patient, and opens it for writing. */
export function NewRecord({ patient, close }: { patient: NamedPatient | null; close: () => void }) {
  const { route } = useLocation();
  const { run, error, isRunning } = useAction();
  const [chosen, choose] = useState(patient);
  const [isMissing, setMissing] = useState(false);
  const submit = (event: SubmitEvent) => {
    const { soap_type = "" } = formValues(event);
    setMissing(chosen === null);
    if (chosen === null) return;
    const text = { subjective: null, objective: null, assessment: null, plan: null };
    const body: NewRecordBody = { patient_fp: chosen.fp, soap_type: asType(soap_type), ...text };
    void run(async () => {
      const { fp } = await call<RecordDetail>("POST", `${clinicPath()}/records`, body);
      route(`/dashboard/records/${fp}`);
    });
  };
  return (
    <Dialog title={t("newRecord")} close={close}>
      <form onSubmit={submit}>
        <PatientPicker chosen={chosen} choose={choose} />
        {isMissing && chosen === null && (
          <p class="fault" role="alert">
            {t("choosePatient")}
          </p>
        )}
        <Field label={t("type")} hint={t("typeHint")}>
          <input name="soap_type" defaultValue="EXAMINATION" required maxLength={64} autocomplete="off" />
        </Field>
        {error !== undefined && <Problem error={error} />}
        <p class="actions">
          <button type="submit" class="primary" disabled={isRunning}>
            {t("write")}
          </button>
          <button type="button" onClick={({ currentTarget }) => currentTarget.closest("dialog")?.close()}>
            {t("cancel")}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
