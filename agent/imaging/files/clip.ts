import { CLIP_FRAMES_MAX } from "../../../shared/api/agent/preview.ts";
import { frameBytes } from "./png.ts";

// The frames of a clip that its small picture for the server holds.

/** Max pixels of a side, in turn. The smaller one is taken if few larger frames fit. */
const SIDES = [512, 256];
/** Larger frames than this many are not made smaller. */
const ENOUGH = 8;

/**
 * Draws frames that are spread over a clip, as many as fit into `bytesMax`. A frame without a picture is left out.
 * @returns none if fewer than two fit
 */
export async function clipFrames(
  total: number,
  bytesMax: number,
  draw: (frame: number, sideMax: number) => Promise<Uint8Array | null>,
): Promise<Uint8Array[]> {
  const wanted = evenly(total, CLIP_FRAMES_MAX).map((index) => index + 1);
  let fitting: Uint8Array[] = [];
  for (const side of SIDES) {
    const drawn: Uint8Array[] = [];
    for (const frame of wanted) {
      const png = await draw(frame, side);
      if (png !== null) drawn.push(png);
    }
    const largest = Math.max(1, ...drawn.map(frameBytes));
    fitting = spread(drawn, Math.floor(bytesMax / largest));
    if (fitting.length >= Math.min(drawn.length, ENOUGH)) break;
  }
  return fitting.length < 2 ? [] : fitting;
}

/** Picks at most `max` items at even distances, the first one included. */
function spread<Item>(items: readonly Item[], max: number): Item[] {
  return evenly(items.length, max).map((index) => items[index]!);
}

/** The indexes of at most `max` of `total` items. No list has `total` items, because a broken header may claim billions of frames. */
function evenly(total: number, max: number): number[] {
  const count = Math.min(total, max);
  return Array.from({ length: count }, (_, index) => Math.floor((index * total) / count));
}
