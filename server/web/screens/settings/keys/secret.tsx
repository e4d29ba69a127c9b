import { useRef, useState } from "preact/hooks";
import { closeDialog } from "../../../ui/action-form.tsx";
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

/**
 * Copies the text of a field. Browsers have no clipboard interface on plain http beyond this machine; there the field is selected
 * and the older command copies the selection. @returns false if neither works; the selection stays for the user's own keys
 */
async function copyText(field: HTMLInputElement): Promise<boolean> {
  field.select();
  // TypeScript takes the interface for always present.
  const { clipboard } = navigator as { clipboard?: Clipboard };
  try {
    if (clipboard === undefined) return document.execCommand("copy");
    await clipboard.writeText(field.value);
    return true;
  } catch {
    return false;
  }
}
