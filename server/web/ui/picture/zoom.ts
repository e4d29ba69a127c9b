// Size, place and look of a picture on its stage. Points count from the middle of the stage, in pixels.

interface Point {
  readonly x: number;
  readonly y: number;
}

/** `scale` 1 fits the picture into the stage. x and y move its middle. */
export interface Place extends Point {
  readonly scale: number;
}

/** Percent of the picture as sent. */
export interface Look {
  readonly brightness: number;
  readonly contrast: number;
}

export const FITTED: Place = { x: 0, y: 0, scale: 1 };
export const AS_SENT: Look = { brightness: 100, contrast: 100 };

/** Factor of one press of a key or button. */
export const STEP = 1.25;

const SCALE_MAX = 10;

/** Keeps a place in bounds: the stage is never left empty by a moved picture. */
export function placed({ x, y, scale }: Place, stage: { readonly width: number; readonly height: number }): Place {
  const inBounds = Math.min(Math.max(scale, 1), SCALE_MAX);
  const free = { x: (stage.width * (inBounds - 1)) / 2, y: (stage.height * (inBounds - 1)) / 2 };
  return { x: between(x, free.x), y: between(y, free.y), scale: inBounds };
}

/** Zooms so that the point `at` stays where it is. */
export function zoomed({ x, y, scale }: Place, factor: number, at: Point): Place {
  const to = Math.min(Math.max(scale * factor, 1), SCALE_MAX);
  const by = to / scale;
  return { x: at.x - (at.x - x) * by, y: at.y - (at.y - y) * by, scale: to };
}

/** Follows one finger, or the middle and the distance of two. */
export function pinched(place: Place, before: readonly Point[], after: readonly Point[]): Place {
  const [from, to] = [middle(before), middle(after)];
  const moved = { x: place.x + to.x - from.x, y: place.y + to.y - from.y, scale: place.scale };
  const [apart, now] = [distance(before), distance(after)];
  return apart === 0 || now === 0 ? moved : zoomed(moved, now / apart, to);
}

/** The CSS filter of a look; empty for the picture as sent. */
export function filterOf({ brightness, contrast }: Look): string {
  if (brightness === 100 && contrast === 100) return "";
  return `brightness(${brightness}%) contrast(${contrast}%)`;
}

function between(value: number, most: number): number {
  return Math.min(Math.max(value, -most), most);
}

function middle(points: readonly Point[]): Point {
  const [one = { x: 0, y: 0 }, other = one] = points;
  return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
}

function distance([one, other]: readonly Point[]): number {
  return one === undefined || other === undefined ? 0 : Math.hypot(one.x - other.x, one.y - other.y);
}
