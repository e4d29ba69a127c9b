/** Max delay before a session is finished, in ms. Sessions that end in that time share one operation. */
const FINISH_MS_MAX = 200;

/** Sessions that are finished soon, unless they are resumed before. */
export class SessionsToFinish {
  readonly #finish: (sessions: readonly number[]) => void;
  readonly #sessions = new Set<number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(finish: (sessions: readonly number[]) => void) {
    this.#finish = finish;
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0;
  }

  add(session: number): void {
    this.#sessions.add(session);
    this.#timer ??= setTimeout(() => this.finishNow(), FINISH_MS_MAX);
  }

  /** Keeps a session open. @returns false if it is finished already */
  resume(session: number): boolean {
    return this.#sessions.delete(session);
  }

  finishNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.isEmpty) return;
    const sessions = [...this.#sessions];
    this.#sessions.clear();
    this.#finish(sessions);
  }
}
