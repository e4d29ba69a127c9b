import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Config } from "../../../agent/config/values/schema.ts";
import { lookAtFolder } from "../../../agent/setup/folder.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

/** The configuration of an agent whose data and whose one watched folder these are. */
function configuration(data: string, watched: string): Config {
  return {
    data,
    devices: [{ id: "lab-1", profile: "idexx-interlink", connection: { folder: watched } }],
  } as unknown as Config;
}

test("a folder that cannot be watched is refused with its code, and no file of it is read", async () => {
  const root = temporaryFolder();
  const inside = (name: string) => path.join(root, name);
  for (const name of ["data", "data/inner", "watched", "free"]) fs.mkdirSync(inside(name));
  fs.writeFileSync(inside("a.csv"), "Test Name;Result\n");
  fs.symlinkSync(inside("data"), inside("link"));
  const config = configuration(inside("data"), inside("watched"));
  const look = async (folder: string) =>
    (await lookAtFolder({ kind: "folder", path: folder, leave: true }, config)).problem;
  expect(await look("free")).toBe("relative");
  expect(await look(inside("none"))).toBe("missing");
  expect(await look(inside("a.csv"))).toBe("noFolder");
  for (const own of ["data", "data/inner", "link", ""]) expect([own, await look(inside(own))]).toEqual([own, "data"]);
  expect(await look(inside("watched"))).toBe("taken");
  expect(await look(inside("free"))).toBeNull();
});

test("many other files do not hide those of the device, and one that goes meanwhile is passed over", async () => {
  const folder = temporaryFolder();
  fs.copyFileSync("fixtures/wondfo-finecare-csv/history.csv", path.join(folder, "history.csv"));
  fs.utimesSync(path.join(folder, "history.csv"), 1, 1);
  for (let number = 0; number < 25; number += 1) fs.writeFileSync(path.join(folder, `${number}.jpg`), "");
  const read = fs.readFileSync;
  fs.writeFileSync(path.join(folder, "locked.csv"), "");
  vi.spyOn(fs, "readFileSync").mockImplementation((...args) => {
    if (String(args[0]).endsWith("locked.csv")) throw new Error("EBUSY: resource busy or locked");
    return read(...args);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const { found } = await lookAtFolder({ kind: "folder", path: folder, leave: false }, null);
  expect(found[0]).toMatchObject({ profile: "wondfo-finecare-csv", files: 1, read: 1 });
});

test("the profile that reads the files is first", async () => {
  const folder = temporaryFolder();
  fs.copyFileSync("fixtures/wondfo-finecare-csv/history.csv", path.join(folder, "history.csv"));
  const { found } = await lookAtFolder({ kind: "folder", path: folder, leave: false }, null);
  expect(found[0]).toMatchObject({ profile: "wondfo-finecare-csv", files: 1, read: 1, problem: null });
  expect(found.filter(({ read }) => read > 0)).toHaveLength(1);
});
