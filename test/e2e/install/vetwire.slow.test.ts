import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { platformPlaces } from "../../../shared/platform/cli/places.ts";
import { ROOT, temporaryFolder } from "../../support/machine/processes.ts";
import { socat } from "../../support/machine/pty.ts";

// Goal: the command works from the built package, without the sources. Method: the test packs and unpacks the package, links the
// command as npm does, and runs it from another folder.

const CLINIC = "clinic_01K9TEST000000000000000C01";

let folder: string;
let here: string;
let vetwire: string;
let version: string;

beforeAll(() => {
  folder = fs.realpathSync(temporaryFolder());
  const [packed] = JSON.parse(
    execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  ) as { filename: string }[];
  execFileSync("tar", ["-xzf", path.join(folder, packed?.filename ?? ""), "-C", folder]);
  const installed = path.join(folder, "package");
  fs.symlinkSync(path.join(ROOT, "node_modules"), path.join(installed, "node_modules"));
  const described = JSON.parse(fs.readFileSync(path.join(installed, "package.json"), "utf8")) as {
    bin: { vetwire: string };
    version: string;
  };
  ({ version } = described);
  const program = path.join(installed, described.bin.vetwire);
  fs.chmodSync(program, 0o755);
  vetwire = path.join(folder, "bin/vetwire");
  fs.mkdirSync(path.dirname(vetwire));
  fs.symlinkSync(program, vetwire);
  here = path.join(folder, "here");
  fs.mkdirSync(here);
  fs.writeFileSync(path.join(here, "clinic.ndjson"), `{"type":"clinic","fp":"${CLINIC}","name":"Test clinic"}\n`);
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

function run(...args: readonly string[]): { code: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(vetwire, args, {
    cwd: here,
    encoding: "utf8",
    env: { ...process.env, HOME: folder, TZ: "Europe/Istanbul" },
  });
  return { code: status, stdout, stderr };
}

describe("the installed command vetwire", () => {
  test("every program prints the version, and is reached by its name", () => {
    for (const words of [[], ["agent"], ["server"]]) {
      for (const option of ["--version", "-V"])
        expect(run(...words, option)).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    }
    expect(run("help", "server", "keys", "list").stdout).toBe(run("server", "keys", "list", "--help").stdout);
    expect(run("doctor", "--help").stdout).toBe(run("agent", "doctor", "--help").stdout);
    expect(run("agent", "statsu")).toEqual({
      code: 1,
      stdout: "",
      stderr: "error: unknown command 'statsu'\n(Did you mean status?)\nAdd --help for the commands.\n",
    });
  });

  test("without files of the folder the programs use the places of the platform, and their help names them", () => {
    const { config, data } = platformPlaces(process.platform, { HOME: folder }, process.getuid?.() === 0);
    expect(run("agent", "check")).toEqual({
      code: 78,
      stdout: "",
      stderr: `${config}: no such file, expected the agent's configuration here or by --config\n`,
    });
    const [page, unfolded] = [
      run("agent", "check", "--help").stdout,
      run("server", "unmatched", "list", "--help").stdout,
    ];
    expect(page.replaceAll(/\s+/g, " ")).toContain(`(default: "${config}")`);
    expect(unfolded.replaceAll(/\s+/g, " ")).toContain(`(default: "${data}")`);
    expect(run("server", "unmatched", "list").stderr).toContain(`there is no database in ${data}`);
  });

  test("a file or folder of the current folder comes first", () => {
    fs.mkdirSync(path.join(here, "data/server"), { recursive: true });
    expect(run("server", "import", "clinic.ndjson")).toMatchObject({ code: 0 });
    expect(fs.existsSync(path.join(here, "data/server/vetwire.db"))).toBe(true);
    fs.writeFileSync(path.join(here, "agent.key"), "sk_live_test\n", { mode: 0o600 });
    fs.writeFileSync(
      path.join(here, "agent.yaml"),
      'server: { url: "http://127.0.0.1:9", keyFile: agent.key }\ndata: agent\ntimeZone: UTC\ndevices: [{ id: chem-1, profile: generic-astm, connection: { listen: "127.0.0.1:4001" } }]\n',
    );
    expect(run("agent", "check")).toMatchObject({ code: 0, stdout: "./agent.yaml is valid: 1 device\n" });
  });

  test.skipIf(!socat)("a list has a header and local times in a terminal, none of them in a pipe, and JSON", () => {
    const made = ["--name", "a test", "--permissions", "clinic.lab.view", "--expires", "90d"];
    expect(run("server", "keys", "create", "--clinic", CLINIC, ...made)).toMatchObject({ code: 0 });
    const list = ["server", "keys", "list", "--clinic", CLINIC];
    const [key] = JSON.parse(run(...list, "--json").stdout) as [{ id: string; expires_at: string }];
    const piped = run(...list).stdout;
    expect(piped).toMatch(
      new RegExp(`^${key.id}  .*  expires ${key.expires_at}  never used  clinic.lab.view  a test\n$`),
    );
    const shown = execFileSync("socat", ["-u", `EXEC:${[vetwire, ...list].join(" ")},pty,rawer`, "STDOUT"], {
      cwd: here,
      encoding: "utf8",
      env: { ...process.env, TZ: "Europe/Istanbul" },
    });
    const local = new Date(key.expires_at).toLocaleString("sv-SE", { timeZone: "Europe/Istanbul" });
    expect(shown.split("\n")).toEqual([
      expect.stringMatching(/^ID +KEY +TYPE +STATE +USE +PERMISSIONS +NAME$/) as string,
      expect.stringMatching(
        new RegExp(`^${key.id} .*  expires ${local}  never used  clinic.lab.view  a test$`),
      ) as string,
      "",
    ]);
  });
});
