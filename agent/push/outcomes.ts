import { SendError } from "../runtime/send-error.ts";

// The server's outcomes for the items of a request, and the failures that one item may cause.

const OK = 200;

/** Statuses that a server, or a proxy that looks into bodies, may give to one body and not to another. None is a verdict about an item. */
const STATUSES_OF_ONE = [400, 403, 406, 413, 422, 500];

/** Returns whether one item of a request may be the cause of its failure. */
export function isPerhapsOfOne({ kind, status }: SendError): boolean {
  return kind === "uncertain" && status !== null && STATUSES_OF_ONE.includes(status);
}

/** The connection ended, or no response came in time: the request may have ended the server. */
export function isUnanswered({ kind, status }: SendError): boolean {
  return kind === "uncertain" && status === null;
}

/**
 * Returns the outcomes of a response; null are those of an invalid one. `what` names the items in the plural.
 * @throws SendError unless each item has an outcome, in order
 */
export function inOrder<One, Item>(
  outcomes: readonly One[] | null,
  items: readonly Item[],
  isOf: (outcome: One, item: Item) => boolean,
  what: string,
): readonly One[] {
  if (outcomes === null) {
    throw new SendError("uncertain", "invalid response: expected a list of outcomes", { status: OK });
  }
  if (outcomes.length !== items.length || !outcomes.every((outcome, index) => isOf(outcome, items[index]!))) {
    const expected = `expected ${items.length} in order`;
    throw new SendError("uncertain", `the server responded for ${outcomes.length} ${what}, ${expected}`, {
      status: OK,
    });
  }
  return outcomes;
}
