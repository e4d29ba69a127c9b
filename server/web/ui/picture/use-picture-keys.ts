import { useEffect, useRef } from "preact/hooks";
import type { Frames, Turn } from "./shown-picture.ts";
import { type Place, STEP } from "./zoom.ts";

/** Pixels by which a key moves the picture. */
const KEY_PIXELS = 60;

const MOVES: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [KEY_PIXELS, 0],
  ArrowRight: [-KEY_PIXELS, 0],
  ArrowUp: [0, KEY_PIXELS],
  ArrowDown: [0, -KEY_PIXELS],
};

interface Actions {
  readonly frames: Frames | null;
  readonly turn: Turn | null;
  readonly move: (change: (place: Place) => Place) => void;
  readonly zoom: (factor: number) => void;
  readonly reset: () => void;
  readonly toggleFull: () => void;
  readonly play: () => void;
}

/** Runs the keys of a picture while it is shown. A slider keeps the arrows, a button the space bar. */
export function usePictureKeys(actions: Actions): void {
  // A key right after a drawing already means what it shows.
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (isTaken(event)) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const act = moveOf(event, current.current) ?? keysOf(current.current)[key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}

function keysOf({ frames, turn, zoom, reset, toggleFull, play }: Actions): Record<string, (() => void) | undefined> {
  const step = (by: number) => (frames === null ? turn?.by(by) : frames.turn(by));
  return {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    PageUp: () => turn?.by(-1),
    PageDown: () => turn?.by(1),
    "+": () => zoom(STEP),
    "=": () => zoom(STEP),
    "-": () => zoom(1 / STEP),
    0: reset,
    f: toggleFull,
    ...(frames !== null && { " ": play }),
  };
}

/** Up and down always move the picture, left and right with Shift. */
function moveOf({ key, shiftKey }: KeyboardEvent, { move }: Actions): (() => void) | undefined {
  const by = shiftKey || key === "ArrowUp" || key === "ArrowDown" ? MOVES[key] : undefined;
  return by && (() => move(({ x, y, scale }) => ({ x: x + by[0], y: y + by[1], scale })));
}

function isTaken({ key, target, ctrlKey, altKey, metaKey }: KeyboardEvent): boolean {
  if (ctrlKey || altKey || metaKey) return true;
  if (!(target instanceof Element)) return false;
  return target.matches("input") || (key === " " && target.closest("button, a") !== null);
}
