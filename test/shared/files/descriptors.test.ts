import { expect, test } from "vitest";
import { connectionShare, descriptorLimit, lackOfDescriptors } from "../../../shared/files/descriptors.ts";

test.each([
  { limit: null, listeners: 7, share: 32 },
  { limit: 524_288, listeners: 7, share: 32 },
  { limit: 1_024, listeners: 7, share: 32 },
  { limit: 128, listeners: 6, share: 4 },
  { limit: 128, listeners: 32, share: 1 },
  { limit: 64, listeners: 6, share: 1 },
])("a listener of $listeners under a limit of $limit has $share connections", ({ limit, listeners, share }) => {
  expect(connectionShare(listeners, 32, limit)).toBe(share);
});

test.runIf(process.platform === "linux")("the limit of this process is known", () => {
  expect(descriptorLimit()).toBeGreaterThanOrEqual(128);
});

test("a low limit of open files is reported with its remedy", () => {
  expect(lackOfDescriptors(6, 32, 128)).toEqual({
    fault: "this process may have 128 open files, which leaves each listener 4 connections",
    remedy: "raise ulimit -n, or LimitNOFILE of the service",
  });
});

test.each([null, 1_024])("a limit of %s is enough for five devices", (limit) => {
  expect(lackOfDescriptors(6, 32, limit)).toBeNull();
});
