import { useState } from "preact/hooks";
import {
  type Consumed,
  type Consumption,
  type ItemDetail,
  type StockBatch,
  TAKE_REASONS,
  type TakeReason,
} from "../../../dashboard/types/stock.ts";
import type { NamedPatient } from "../../../dashboard/types/records.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { Field } from "../../ui/form/field.tsx";
import { formValues } from "../../ui/form/form.ts";
import { PatientPicker } from "../../ui/form/patient-picker.tsx";
import { useAction } from "../../ui/form/use-action.ts";
import { plainDate } from "../../ui/words/words.ts";
import { batchName, Quantity } from "./batches.tsx";
import { reasonWord, t } from "./texts.ts";

interface TakeProps {
  fp: string;
  item: ItemDetail["item"];
  batches: readonly StockBatch[];
  reload: () => Promise<void>;
}

/** Takes a quantity for a reason, for a patient if it was used for one. */
export function Take({ fp, item, batches, reload }: TakeProps) {
  const { run, error, isRunning } = useAction();
  const [consumed, setConsumed] = useState<Consumed | null>(null);
  const [reason, setReason] = useState<TakeReason>("used");
  const [batch, setBatch] = useState("");
  const [isForPatient, setForPatient] = useState(false);
  const [patient, setPatient] = useState<NamedPatient | null>(null);
  const hasPatient = reason === "used" && isForPatient;
  const giveReason = (given: TakeReason) => {
    setReason(given);
    const expired = batches.filter(({ is_expired }) => is_expired).map(({ id }) => String(id));
    // An expired batch that another reason chose is not for a patient.
    setBatch(given === "expired" ? (expired[0] ?? "") : expired.includes(batch) ? "" : batch);
  };
  const submit = (event: SubmitEvent) => {
    const form = event.currentTarget as HTMLFormElement;
    const body: Consumption = {
      quantity: Number(formValues(event).quantity),
      reason,
      ...(batch !== "" && { batch: Number(batch) }),
      ...(hasPatient && patient !== null && { patient_fp: patient.fp }),
    };
    setConsumed(null);
    void run(async () => {
      setConsumed(await call<Consumed>("POST", `${clinicPath()}/stock/${fp}/consume`, body));
      form.reset();
      setReason("used");
      setBatch("");
      setForPatient(false);
      setPatient(null);
      await reload();
    });
  };
  return (
    <form class="card" onSubmit={submit}>
      <h2>{t("stockOut")}</h2>
      <Field label={t("reason")}>
        <select value={reason} onChange={({ currentTarget }) => giveReason(currentTarget.value as TakeReason)}>
          {TAKE_REASONS.map((each) => (
            <option key={each} value={each}>
              {reasonWord(each)}
            </option>
          ))}
        </select>
      </Field>
      {reason === "used" && (
        <ForPatient isOn={isForPatient} turn={setForPatient} patient={patient} choose={setPatient} />
      )}
      <Quantity unit={item.unit} />
      <Field label={t("from")}>
        <select value={batch} onChange={({ currentTarget }) => setBatch(currentTarget.value)}>
          <option value="">{t("inOrder")}</option>
          {batches.map((each) => (
            <option key={each.id} value={String(each.id)}>
              {batchName(each)}
            </option>
          ))}
        </select>
      </Field>
      {error !== undefined && <Problem error={error} />}
      <button
        type="submit"
        class="primary"
        disabled={isRunning || item.quantity_on_hand === 0 || (hasPatient && patient === null)}
      >
        {t("take")}
      </button>
      <div role="status">{consumed !== null && <Taken consumed={consumed} />}</div>
    </form>
  );
}

interface ForPatientProps {
  isOn: boolean;
  turn: (isOn: boolean) => void;
  patient: NamedPatient | null;
  choose: (patient: NamedPatient | null) => void;
}

function ForPatient({ isOn, turn, patient, choose }: ForPatientProps) {
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => turn(currentTarget.checked)} />
        {t("forPatient")}
      </label>
      {isOn && <PatientPicker chosen={patient} choose={choose} />}
    </>
  );
}

/** Lists the batches from which a quantity was taken, so that the user takes the right boxes from the fridge. */
function Taken({ consumed: { taken, taken_without_batch } }: { consumed: Consumed }) {
  return (
    <>
      <p class="stock-taken">
        <strong>{t("taken")}</strong>
      </p>
      <ul class="stock-taken">
        {taken.map(({ id, lot, quantity, expiry_date, is_expired }) => (
          <li key={id}>
            {lot === null ? t("partWithoutLot", { quantity }) : t("part", { quantity, lot })}
            {expiry_date !== null && `, ${t("partExpires", { day: plainDate(expiry_date) })}`}{" "}
            {is_expired && <strong class="stock-expired">{t("expired")}</strong>}
          </li>
        ))}
        {taken_without_batch > 0 && <li>{t("partWithoutBatch", { quantity: taken_without_batch })}</li>}
      </ul>
    </>
  );
}
