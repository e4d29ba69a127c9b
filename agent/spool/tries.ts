import type { MessageCode } from "../page/types/message-codes.ts";
import type { Work } from "./queries/unfinished-tries.ts";
import type { Spool } from "./spool.ts";

// Work that may end the agent: each try is marked before it, and an item whose tries had no end is set aside. Its bytes stay, and a
// person can try it again. Without the mark the agent would end at each start by the same item.

/**
 * Tries without an end after which an item is set aside. A PC without power for a moment, several times in a row, may end the agent
 * within the same message, which then is not the cause: its result must not wait for a person.
 */
const TRIES_MAX: Readonly<Record<Work, number>> = { message: 5, session: 5, "image study": 2, draw: 2, forward: 2 };

/** The code of an item that is set aside. */
export const SET_ASIDE = "MESSAGE.SET_ASIDE" satisfies MessageCode;

/** The tries of one kind of work. */
export class Tries {
  readonly #spool: Pick<Spool, "call">;
  readonly #work: Work;
  #alone: Promise<unknown> = Promise.resolve();

  constructor(spool: Pick<Spool, "call">, work: Work) {
    this.#spool = spool;
    this.#work = work;
  }

  /** Marks a try. @returns false if the item is set aside: its last tries had no end @throws StorageError */
  begin(item: string): Promise<boolean> {
    return this.#spool.call("beginTry", this.#work, item, TRIES_MAX[this.#work]);
  }

  /** Removes the marks of a finished item, for any outcome. */
  end(item: string): void {
    this.#spool.call("endTries", this.#work, item).catch(() => undefined); // a mark that stays harms nobody
  }

  /**
   * Runs the work on an item. Items that were worked on when the agent ended come one by one, because only one of them is the cause.
   * @returns null if the item is set aside; call end() once that is stored
   * @throws StorageError, and what the work throws
   */
  async run<Result>(item: string, work: () => Promise<Result>): Promise<Result | null> {
    const isSuspect = await this.#spool.call("hasTries", this.#work, item);
    if (!isSuspect) return this.#run(item, work);
    const turn = this.#alone.then(() => this.#run(item, work));
    this.#alone = turn.catch(() => undefined);
    return turn;
  }

  async #run<Result>(item: string, work: () => Promise<Result>): Promise<Result | null> {
    if (!(await this.begin(item))) return null;
    try {
      return await work();
    } finally {
      this.end(item);
    }
  }
}
