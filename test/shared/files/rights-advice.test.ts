import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { portAdvice, rightsAdvice, type Who } from "../../../shared/files/rights-advice.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

const SERVICE: Who = { user: "vetwire", isRoot: false, platform: "linux", isUnit: true };
const PERSON: Who = { ...SERVICE, user: "ayse", isUnit: false };
const failed = (code: string, file?: string) =>
  Object.assign(new Error(code), { code, ...(file !== undefined && { path: file }) });
const deep = "/no/such/place/of/ours/agent";

let root: string;

beforeAll(() => {
  root = temporaryFolder();
  fs.writeFileSync(path.join(root, "agent.key"), "");
  fs.mkdirSync(path.join(root, "it's data"));
});

afterAll(() => fs.rmSync(root, { recursive: true }));

describe("a refusal of the system's rights names user, path and command", () => {
  test.each([
    ["a file", "agent.key", {}, "the user vetwire may not use PLACE: sudo chown vetwire PLACE"],
    [
      "a folder",
      "it's data",
      {},
      String.raw`the user vetwire may not use PLACE: sudo chown -R vetwire 'ROOT/it'\''s data'`,
    ],
    ["a new file", "sub/new", {}, "the user vetwire may not use PLACE: sudo chown -R vetwire ROOT"],
    [
      "Windows, a file",
      "agent.key",
      { platform: "win32" },
      'the user vetwire may not use PLACE: icacls "PLACE" /grant "vetwire:M"',
    ],
    [
      "Windows, a folder",
      "",
      { platform: "win32" },
      'the user vetwire may not use PLACE: icacls "PLACE" /grant "vetwire:(OI)(CI)M"',
    ],
    [
      "root",
      "agent.key",
      { isRoot: true },
      "root may not use PLACE, as on a share, for a locked file or through a link: look at its owner and attributes (ls -ld PLACE; lsattr -d PLACE), or use another folder",
    ],
  ] as const)("%s", (_, name, who, expected) => {
    const place = path.join(root, name);
    const words = expected.replaceAll("PLACE", place).replaceAll("ROOT", root);
    for (const code of ["EACCES", "EPERM"]) {
      expect(rightsAdvice(failed(code, place), null, { ...SERVICE, ...who })).toBe(words);
      expect(rightsAdvice(failed(code), place, { ...SERVICE, ...who })).toBe(words);
    }
  });

  test("a person is not advised to take a file from the service", () => {
    const place = path.join(root, "agent.key");
    expect(rightsAdvice(failed("EACCES", place), null, PERSON)).toBe(
      `the user ayse may not use ${place}: run this as root or as the user of the service; if ayse is that user: sudo chown ayse ${place}`,
    );
  });

  test("no service gets a folder of the system", () => {
    expect(rightsAdvice(failed("EACCES", deep), null, SERVICE)).toBe(
      `the user vetwire may not use ${deep}: sudo install -d -o vetwire -m 700 /no, and use a path in it`,
    );
    expect(rightsAdvice(failed("EACCES", "/var/vetwire.log"), null, SERVICE)).toMatch(
      /: sudo install -d -o vetwire -m 700 \/var\/vetwire, and use a path in it$/,
    );
  });

  test("a read-only disk is mounted for writing, and a unit is allowed the folder", () => {
    const error = failed("EROFS", path.join(root, "sub/new"));
    const fault = `the user vetwire may not write to ${root}/sub/new, because it is on a read-only disk`;
    expect(rightsAdvice(error, null, { ...SERVICE, isUnit: false })).toBe(
      `${fault}: sudo mount -o remount,rw "$(findmnt -n -o TARGET -T ${root})", or use another disk`,
    );
    expect(rightsAdvice(error, null, { ...SERVICE, isUnit: true })).toBe(
      `${fault}: add ReadWritePaths=${root} to the unit of the service (sudo systemctl edit), or use another folder`,
    );
  });

  test("a port below 1024 needs a right, and Windows keeps some ports", () => {
    expect(portAdvice(443, "server", SERVICE)).toBe(
      "no permission for port 443, which the user vetwire may not open: choose a port from 1024 up, or let the server use lower ones (sudo systemctl edit vetwire-server, then AmbientCapabilities=CAP_NET_BIND_SERVICE under [Service])",
    );
    expect(portAdvice(8080, "server", { ...SERVICE, platform: "win32" })).toMatch(
      /^Windows keeps port 8080 for itself: choose another port/,
    );
  });

  test("another error has nothing to do with rights", () => {
    for (const error of [
      failed("ENOENT", root),
      failed("EACCES"),
      new Error("EACCES"),
      "EACCES",
      failed("SQLITE_BUSY", root),
    ]) {
      expect(rightsAdvice(error, null, SERVICE)).toBe(null);
    }
  });
});
