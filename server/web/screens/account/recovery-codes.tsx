import { useRef, useState } from "preact/hooks";
import { copyText } from "../../ui/form/copy-text.ts";
import { Dialog } from "../../ui/form-dialog/dialog.tsx";
import { t } from "./texts.ts";

/** Shows new recovery codes, once, with buttons that copy and print them. */
export function RecoveryCodeDialog({ codes, close }: { codes: readonly string[]; close: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [outcome, setOutcome] = useState<"copied" | "copyYourself" | null>(null);
  const copy = async () => {
    if (field.current !== null) setOutcome((await copyText(field.current)) ? "copied" : "copyYourself");
  };
  const foot = (
    <>
      <button type="button" onClick={() => void copy()}>
        {t("copy")}
      </button>
      <button type="button" onClick={() => window.print()}>
        {t("print")}
      </button>
      <button type="button" class="primary" onClick={close}>
        {t("codesKept")}
      </button>
    </>
  );
  return (
    <Dialog title={t("recoveryCodes")} close={close} foot={foot} class="recovery-codes">
      <p>
        <strong>{t("codesOnce")}</strong>
      </p>
      <p>{t("codesWhat")}</p>
      <textarea ref={field} aria-label={t("recoveryCodes")} rows={codes.length} value={codes.join("\n")} readOnly />
      <p role="status" class="quiet no-print">
        {outcome !== null && t(outcome)}
      </p>
    </Dialog>
  );
}
