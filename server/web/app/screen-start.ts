import { useLayoutEffect } from "preact/hooks";

/** Begins each screen at its top, with the focus on it for the keyboard and readers. */
export function useScreenStart(path: string): void {
  // Before the next key: an effect after the paint would take the focus from a field that was chosen meanwhile.
  useLayoutEffect(() => {
    document.getElementById("main")?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);
}
