import { expect, test } from "vitest";
import { DeviceBound, UNFILED_MAX } from "../../../../agent/connection/device/device-bound.ts";

function overfull(): DeviceBound {
  const unfiled = new DeviceBound(UNFILED_MAX);
  for (let count = 0; count <= UNFILED_MAX; count++) unfiled.add(1);
  return unfiled;
}

test("more than 256 unfiled messages are too many", () => {
  const unfiled = overfull();
  expect(unfiled.isExceeded).toBe(true);
  unfiled.remove(1);
  expect(unfiled.isExceeded).toBe(false);
});

test("waiting wires resume in order, each until the count is exceeded again", () => {
  const unfiled = overfull();
  const resumed: string[] = [];
  const wire = (name: string) => () => {
    resumed.push(name);
    unfiled.add(1);
  };
  const [first, second] = [wire("first"), wire("second")];
  unfiled.whenWithin(first);
  unfiled.whenWithin(second);
  unfiled.whenWithin(first);
  unfiled.remove(1);
  expect(resumed).toEqual(["first"]);
  unfiled.remove(1);
  expect(resumed).toEqual(["first", "second"]);
});

test("a wire that waits again is last", () => {
  const unfiled = overfull();
  const resumed: string[] = [];
  const first = () => {
    resumed.push("first");
    unfiled.add(1);
    unfiled.whenWithin(first);
  };
  unfiled.whenWithin(first);
  unfiled.whenWithin(() => resumed.push("second"));
  unfiled.remove(1);
  unfiled.remove(1);
  expect(resumed).toEqual(["first", "second", "first"]);
});
