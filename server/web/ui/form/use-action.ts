import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { RequestError } from "../../api.ts";

/**
 * Runs one action at a time and keeps its error for `Problem`. `retry` runs the last action again, for an error away from its
 * button. A form needs none: its own button sends what the fields hold now.
 */
export function useAction() {
  const error = useSignal<RequestError | undefined>(undefined);
  const isRunning = useSignal(false);
  const last = useRef<() => Promise<unknown>>(async () => undefined);

  /** @returns whether the action succeeded */
  async function run(action: () => Promise<unknown>): Promise<boolean> {
    if (isRunning.value) return false;
    isRunning.value = true;
    last.current = action;
    error.value = undefined;
    try {
      await action();
      return true;
    } catch (failed) {
      if (!(failed instanceof RequestError)) throw failed;
      error.value = failed;
      return false;
    } finally {
      isRunning.value = false;
    }
  }

  return { run, retry: () => run(last.current), error: error.value, isRunning: isRunning.value };
}
