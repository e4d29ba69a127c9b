import { expect, test } from "vitest";
import { UNFILED_MAX, UnfiledMessages } from "../../../agent/connection/unfiled-messages.ts";

function overfull(): UnfiledMessages {
  const unfiled = new UnfiledMessages();
  for (let count = 0; count <= UNFILED_MAX; count++) unfiled.add();
  return unfiled;
}

test("more than 256 unfiled messages are too many", () => {
  const unfiled = overfull();
  expect(unfiled.isTooMany).toBe(true);
  unfiled.remove();
  expect(unfiled.isTooMany).toBe(false);
});

test("waiting wires resume in order, each until the count is exceeded again", () => {
  const unfiled = overfull();
  const resumed: string[] = [];
  const wire = (name: string) => () => {
    resumed.push(name);
    unfiled.add();
  };
  const [first, second] = [wire("first"), wire("second")];
  unfiled.whenFew(first);
  unfiled.whenFew(second);
  unfiled.whenFew(first);
  unfiled.remove();
  expect(resumed).toEqual(["first"]);
  unfiled.remove();
  expect(resumed).toEqual(["first", "second"]);
});

test("a wire that waits again is behind the others", () => {
  const unfiled = overfull();
  const resumed: string[] = [];
  const first = () => {
    resumed.push("first");
    unfiled.add();
    unfiled.whenFew(first);
  };
  unfiled.whenFew(first);
  unfiled.whenFew(() => resumed.push("second"));
  unfiled.remove();
  unfiled.remove();
  expect(resumed).toEqual(["first", "second", "first"]);
});
