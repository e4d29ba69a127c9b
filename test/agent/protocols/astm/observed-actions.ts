import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import type { Link } from "../../../../agent/protocols/link.ts";
import { bytes, type Delivery, show } from "./wire.ts";

/** Actions of a link without its timers, which depend on the segmentation. */
export interface Said {
  readonly replies: string;
  readonly deliveries: Delivery[];
  readonly warnings: string[];
}

/** Inputs of a link in order: bytes in the notation of bytes(), refused bytes, `gap()`, `timeout()`, `close()`. */
export type Step = string | { readonly refused: string };

export function play(link: Link, ...steps: readonly Step[]): Said & { readonly timer: number | null } {
  const said = { replies: "", deliveries: [] as Delivery[], warnings: [] as string[], timer: null as number | null };
  for (const step of steps) {
    for (const action of actionsOf(link, step)) {
      if (action.do === "reply") said.replies += show(action.bytes);
      if (action.do === "deliver")
        said.deliveries.push({ message: show(action.message), incomplete: action.incomplete });
      if (action.do === "warn") said.warnings.push(action.reason);
      if (action.do === "timer") said.timer = action.ms;
    }
  }
  return said;
}

function actionsOf(link: Link, step: Step) {
  if (typeof step !== "string") return link.refuse(bytes(step.refused));
  switch (step) {
    case "gap()":
      return link.gap();
    case "timeout()":
      return link.timeout();
    case "close()":
      return link.close();
    default:
      return link.receive(bytes(step));
  }
}

/**
 * Plays streams of these pieces in any order: as one chunk, byte by byte and in random cuts. Returns a stream with different
 * actions or a link that is not idle at its end, or null.
 */
export function segmentationCounterexample(newLink: () => Link, pieces: readonly string[]): unknown {
  const stream = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }).map((some) => some.join(""));
  const saidOf = (chunks: readonly Uint8Array[]) => {
    const link = newLink();
    const actions = [...chunks.flatMap((chunk) => link.receive(chunk)), ...link.close()];
    return link.isIdle ? actions.filter((action) => action.do !== "timer") : null;
  };
  const property = fc.property(stream, fc.array(fc.nat({ max: 400 }), { maxLength: 8 }), (text, places) => {
    const whole = bytes(text);
    const edges = [0, ...places.filter((at) => at < whole.length).toSorted((one, other) => one - other), whole.length];
    const said = saidOf([whole]);
    const cuts = edges.slice(1).map((edge, index) => whole.subarray(edges[index], edge));
    const byByte = saidOf(Array.from(whole, (byte) => Uint8Array.of(byte)));
    const others = [saidOf(cuts), byByte];
    return said !== null && others.every((other) => isDeepStrictEqual(other, said));
  });
  return fc.check(property, { numRuns: 500 }).counterexample;
}

/**
 * Refuses chunks of a live link, and replaces them by gaps in a replay. Returns chunks after which the two deliver different
 * complete messages, or null.
 */
export function gapCounterexample(newLink: () => Link, pieces: readonly string[]): unknown {
  const chunks = fc.array(fc.tuple(fc.constantFrom(...pieces), fc.boolean()), { minLength: 1, maxLength: 12 });
  const completeOf = (link: Link, step: Step) =>
    play(link, step).deliveries.flatMap(({ message, incomplete }) => (incomplete === null ? [message] : []));
  const property = fc.property(chunks, (events) => {
    const live = newLink();
    const replayed = newLink();
    const delivered: string[] = [];
    const again: string[] = [];
    let gap = false;
    for (const [text, refused] of events) {
      delivered.push(...completeOf(live, refused ? { refused: text } : text));
      if (refused) {
        gap ||= !live.isIdle;
        continue;
      }
      if (gap) again.push(...completeOf(replayed, "gap()"));
      gap = false;
      again.push(...completeOf(replayed, text));
    }
    return isDeepStrictEqual(again, delivered);
  });
  return fc.check(property, { numRuns: 500 }).counterexample;
}
