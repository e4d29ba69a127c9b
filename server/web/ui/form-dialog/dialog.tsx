import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { texts } from "../../text.ts";
import "./dialog.css";

export interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/**
 * A modal dialog with its buttons at the foot; with `submit` it is a form. Escape closes it. The element that opened it gets the focus
 * back, however it ends.
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
  // A layout effect ends before Preact 11 removes the element: a browser gives the focus back only from an element in the page.
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  // The event of a dialog that is gone already comes late.
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

/** The button that closes its dialog and does nothing else. */
export function CloseButton({ children = t("close") }: { children?: string }) {
  return (
    // The browser gives the focus back if the dialog closes before it is removed.
    <button type="button" onClick={({ currentTarget }) => currentTarget.closest("dialog")?.close()}>
      {children}
    </button>
  );
}

const t = texts({ close: "Close" }, { close: "Kapat" });
