import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { translations } from "../../text.ts";
import "./dialog.css";

export interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/**
 * A modal dialog with its buttons at the end; with `submit` it is a form. Escape closes it. Closing returns the focus to the
 * element that opened it.
 */
export function Dialog({
  title,
  close,
  foot,
  submit,
  class: ofDialog,
  children,
}: DialogProps & {
  readonly foot?: ComponentChildren;
  readonly submit?: (event: SubmitEvent) => void;
  readonly class?: string;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect runs before Preact 11 removes the element: browsers return the focus only while the dialog is in the page.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  // A late event of a dialog that is already removed.
  const closed = () => {
    if (dialog.current !== null) close();
  };
  const content = (
    <>
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      {foot !== undefined && <div class="dialog-foot no-print">{foot}</div>}
    </>
  );
  return (
    <dialog ref={dialog} class={ofDialog} aria-labelledby={id} onClose={closed}>
      {submit === undefined ? content : <form onSubmit={submit}>{content}</form>}
    </dialog>
  );
}

/** The button that only closes its dialog. */
export function CloseButton({ children = t("close") }: { children?: string }) {
  return (
    // Browsers return the focus if the dialog closes before it is removed.
    <button type="button" onClick={({ currentTarget }) => currentTarget.closest("dialog")?.close()}>
      {children}
    </button>
  );
}

const t = translations({
  close: ["Close", "Kapat"],
});
