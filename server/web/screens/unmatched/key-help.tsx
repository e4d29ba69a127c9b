import { keysAreOn, switchKeys } from "../../ui/form/use-keys.ts";
import { t } from "./texts.ts";

/** Lists the shortcuts, while they are on. */
export function KeyHelp({ mayAct }: { mayAct: boolean }) {
  if (!keysAreOn.value) return null;
  return (
    <div class="unmatched-keys quiet no-print">
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
            <kbd>n</kbd> {t("keyNew")}
          </span>
          <span>
            <kbd>r</kbd> {t("keyReject")}
          </span>
          <span>
            <kbd>u</kbd> {t("keyUndo")}
          </span>
        </>
      )}
    </div>
  );
}

export function KeySwitch() {
  return (
    <label class="check key-switch no-print">
      <input
        type="checkbox"
        checked={keysAreOn.value}
        onChange={({ currentTarget }) => switchKeys(currentTarget.checked)}
      />
      {t("keysOn")}
    </label>
  );
}
