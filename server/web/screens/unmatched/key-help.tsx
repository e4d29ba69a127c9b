import { keysAreOn, switchKeys } from "../../ui/form/use-keys.ts";
import { t } from "./texts.ts";

/** Lists the shortcuts. */
export function KeyHelp({ mayAct }: { mayAct: boolean }) {
  return (
    <div class="unmatched-keys quiet no-print">
      <strong>{t("keys")}</strong>
      <span>
        <kbd>j</kbd> <kbd>k</kbd> {t("keyMove")}
      </span>
      <span>
        <kbd>1</kbd>–<kbd>9</kbd> {t("keyChoose")}
      </span>
      {mayAct && (
        <>
          <span>
            <kbd>Enter</kbd> {t("keyConfirm")}
          </span>
          <span>
            <kbd>n</kbd> {t("newFromResult")}
          </span>
          <span>
            <kbd>r</kbd> {t("keyReject")}
          </span>
          <span>
            <kbd>u</kbd> {t("keyUndo")}
          </span>
        </>
      )}
      <label>
        <input
          type="checkbox"
          checked={keysAreOn.value}
          onChange={({ currentTarget }) => switchKeys(currentTarget.checked)}
        />{" "}
        {t("keysOn")}
      </label>
    </div>
  );
}
