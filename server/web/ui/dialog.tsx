import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

/** A modal dialog. Escape closes it. The element that opened it gets the focus back, however it ends. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
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
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={closed}>
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
