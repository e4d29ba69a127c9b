import fs from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { defaultPlace, platformPlaces, statePlace } from "../../../../shared/platform/cli/places.ts";
import { ROOT, temporaryFolder } from "../../../support/machine/processes.ts";

describe("the places of a platform", () => {
  const machine = ["/etc/vetwire/agent.yaml", "/var/lib/vetwire/server"];
  const home = { HOME: "/home/ayse" };
  test.each([
    ["root on Linux", "linux", home, true, machine],
    ["a service of systemd", "linux", { HOME: "/", STATE_DIRECTORY: "/var/lib/vetwire" }, false, machine],
    ["a user without a home", "linux", {}, false, machine],
    [
      "a user on Linux",
      "linux",
      home,
      false,
      ["/home/ayse/.config/vetwire/agent.yaml", "/home/ayse/.local/state/vetwire/server"],
    ],
    [
      "a user with XDG folders",
      "linux",
      { ...home, XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" },
      false,
      ["/c/vetwire/agent.yaml", "/s/vetwire/server"],
    ],
    [
      "a user with relative XDG folders, which do not count",
      "freebsd",
      { ...home, XDG_CONFIG_HOME: "c", XDG_STATE_HOME: "" },
      false,
      ["/home/ayse/.config/vetwire/agent.yaml", "/home/ayse/.local/state/vetwire/server"],
    ],
    [
      "any user on Windows",
      "win32",
      { ProgramData: "D:\\ProgramData" },
      false,
      ["D:\\ProgramData\\Vetwire\\agent.yaml", "D:\\ProgramData\\Vetwire\\server"],
    ],
    [
      "Windows without the variable",
      "win32",
      {},
      false,
      ["C:\\ProgramData\\Vetwire\\agent.yaml", "C:\\ProgramData\\Vetwire\\server"],
    ],
  ] as const)("%s", (_, platform, env, isRoot, [config, data]) => {
    expect(platformPlaces(platform, env, isRoot)).toEqual({ config, data });
  });
});

describe("the default in force", () => {
  const enter = (folder: string) => {
    const before = process.cwd();
    process.chdir(folder);
    onTestFinished(() => process.chdir(before));
  };

  test("a checkout has its files next to itself", () => {
    enter(ROOT);
    expect([defaultPlace("config"), defaultPlace("data")]).toEqual(["./agent.yaml", "./data/server"]);
  });

  test("a file of the current folder comes before the place of the platform, each for itself", () => {
    const folder = temporaryFolder();
    onTestFinished(() => fs.rmSync(folder, { recursive: true }));
    enter(folder);
    expect([defaultPlace("config"), defaultPlace("data")].map((place) => path.isAbsolute(place))).toEqual([true, true]);
    fs.writeFileSync(path.join(folder, "agent.yaml"), "");
    expect([defaultPlace("config"), path.isAbsolute(defaultPlace("data"))]).toEqual(["./agent.yaml", true]);
    fs.mkdirSync(path.join(folder, "data/server"), { recursive: true });
    expect(defaultPlace("data")).toBe("./data/server");
  });
});

test.skipIf(process.platform === "win32" || process.getuid?.() !== 0)(
  "the state folder of a command line is that of the service which has its files",
  () => {
    const state = (program: "agent" | "server", line: string) => statePlace(program, line.split(" "));
    expect(state("server", "agents list --data /srv/clinic --json")).toBe("/srv/clinic");
    expect(state("server", "agents list --data=/srv/clinic")).toBe("/srv/clinic");
    expect(state("agent", "doctor --config /etc/vetwire/agent.yaml")).toBe("/var/lib/vetwire/agent");
    expect(state("agent", "doctor --config=/etc/vetwire/agent-lab.yaml")).toBe("/var/lib/vetwire/agent-lab");
    expect(state("agent", "doctor --config /srv/lab/agent.yaml")).toBe(null);
  },
);
