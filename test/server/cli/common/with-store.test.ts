import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { storeLocation, withNewStore, withStore } from "../../../../server/cli/common/with-store.ts";
import { openStore } from "../../../../server/database/open.ts";
import { STAGING } from "../../../../shared/platform/care/restore-steps.ts";
import { lockFolder } from "../../../../shared/files/folder-lock.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

test("a command waits for a running restore, and settles a killed one", async () => {
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

test("no restore starts during a command, and two commands run simultaneously, also with a server", async () => {
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

test("a command for the data of the service works on the database of the service, unless DATABASE_URL is set", () => {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("DATABASE_URL", undefined);
  const service = { data: path.join(folder, "server"), variables: path.join(folder, "vetwire-server") };
  const location = (text: string) => {
    fs.writeFileSync(service.variables, text);
    return storeLocation(service.data, service);
  };
  expect(storeLocation(service.data, service)).toBe(service.data);
  expect(location('#DATABASE_URL=postgres://a/b\nRUN_OPTIONS="--port 1"\nOLD_DATABASE_URL=postgres://a/b\n')).toBe(
    service.data,
  );
  const url = "postgres://vetwire:$(id)%5C'x@127.0.0.1/vetwire";
  expect(location(`DATABASE_URL=postgres://a/b\n  DATABASE_URL = ${url} \r\nLOG_LEVEL=warn\n`)).toBe(url);
  expect(location(`DATABASE_URL="${url.replace("$", "\\$")}"`)).toBe(url);
  expect(location("DATABASE_URL='postgres://a:\\b@c/d'")).toBe("postgres://a:\\b@c/d");
  expect(() => location("DATABASE_URL=mysql://a/b")).toThrow("invalid DATABASE_URL");
  location(`DATABASE_URL=${url}`);
  expect(storeLocation(path.join(folder, "other"), service)).toBe(path.join(folder, "other"));
  vi.stubEnv("DATABASE_URL", "postgres://own/one");
  expect(storeLocation(service.data, service)).toBe("postgres://own/one");
});

test("a command that fails leaves nothing in a folder without a database, nor the folder that it made", async () => {
  const root = temporaryFolder();
  onTestFinished(() => fs.rmSync(root, { recursive: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("DATABASE_URL", undefined);
  const used = path.join(root, "notes");
  fs.mkdirSync(used);
  fs.writeFileSync(path.join(used, "a.txt"), "");
  const fails = () => Promise.reject(new Error("the work failed"));
  await expect(withStore(used, fails)).rejects.toThrow("there is no database");
  await expect(withNewStore(used, fails)).rejects.toThrow("the work failed");
  expect(fs.readdirSync(used)).toEqual(["a.txt"]);
  await expect(withNewStore(path.join(root, "new", "server"), fails)).rejects.toThrow("the work failed");
  expect(fs.readdirSync(root)).toEqual(["notes"]);
  // Another program that uses the new database meanwhile keeps it.
  const data = path.join(root, "other");
  const others: (() => void)[] = [];
  const work = () => {
    others.push(lockFolder(data, "held", "shared"));
    return fails();
  };
  await expect(withNewStore(data, work)).rejects.toThrow("the work failed");
  expect(fs.readdirSync(data)).toContain("vetwire.db");
  for (const end of others) end();
});
