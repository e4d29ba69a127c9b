import { useRef, useState } from "preact/hooks";
import type { TypedEvent } from "../../../../dashboard/types/quality.ts";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { newId } from "../../../write-ids.ts";
import { textOrNull } from "./control-fields.tsx";
import { t } from "./texts.ts";
import { instantText, nowText, TimeField } from "./when.tsx";

const KINDS = ["reagent", "calibration", "maintenance"] as const;

/** Adds a change of a device that it does not send itself. It is a line in the charts, and each rule starts again after a repair. */
export function AddEvent({
  device,
  close,
  reload,
}: {
  device: string;
  close: () => void;
  reload: () => Promise<void>;
}) {
  const [kind, setKind] = useState<TypedEvent["event"]>("reagent");
  const { current: entryId } = useRef(newId());
  const [when, setWhen] = useState(nowText);
  const at = instantText(when);
  const add = async (fields: Record<string, string>) => {
    if (at === null) return;
    const [subject, lot, expires, text] = ["subject", "lot", "expires", "text"].map((key) => textOrNull(fields[key]));
    const body: TypedEvent = {
      ...{ entry_id: entryId, device_id: device, at, event: kind, subject: subject ?? null },
      ...{ lot: lot ?? null, expires: expires ?? null, text: text ?? null },
    };
    await call("POST", `${clinicPath()}/quality/events`, body);
    await reload();
  };
  return (
    <FormDialog
      title={t("eventTitle", { device })}
      close={close}
      act={add}
      button={t("eventButton")}
      isReady={at !== null}
    >
      <Field label={t("eventKind")}>
        <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value as TypedEvent["event"])}>
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {t(each)}
            </option>
          ))}
        </select>
      </Field>
      <TimeField label={t("eventAt")} text={when} change={setWhen} />
      <Field label={t("subject")} hint={t("subjectHint")}>
        <input name="subject" maxLength={100} autocomplete="off" />
      </Field>
      {kind === "reagent" && (
        <div class="control-pair">
          <Field label={t("optionalLot")}>
            <input name="lot" maxLength={64} autocomplete="off" />
          </Field>
          <Field label={t("expires")}>
            <input type="date" name="expires" />
          </Field>
        </div>
      )}
      <Field label={t("words")}>
        <input name="text" maxLength={500} autocomplete="off" />
      </Field>
    </FormDialog>
  );
}
