import type { Logger } from "pino";
import { changeMark } from "../records/changes/changes.ts";
import type { Store } from "../database/store.ts";

/** Interval of the check for changes. It also finds the changes of other servers on the same database. */
const CHECK_MS = 700;

type Listener = () => void;

/** Notifies open pages of changed data of their clinic. It queries the database only while a page listens. */
export class LiveChanges {
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #listeners = new Map<number, Set<Listener>>();
  readonly #marks = new Map<number, string>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  constructor(store: Store, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Calls the listener after each change that follows the next check, and once after that check. @returns a function that ends it */
  listen(clinicId: number, listener: Listener): () => void {
    const listeners = this.#listeners.get(clinicId) ?? new Set();
    this.#listeners.set(clinicId, listeners.add(listener));
    // Without a mark the next check notifies all pages: this page may have missed a change after it read its data.
    this.#marks.delete(clinicId);
    this.#timer ??= setInterval(() => void this.#check(), CHECK_MS).unref();
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#listeners.get(clinicId) !== listeners) return;
      this.#listeners.delete(clinicId);
      this.#marks.delete(clinicId);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      for (const [clinicId, listeners] of this.#listeners) {
        const mark = await changeMark(this.#store, clinicId);
        const known = this.#marks.get(clinicId);
        this.#marks.set(clinicId, mark);
        if (known !== mark) for (const listener of listeners) listener();
      }
    } catch (error) {
      this.#logger.warn({ err: error }, "changes for the dashboard could not be read");
    } finally {
      this.#isChecking = false;
    }
  }
}
