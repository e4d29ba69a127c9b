import { Field } from "../../../ui/form/field.tsx";
import { t } from "./texts.ts";

/** The names of a vial of control material; empty texts where a person left them out. */
export interface ControlName {
  readonly material: string;
  readonly level: string;
  readonly lot: string;
  readonly expires: string;
}

/** The fields that name a control: what is printed on its vial. */
export function ControlFields({ of: name, change }: { of: ControlName; change: (name: ControlName) => void }) {
  const field = (key: keyof ControlName) => ({
    value: name[key],
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      change({ ...name, [key]: currentTarget.value }),
  });
  return (
    <>
      <Field label={t("material")} hint={t("materialHint")}>
        <input maxLength={100} autocomplete="off" {...field("material")} />
      </Field>
      <div class="control-pair">
        <Field label={t("level")} hint={t("levelHint")}>
          <input required maxLength={32} autocomplete="off" {...field("level")} />
        </Field>
        <Field label={t("lot")} hint={t("lotHint")}>
          <input required maxLength={64} autocomplete="off" {...field("lot")} />
        </Field>
        <Field label={t("expires")} hint={t("expiresHint")}>
          <input type="date" {...field("expires")} />
        </Field>
      </div>
    </>
  );
}

/** Returns the names as the server takes them: trimmed, and null for an empty text. */
export function namesOf({ material, level, lot, expires }: ControlName) {
  return { material: textOrNull(material), level: level.trim(), lot: lot.trim(), expires: textOrNull(expires) };
}

export function textOrNull(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? null : trimmed;
}
