import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { LocalCheck } from "../../types/configuration.ts";
import { call } from "../../../../server/web/api.ts";

/** Pause after the last key stroke. */
const PAUSE_MS = 250;

/** Lets the agent check a text a moment after it changed. `mark` is that of the running text, which the text is compared with. */
export function useCheck(text: string, mark: string) {
  const check = useSignal<LocalCheck | null>(null);
  const checked = useSignal<string | null>(null);
  useEffect(() => {
    let isLatest = true;
    const timer = setTimeout(() => {
      call<LocalCheck>("POST", "/configuration/check", { text }).then(
        (found) => {
          if (!isLatest) return;
          check.value = found;
          checked.value = text;
        },
        // The banner reports that the agent does not respond. The next key stroke retries.
        () => undefined,
      );
    }, PAUSE_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [text, mark]);
  return { check: check.value, isChecking: checked.value !== text };
}
