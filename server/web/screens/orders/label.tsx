import type { NamedPatient } from "../../../dashboard/types/records.ts";
import { date } from "../../text.ts";
import { CloseButton, Dialog } from "../../ui/form-dialog/dialog.tsx";
import { Barcode } from "../../ui/picture/barcode.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { t } from "./texts.ts";
import "./label.css";

/** The text of the label of a tube. Owners have no place on it. */
export interface LabelledOrder {
  readonly accession: string;
  readonly patient: NamedPatient;
  readonly tests: readonly string[];
  readonly ordered_at: string;
}

/** Shows the number of a sample with its label, and prints the label alone. */
export function Label({ of: order, close }: { of: LabelledOrder; close: () => void }) {
  const { accession, patient, tests, ordered_at } = order;
  const foot = (
    <>
      <CloseButton />
      <button type="button" class="primary" onClick={() => window.print()}>
        {t("print")}
      </button>
    </>
  );
  return (
    <Dialog title={t("labelTitle", { accession })} close={close} foot={foot}>
      <p class="no-print">{t("labelText")}</p>
      <div class="order-label">
        <Barcode of={accession} label={t("barcode", { accession })} />
        <strong class="order-accession">{accession}</strong>
        <span>
          {patient.name} · {studyWord(patient.species)} · {date(ordered_at)}
        </span>
        <span class="order-label-tests">{tests.join(", ")}</span>
      </div>
    </Dialog>
  );
}
