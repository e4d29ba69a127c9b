import { expect, test } from "vitest";
import { CommitShare, UNCOMMITTED_BYTES_MAX } from "../../../agent/connection/commit-share.ts";

// Method: a share whose events the test commits one by one.

function startShare() {
  const share = new CommitShare();
  const appended: string[] = [];
  const add = (name: string, bytes: number) => share.add(bytes, () => void appended.push(name));
  return { share, appended, add };
}

test("events below the bound of uncommitted bytes are appended immediately, others in order after commits", () => {
  const { share: shared, appended, add } = startShare();
  add("a", UNCOMMITTED_BYTES_MAX - 1);
  add("b", UNCOMMITTED_BYTES_MAX);
  add("c", 1);
  add("d", 0);
  expect(appended).toEqual(["a", "b"]);
  shared.remove(UNCOMMITTED_BYTES_MAX - 1);
  expect(appended).toEqual(["a", "b"]);
  shared.remove(UNCOMMITTED_BYTES_MAX);
  expect(appended).toEqual(["a", "b", "c", "d"]);
});

test("an event longer than the bound is appended alone", () => {
  const { share: shared, appended, add } = startShare();
  add("a", 4 * UNCOMMITTED_BYTES_MAX);
  add("b", 1);
  expect(appended).toEqual(["a"]);
  shared.remove(4 * UNCOMMITTED_BYTES_MAX);
  expect(appended).toEqual(["a", "b"]);
});
