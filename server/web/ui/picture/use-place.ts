import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { FITTED, type Place, pinched, placed, zoomed } from "./zoom.ts";

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The place of a picture on its stage, which pointers, touch and wheel change. */
export function usePlace(stage: RefObject<HTMLElement | null>) {
  const [place, setPlace] = useState<Place>(FITTED);
  const move = (change: (place: Place) => Place) =>
    setPlace((before) => {
      const size = stage.current?.getBoundingClientRect();
      return size === undefined ? before : placed(change(before), size);
    });
  useEffect(() => {
    const shown = stage.current;
    return shown === null ? undefined : listenOn(shown, move);
  }, []);
  return { place, setPlace, move, zoom: (factor: number) => move((now) => zoomed(now, factor, { x: 0, y: 0 })) };
}

/** Follows the pointers of a stage. @returns the end of it */
function listenOn(stage: HTMLElement, move: (change: (place: Place) => Place) => void): () => void {
  const fingers = new Map<number, Point>();
  const end = new AbortController();
  const { signal } = end;
  stage.addEventListener(
    "pointerdown",
    (event) => {
      stage.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, pointOf(event, stage));
    },
    { signal },
  );
  stage.addEventListener(
    "pointermove",
    (event) => {
      if (!fingers.has(event.pointerId)) return;
      const before = [...fingers.values()];
      fingers.set(event.pointerId, pointOf(event, stage));
      const after = [...fingers.values()];
      move((now) => pinched(now, before, after));
    },
    { signal },
  );
  for (const name of ["pointerup", "pointercancel"] as const) {
    stage.addEventListener(name, ({ pointerId }) => fingers.delete(pointerId), { signal });
  }
  stage.addEventListener("dblclick", () => move((now) => (now.scale === 1 ? { ...now, scale: 2 } : FITTED)), {
    signal,
  });
  const turnWheel = (event: WheelEvent) => {
    event.preventDefault();
    const at = pointOf(event, stage);
    move((now) => zoomed(now, Math.exp(-event.deltaY / 400), at));
  };
  // The page must not scroll.
  stage.addEventListener("wheel", turnWheel, { passive: false, signal });
  return () => end.abort();
}

/** The point of a pointer, from the middle of the stage. */
function pointOf({ clientX, clientY }: MouseEvent, stage: Element): Point {
  const { left, top, width, height } = stage.getBoundingClientRect();
  return { x: clientX - left - width / 2, y: clientY - top - height / 2 };
}
