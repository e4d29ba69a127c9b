import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import type { NamedPatient, NewRecord as NewRecordBody, RecordDetail } from "../../../dashboard/types/records.ts";
import { call } from "../../api.ts";
import { clinicPath } from "../../session.ts";
import { Field } from "../../ui/form/field.tsx";
import { PatientPicker } from "../../ui/form/patient-picker.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { NewAnimalDialog } from "../patients/animal/new-animal.tsx";
import { t } from "./texts.ts";
import { asType } from "./use-draft.ts";

/** Makes a draft for a patient and opens it. */
export function NewRecord({ patient, close }: { patient: NamedPatient | null; close: () => void }) {
  const { route } = useLocation();
  const [chosen, choose] = useState(patient);
  const [isAdding, setAdding] = useState(false);
  const [isMissing, setMissing] = useState(false);
  const write = async ({ soap_type = "" }: Record<string, string>) => {
    setMissing(chosen === null);
    if (chosen === null) return;
    const text = { subjective: null, objective: null, assessment: null, plan: null };
    const body: NewRecordBody = { patient_fp: chosen.fp, soap_type: asType(soap_type), ...text };
    const { fp } = await call<RecordDetail>("POST", `${clinicPath()}/records`, body);
    route(`/dashboard/records/${fp}`);
  };
  return (
    <>
      <FormDialog title={t("newRecord")} close={close} act={write} button={t("write")} staysOpen>
        <PatientPicker chosen={chosen} choose={choose} add={() => setAdding(true)} />
        {isMissing && chosen === null && (
          <p class="fault" role="alert">
            {t("choosePatient")}
          </p>
        )}
        <Field label={t("type")} hint={t("typeHint")}>
          <input name="soap_type" defaultValue="EXAMINATION" required maxLength={64} autocomplete="off" />
        </Field>
      </FormDialog>
      {isAdding && <NewAnimalDialog choose={choose} close={() => setAdding(false)} />}
    </>
  );
}
