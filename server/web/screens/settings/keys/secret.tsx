import { useRef, useState } from "preact/hooks";
import { copyText } from "../../../ui/form/copy-text.ts";
import { CloseButton, Dialog } from "../../../ui/form-dialog/dialog.tsx";
import { t } from "./texts.ts";

interface SecretProps {
  readonly title: string;
  readonly of: string;
  readonly label: string;
  readonly note: string;
  readonly close: () => void;
}

/** Shows a new key or secret, once, with a button that copies it. */
export function Secret({ of: secret, label, note, ...dialog }: SecretProps) {
  const field = useRef<HTMLInputElement>(null);
  const [outcome, setOutcome] = useState<"copied" | "copyYourself" | null>(null);
  const copy = async () => {
    if (field.current !== null) setOutcome((await copyText(field.current)) ? "copied" : "copyYourself");
  };
  return (
    <Dialog {...dialog} foot={<CloseButton>{t("done")}</CloseButton>}>
      <p>
        <strong>{note}</strong>
      </p>
      <p class="key-secret">
        <input ref={field} aria-label={label} value={secret} readOnly spellcheck={false} />
        <button type="button" class="primary" onClick={() => void copy()}>
          {t("copy")}
        </button>
      </p>
      <p role="status" class="quiet">
        {outcome !== null && t(outcome)}
      </p>
    </Dialog>
  );
}
