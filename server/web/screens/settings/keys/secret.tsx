import { useRef, useState } from "preact/hooks";
import { closeDialog } from "../../../ui/action-form.tsx";
import { copyText } from "../../../ui/copy-text.ts";
import { t } from "./texts.ts";

/** Shows a new key or secret, once, with a button that copies it. */
export function Secret({ of: secret, label, note }: { of: string; label: string; note: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [outcome, setOutcome] = useState<"copied" | "copyYourself" | null>(null);
  const copy = async () => {
    if (field.current !== null) setOutcome((await copyText(field.current)) ? "copied" : "copyYourself");
  };
  return (
    <>
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
      <p class="actions">
        <button type="button" onClick={closeDialog}>
          {t("done")}
        </button>
      </p>
    </>
  );
}
