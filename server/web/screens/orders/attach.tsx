import { useState } from "preact/hooks";
import type { ListedOrder, OrderAttach, UnorderedStudy } from "../../../dashboard/types/orders.ts";
import { call } from "../../api.ts";
import { clinicPath } from "../../session.ts";
import { dateTime } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { CloseButton, Dialog } from "../../ui/form-dialog/dialog.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { t } from "./texts.ts";

/** Attaches an order of the same animal to results, by the number that the user reads on the tube. */
export function Attach({
  study,
  orders,
  reload,
  close,
}: {
  study: UnorderedStudy;
  orders: readonly ListedOrder[];
  reload: () => Promise<void>;
  close: () => void;
}) {
  const { name } = study.patient;
  const own = orders.filter(({ patient, studies }) => patient.fp === study.patient.fp && studies.length === 0);
  const [order, choose] = useState(own[0]?.fp);
  if (own.length === 0) {
    return (
      <Dialog title={t("attachTitle", { name })} close={close} foot={<CloseButton />}>
        <p>{t("attachNone", { name })}</p>
      </Dialog>
    );
  }
  // Another user may have used the chosen order meanwhile. No other one takes its place by itself.
  const isLeft = own.some(({ fp }) => fp === order);
  const attach = async () => {
    await call("POST", `${clinicPath()}/orders/${order}/attach`, { study_fp: study.fp } satisfies OrderAttach);
    // Before the reload, after which the dialog is no longer shown, and would open again with the next results.
    close();
    await reload();
  };
  return (
    <FormDialog
      title={t("attachTitle", { name })}
      {...{ close, isReady: isLeft }}
      act={attach}
      button={t("attach")}
      leave={t("back")}
    >
      <Field label={t("choose")}>
        <select name="order" value={isLeft ? order : ""} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {!isLeft && <option value="">{t("chooseAgain")}</option>}
          {own.map(({ fp, accession, tests, ordered_at }) => (
            <option key={fp} value={fp}>
              {accession} · {tests.join(", ")} · {dateTime(ordered_at)}
            </option>
          ))}
        </select>
      </Field>
    </FormDialog>
  );
}
