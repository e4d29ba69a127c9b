import type { ComponentChildren } from "preact";
import { t } from "./texts.ts";

/** The buttons of a dialog. "Cancel" closes the dialog itself, so that the browser gives the focus back. */
export function Buttons({ children }: { children: ComponentChildren }) {
  return (
    <p class="actions">
      {children}
      <button type="button" onClick={closeDialog}>
        {t("cancel")}
      </button>
    </p>
  );
}

/** Closes the dialog in which a button stands. */
export function closeDialog({ currentTarget }: { currentTarget: Element }): void {
  currentTarget.closest("dialog")?.close();
}
