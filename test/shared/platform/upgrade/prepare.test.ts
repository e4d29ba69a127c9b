import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { prepareRelease } from "../../../../shared/platform/upgrade/prepare.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

test("an upgrade takes a version that is unpacked already, a dry run checks the release again", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  fs.mkdirSync(path.join(folder, "0.2.0"));
  const fetch = () => Promise.reject(new Error("fetched"));
  const order = { program: "agent", version: "0.2.0", folder, fetch, spareBytes: 0 } as const;
  await prepareRelease(order);
  // The first step of the check is the key of the releases, which a checkout does not have.
  await expect(prepareRelease(order, false)).rejects.toThrow(/release key|fetched/);
  expect(fs.readdirSync(folder)).toEqual(["0.2.0"]);
});
