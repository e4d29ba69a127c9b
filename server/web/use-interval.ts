import { useEffect } from "preact/hooks";

/** Repeats the work while the screen is shown and `isOn` holds. The interval starts again when `of` changes. */
export function useInterval(work: () => unknown, ms: number, isOn = true, of: unknown = null): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => void work(), ms);
    return () => clearInterval(timer);
  }, [isOn, of]);
}
