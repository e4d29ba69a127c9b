import { realTimer, type SetTimer, sleep } from "../runtime/timer.ts";
import { StorageError } from "./thread/storage-error.ts";

/**
 * Repeats a task every `delayMs` while the spool refuses it: a fault of storage proves nothing about the task.
 * @returns the result; null if `isStopped` ends the attempts
 * @throws any error of the task but StorageError
 */
export async function retryStorage<Result>(
  task: () => Promise<Result>,
  delayMs: number,
  { setTimer = realTimer, isStopped = () => false }: { setTimer?: SetTimer; isStopped?: () => boolean } = {},
): Promise<Result | null> {
  for (;;) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (isStopped()) return null;
      await sleep(delayMs, setTimer);
    }
  }
}
