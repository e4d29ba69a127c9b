import { useSignal } from "@preact/signals";
import { RequestError } from "../../api.ts";

/** Runs one action at a time and keeps its error for `Problem`. */
export function useAction() {
  const error = useSignal<RequestError | undefined>(undefined);
  const isRunning = useSignal(false);

  /** @returns whether the action succeeded */
  async function run(action: () => Promise<unknown>): Promise<boolean> {
    if (isRunning.value) return false;
    isRunning.value = true;
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

  return { run, error: error.value, isRunning: isRunning.value };
}
