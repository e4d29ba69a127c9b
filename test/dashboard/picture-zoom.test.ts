import { expect, test } from "vitest";
import { FITTED, filterOf, pinched, placed, zoomed } from "../../server/web/ui/picture/zoom.ts";

const STAGE = { width: 400, height: 200 };

test("a zoom keeps the point under the pointer, and ends at its limits", () => {
  const place = zoomed(FITTED, 2, { x: 100, y: -50 });
  expect(place).toEqual({ x: -100, y: 50, scale: 2 });
  // The point of the picture at (100, -50) was shown there before.
  expect([(100 - place.x) / place.scale, (-50 - place.y) / place.scale]).toEqual([100, -50]);
  expect(zoomed(FITTED, 0.5, { x: 9, y: 9 }).scale).toBe(1);
  expect(zoomed(FITTED, 99, { x: 0, y: 0 }).scale).toBe(10);
});

test("a moved picture never leaves its stage empty", () => {
  expect(placed({ x: 50, y: 50, scale: 1 }, STAGE)).toEqual({ x: 0, y: 0, scale: 1 });
  expect(placed({ x: 900, y: -900, scale: 2 }, STAGE)).toEqual({ x: 200, y: -100, scale: 2 });
});

test("one finger moves the picture, two also change its size", () => {
  const start = { x: 0, y: 0, scale: 2 };
  expect(pinched(start, [{ x: 0, y: 0 }], [{ x: 30, y: 10 }])).toEqual({ x: 30, y: 10, scale: 2 });
  const [before, after] = [
    [
      { x: -50, y: 0 },
      { x: 50, y: 0 },
    ],
    [
      { x: -75, y: 0 },
      { x: 75, y: 0 },
    ],
  ];
  expect(pinched(start, before, after)).toEqual({ x: 0, y: 0, scale: 3 });
});

test("the picture as sent has no filter", () => {
  expect(filterOf({ brightness: 100, contrast: 100 })).toBe("");
  expect(filterOf({ brightness: 150, contrast: 80 })).toBe("brightness(150%) contrast(80%)");
});
