import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withNewStore, withStore } from "../../../server/cli/with-store.ts";
import { openStore } from "../../../server/store/database/open.ts";
import { STAGING } from "../../../shared/care/restore-steps.ts";
import { lockFolder } from "../../../shared/runtime/folder-lock.ts";
import { temporaryFolder } from "../../support/processes.ts";

test("a command waits for a running restore, and settles one that was killed", async () => {
  const data = temporaryFolder();
  onTestFinished(() => fs.rmSync(data, { recursive: true }));
  await (await openStore(data)).close();
  fs.mkdirSync(path.join(data, STAGING));
  const ran: string[] = [];
  const command = () =>
    withStore(data, async () => {
      ran.push("command");
    });
  const end = lockFolder(data, "held");
  await expect(command()).rejects.toThrow("a restore or another server is running");
  expect(ran).toEqual([]);
  end();
  await command();
  expect([ran, fs.existsSync(path.join(data, STAGING))]).toEqual([["command"], false]);
});

test("no restore begins beside a command, and two commands run beside each other and a server", async () => {
  const data = temporaryFolder();
  onTestFinished(() => fs.rmSync(data, { recursive: true }));
  const restores = () => lockFolder(data, "held")();
  const server = lockFolder(data, "held", "shared");
  await withNewStore(data, () => withStore(data, async () => expect(restores).toThrow("held")));
  server();
  await withStore(data, async () => expect(restores).toThrow("held"));
  restores();
  const missing = path.join(data, "none");
  await expect(withStore(missing, async () => undefined)).rejects.toThrow(missing);
  expect(fs.existsSync(missing)).toBe(false);
});
