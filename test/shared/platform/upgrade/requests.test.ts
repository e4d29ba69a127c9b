import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { askService, serveRequests } from "../../../../shared/platform/upgrade/requests.ts";
import type { UpgradeOrder, Upgrader } from "../../../../shared/platform/upgrade/upgrader.ts";
import { readUpgrades } from "../../../../shared/platform/upgrade/version-store.ts";
import { temporaryFolder, until } from "../../../support/machine/processes.ts";

// `vetwire upgrade` and the service, without the processes around them.

/** The user `nobody`, as the user of a service. */
const SERVICE = 65_534;
const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write("requests of root are not tested: the tests run as another user\n");

interface Place {
  readonly root: string;
  /** The versions folder of a service. */
  readonly folder: string;
  /** A release with its signature. */
  readonly archive: string;
}

function place(): Place {
  const root = temporaryFolder();
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  const [folder, archive] = [path.join(root, "state/versions"), path.join(root, "release.tar.gz")];
  fs.mkdirSync(folder, { recursive: true });
  for (const file of [archive, `${archive}.minisig`]) fs.writeFileSync(file, path.basename(file), { mode: 0o600 });
  return { root, folder, archive };
}

/** Returns all files of a folder, with their owners. */
function filesOf(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.map((name) => `${name} ${fs.lstatSync(path.join(folder, name)).uid}`).toSorted();
}

function giveTo(uid: number, ...files: readonly string[]): void {
  for (const file of files) fs.lchownSync(file, uid, uid);
}

describe("a request to a service", () => {
  test("is refused for a folder that is a link", () => {
    const { root, folder, archive } = place();
    const valued = path.join(root, "valued");
    fs.mkdirSync(path.join(valued, "incoming"), { recursive: true });
    fs.writeFileSync(path.join(valued, "incoming/kept"), "x");
    fs.rmSync(folder, { recursive: true });
    fs.symlinkSync(valued, folder);
    expect(() => askService(folder, "0.2.0", archive, false)).toThrow("is not a folder");
    expect(() => askService(`${folder}/`, "0.2.0", archive, false)).toThrow("is not a folder");
    expect(fs.readFileSync(path.join(valued, "incoming/kept"), "utf8")).toBe("x");
    expect(fs.readdirSync(valued)).toEqual(["incoming"]);
  });

  test.runIf(isRoot)("of root has the rights of the service alone, in a folder that others cannot reach", () => {
    const { root, folder, archive } = place();
    const before = [process.cwd(), process.geteuid?.(), process.getegid?.(), process.getgroups?.()];
    expect(fs.statSync(root).mode & 0o777).toBe(0o700);
    giveTo(SERVICE, path.dirname(folder), folder);
    const request = askService(folder, "0.2.0", archive, false);
    const owned = filesOf(folder);
    expect(owned.length).toBe(4);
    expect(owned.filter((line) => !line.endsWith(` ${SERVICE}`))).toEqual([]);
    expect(request.withdraw()).toBe(true);
    expect(filesOf(folder)).toEqual([]);
    // The service cannot write where its link leads.
    const valued = path.join(root, "valued");
    fs.mkdirSync(valued);
    fs.writeFileSync(path.join(valued, "kept"), "x");
    for (const name of ["request.json.part", "request.json"])
      fs.symlinkSync(path.join(valued, "kept"), path.join(folder, name));
    expect(() => askService(folder, "0.2.0", archive, false)).toThrow("another request waits");
    fs.rmSync(path.join(folder, "request.json"));
    askService(folder, "0.2.0", archive, false);
    expect(filesOf(valued)).toEqual(["kept 0"]);
    expect(fs.readFileSync(path.join(valued, "kept"), "utf8")).toBe("x");
    giveTo(0, path.dirname(folder));
    expect(() => askService(folder, "0.2.0", archive, false)).toThrow("another owner than the folder around it");
    expect([process.cwd(), process.geteuid?.(), process.getegid?.(), process.getgroups?.()]).toEqual(before);
  });
});

/** A service that looks for requests now, and upgrades by `upgrade`. @returns the next look */
function serve(folder: string, upgrade: Upgrader["upgrade"]): () => void {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  serveRequests(folder, { upgrade }, { fetch: () => Promise.reject(new Error("no source")), wanted: () => null });
  return () => void vi.advanceTimersByTime(1_000);
}

test("an invalid version reaches no upgrade and no record", async () => {
  const { folder } = place();
  const orders: UpgradeOrder[] = [];
  const look = serve(folder, (order) => Promise.resolve(void orders.push(order)));
  const request = askService(folder, "0".repeat(5_000), null, false);
  look();
  const answer = await until("an answer", () => request.answer());
  expect(answer.is).toBe("refused");
  expect(answer.sentences).toEqual([`${"0".repeat(64)} is not a version: name three numbers, such as 0.2.0`]);
  expect(orders).toEqual([]);
});

test("two requests, each with its release, are carried out one after the other", async () => {
  const { folder, archive } = place();
  fs.mkdirSync(path.join(folder, "incoming-1-1"));
  const draft = path.join(folder, "draft");
  const started: string[] = [];
  let goOn: () => void = () => undefined;
  const look = serve(folder, async ({ version, fetch }) => {
    started.push(version);
    await new Promise<void>((resolve) => (goOn = resolve));
    await fetch(path.basename(archive), draft, 1_000);
  });
  const first = askService(folder, "0.2.0", archive, false);
  expect(() => askService(folder, "0.3.0", archive, false)).toThrow("another request waits");
  look();
  // A process sends one request in a millisecond: the time is in the name of its request.
  await new Promise((resolve) => setTimeout(resolve, 5));
  const second = askService(folder, "0.3.0", archive, false);
  look();
  expect([started, second.answer(), first.withdraw()]).toEqual([["0.2.0"], null, false]);
  goOn();
  await until("the first ends", () => first.answer()?.is === "done");
  await until("the second starts", () => {
    look();
    return started.length === 2;
  });
  goOn();
  await until("the second ends", () => second.answer()?.is === "done");
  await until("no release is left", () => fs.readdirSync(folder).toSorted().join() === "answer.json,draft");
});

test("a release that cannot be removed ends no service", async () => {
  const { folder, archive } = place();
  const look = serve(folder, () => Promise.resolve());
  const remove = vi.spyOn(fs.promises, "rm").mockRejectedValue(new Error("EBUSY: resource busy or locked"));
  onTestFinished(() => remove.mockRestore());
  const request = askService(folder, "0.2.0", archive, false);
  look();
  expect((await until("an answer", () => request.answer())).is).toBe("done");
});

test("a pipe, a device, a link or a huge file in the place of a list is not read as a list", () => {
  const { root, folder } = place();
  const [file, list] = [path.join(folder, "upgrades.json"), path.join(root, "list.json")];
  fs.writeFileSync(list, '["one"]');
  fs.copyFileSync(list, file);
  expect(readUpgrades(folder)).toEqual(["one"]);
  fs.appendFileSync(file, " ".repeat(2 * 1024 ** 2));
  expect(readUpgrades(folder)).toEqual([]);
  for (const target of [list, "/dev/zero"]) {
    fs.rmSync(file);
    fs.symlinkSync(target, file);
    expect(readUpgrades(folder)).toEqual([]);
  }
  fs.rmSync(file);
  execFileSync("mkfifo", [file]);
  expect(readUpgrades(folder)).toEqual([]);
});
