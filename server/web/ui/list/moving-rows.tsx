import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Time in which a user sees that the rows moved, in milliseconds. */
const PAUSE_MS = 600;

/**
 * Lists whose buttons act without a confirmation. An arriving row moves another one under the pointer, and so does the first click
 * of a double click whose row leaves. The buttons are dimmed for a moment then, and a pointer's click on them is ignored. A key's
 * click is not: the focus moves with its row.
 */
export function MovingRows({ children }: { children: ComponentChildren }) {
  const lists = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => (lists.current === null ? undefined : pauseAfterMoves(lists.current)), []);
  return <div ref={lists}>{children}</div>;
}

/** @returns the end of it */
function pauseAfterMoves(lists: HTMLElement): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const observer = new MutationObserver((records) => {
    if (!records.some(isMove)) return;
    clearTimeout(timer);
    dim(lists, true);
    timer = setTimeout(() => dim(lists, false), PAUSE_MS);
  });
  observer.observe(lists, { childList: true, characterData: true, subtree: true });
  lists.addEventListener("click", ignore, { capture: true });
  return () => {
    observer.disconnect();
    lists.removeEventListener("click", ignore, { capture: true });
    clearTimeout(timer);
  };
}

/** Whether rows came, left or changed places, or a button has other words. The content of a dialog moves no row. */
function isMove({ type, target, addedNodes, removedNodes }: MutationRecord): boolean {
  const element = target instanceof Element ? target : target.parentElement;
  if (element === null || element.closest("dialog") !== null) return false;
  if (type === "characterData") return element.closest("button") !== null;
  return [...addedNodes, ...removedNodes].some(
    (node) =>
      node instanceof Element && !node.matches("dialog") && (node.matches(ROW) || node.querySelector(ROW) !== null),
  );
}

const ROW = "li, tr";

/** Buttons that are disabled in this way keep the focus. */
function dim(lists: HTMLElement, isDimmed: boolean): void {
  for (const button of lists.querySelectorAll("button:not(dialog *)")) {
    if (isDimmed) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }
}

function ignore(event: MouseEvent): void {
  if (event.detail === 0 || !(event.target instanceof Element)) return;
  if (event.target.closest("button[aria-disabled]") === null) return;
  event.preventDefault();
  event.stopPropagation();
}
