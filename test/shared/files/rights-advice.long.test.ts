import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

// Root may do everything, so the programs run as another user.
const OTHER = 64_999;

describe.runIf(process.geteuid?.() === 0)(
  "a program that another user starts reports who may not use what, and the remedy",
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
        /server\.keyFile names \S+, which cannot be used: the user \S+ may not use \S+agent\.key: .* sudo chown \S+ \S+agent\.key\n/,
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
