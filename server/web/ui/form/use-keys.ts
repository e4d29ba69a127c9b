import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { remember, remembered } from "../../browser-storage.ts";

/** Whether the keyboard shortcuts are on. Users of speech input can switch them off (WCAG 2.1.4). */
export const keysAreOn = signal(remembered("desk-keys") !== "off");

export function switchKeys(isOn: boolean): void {
  remember("desk-keys", isOn ? "on" : "off");
  keysAreOn.value = isOn;
}

/**
 * Calls an action for each key of `actions` while `isOn`. Keys are ignored in fields and dialogs, and with Control, Alt or
 * Meta. A focused link or button keeps Enter, and a scrolling table keeps the arrows.
 */
export function useKeys(isOn: boolean, actions: Readonly<Record<string, () => void>>): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    if (!isOn) return undefined;
    const onKey = (event: KeyboardEvent) => {
      const action = current.current[event.key];
      if (action === undefined || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
      if (isTaken(event)) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [isOn]);
}

/** Whether the focused element handles the key itself. */
function isTaken({ key, target }: KeyboardEvent): boolean {
  if (document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof Element)) return false;
  if (target.closest("input, select, textarea") !== null) return true;
  if (key === "Enter") return target.closest("a, button, summary") !== null;
  return key.startsWith("Arrow") && target.closest(".table-frame") !== null;
}
