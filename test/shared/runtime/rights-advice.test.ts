import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { portAdvice, rightsAdvice, type Who } from "../../../shared/runtime/rights-advice.ts";
import { temporaryFolder } from "../../support/processes.ts";

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

describe("a refusal of the system's rights says who, where, and the command", () => {
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
      "root may not use PLACE, as on a share, for a locked file or behind a link: look at its owner and attributes (ls -ld PLACE; lsattr -d PLACE), or use another folder",
    ],
  ] as const)("%s", (_, name, who, expected) => {
    const place = path.join(root, name);
    const words = expected.replaceAll("PLACE", place).replaceAll("ROOT", root);
    for (const code of ["EACCES", "EPERM"]) {
      expect(rightsAdvice(failed(code, place), null, { ...SERVICE, ...who })).toBe(words);
      expect(rightsAdvice(failed(code), place, { ...SERVICE, ...who })).toBe(words);
    }
  });

  test("a person is not told to take a file from the service", () => {
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

// Root may do everything, so the programs run as another user.
const OTHER = 64_999;

describe.runIf(process.geteuid?.() === 0)(
  "a program that another user starts says who may not use what, and how to mend it",
  () => {
    const run = (program: string, ...args: readonly string[]) => {
      const options = { uid: OTHER, gid: OTHER, encoding: "utf8", timeout: 60_000, cwd: "/" } as const;
      const { stderr, status } = spawnSync(process.execPath, [path.resolve(`${program}/main.ts`), ...args], options);
      return { text: stderr.replaceAll(/^.*Warning.*\n/gm, "").trim(), status };
    };
    /** A folder that everybody may enter, with an agent.yaml that everybody may read. */
    const world = () => {
      // The folder of all tests is closed to other users.
      const folder = fs.mkdtempSync("/tmp/vetwire-rights-");
      fs.chmodSync(folder, 0o755);
      const file = path.join(folder, "agent.yaml");
      fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o644 });
      const server = { url: "http://127.0.0.1:9", keyFile: "agent.key" };
      fs.writeFileSync(file, JSON.stringify({ server, data: "data", timeZone: "UTC", devices: [] }), { mode: 0o644 });
      return { folder, file, remove: () => fs.rmSync(folder, { recursive: true }) };
    };
    const refused = (place: string) =>
      new RegExp(`the user \\S+ may not use ${place}: .* sudo chown (-R )?\\S+ ${place}$`);

    test("the agent: configuration, key, data folder, lock, database", () => {
      const { folder, file, remove } = world();
      const data = path.join(folder, "data");
      const agent = () => run("agent", "run", "--config", file).text;
      fs.mkdirSync(data, { mode: 0o700 });
      expect(agent()).toMatch(
        new RegExp(
          `the user \\S+ may not enter ${data}, and so not use ${data}/\\w+.db: .* sudo chown -R \\S+ ${data}$`,
        ),
      );
      fs.chownSync(data, OTHER, OTHER);
      for (const name of ["lock.db", "spool.db"]) {
        const planted = path.join(data, name);
        fs.writeFileSync(planted, "", { mode: 0o600 });
        expect(agent()).toMatch(refused(planted));
        fs.rmSync(planted);
      }
      fs.chmodSync(path.join(folder, "agent.key"), 0o600);
      expect(run("agent", "check", "--config", file).text).toMatch(
        /server\.keyFile names \S+, which cannot be read: the user \S+ may not use \S+agent\.key: .* sudo chown \S+ \S+agent\.key\n/,
      );
      fs.chmodSync(file, 0o600);
      expect(agent()).toMatch(refused(file));
      remove();
    }, 60_000);

    test("the server: data folder, database, pepper, keys, port", () => {
      const { folder, remove } = world();
      const data = path.join(folder, "data");
      const server = (...args: readonly string[]) => run("server", "run", "--port", "0", "--data", data, ...args).text;
      expect(server()).toMatch(
        new RegExp(
          `the user \\S+ may not use ${data}: .* sudo install -d -o \\S+ -m 700 |may not use ${data}: .* sudo chown -R \\S+ ${folder}`,
        ),
      );
      fs.mkdirSync(data, { mode: 0o700 });
      fs.chownSync(data, OTHER, OTHER);
      for (const name of ["running.db", "vetwire.db"]) {
        const planted = path.join(data, name);
        fs.writeFileSync(planted, "", { mode: 0o600 });
        expect(server()).toMatch(refused(planted));
        fs.rmSync(planted);
      }
      const key = path.join(folder, "tls.key");
      fs.writeFileSync(key, "", { mode: 0o600 });
      expect(server("--tls-cert", key, "--tls-key", key)).toMatch(refused(key));
      expect(
        run("server", "keys", "list", "--clinic", "clinic_01K9DEM0000000000000C00001", "--data", data).status,
      ).not.toBe(0);
      remove();
    }, 120_000);
  },
);
