import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  freePort,
  ROOT,
  runAgentCommand,
  runServerCommand,
  temporaryFolder,
  until,
  World,
} from "../../../support/machine/processes.ts";
import { makePackages } from "../../../support/machine/packages.ts";
import { Windows, wine, wixl } from "../../../support/machine/wine.ts";

// Goal: the Windows package installs a service that takes results, survives its process, upgrades and goes. Method: two packages
// of the sources, wine as Windows, and a server of the sources on Linux.

const SERVICE = "vetwire-agent";
const PATIENT = "patient_01K9TEST000000000000000W01";
const STEP_MS = 240_000;
/** The frames of the capture that the test sends. */
const FRAMES = 27;

describe.skipIf(!wine || !wixl)("the agent as a Windows service", { timeout: STEP_MS }, () => {
  let packages: string;
  let world: World;
  let windows: Windows;
  let port: number;
  let page: number;

  beforeAll(async () => {
    packages = temporaryFolder();
    for (const version of ["0.1.0", "0.2.0"]) {
      makePackages("msi", packages, "--program", "agent", "--release-version", version);
    }
    [port, page] = [await freePort(), await freePort()];
    world = await clinic();
    windows = await Windows.start();
  }, 2 * STEP_MS);

  afterAll(async () => {
    windows?.end();
    await world?.end();
    fs.rmSync(packages, { recursive: true, force: true });
  }, STEP_MS);

  const dataFolder = (...names: readonly string[]): string => windows.drive("ProgramData/Vetwire", ...names);
  const programFolder = (...names: readonly string[]): string => windows.drive("Program Files/Vetwire Agent", ...names);
  const serviceLog = (): string => {
    const file = dataFolder("agent/service.log");
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  };
  const nodes = (): number[] => windows.processes("C:\\Program Files\\Vetwire Agent\\runtime\\node.exe");

  /** Runs the installer without a window. */
  async function install(action: "/i" | "/x", version: string): Promise<number> {
    const file = path.join(packages, `vetwire-agent-${version}-win-x64.msi`);
    return (await windows.run("msiexec", action, Windows.pathOf(file), "/qn")).code;
  }

  async function serviceState(): Promise<string> {
    const { output } = await windows.run("sc", "query", SERVICE);
    return /STATE\s+: \d+\s+(\w+)/.exec(output)?.[1] ?? "missing";
  }

  async function serviceIs(state: string): Promise<void> {
    await until(`the service is ${state}`, async () => (await serviceState()) === state, STEP_MS, 500);
  }

  /** Waits until the agent under wine is ready. @returns the version that the launcher started last */
  async function ready(): Promise<string | undefined> {
    const isReady = async () => (await fetch(`http://127.0.0.1:${page}/readyz`).catch(() => null))?.status === 200;
    await until("the agent is ready", isReady, STEP_MS, 500);
    return [...serviceLog().matchAll(/"version":"([^"]+)","msg":"starts the agent"/g)].at(-1)?.[1];
  }

  function sendDog(): string {
    const file = path.join(ROOT, "fixtures/abaxis-vetscan-vs2/dog.astm");
    return runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`);
  }

  test("the package installs without a window, and its service serves the page of the set-up", async () => {
    expect(await install("/i", "0.1.0")).toBe(0);
    await serviceIs("RUNNING");
    await until(
      "the launcher has written its log",
      () => serviceLog().includes("the page sets this agent up"),
      STEP_MS,
    );
    const { output } = await windows.run(
      "cmd",
      "/c",
      "C:\\Program Files\\Vetwire Agent\\bin\\vetwire.cmd",
      "--version",
    );
    expect(output).toBe("0.1.0\n");
    const registry = await windows.run("reg", "query", "HKLM\\System\\CurrentControlSet\\Services\\vetwire-agent");
    expect(registry.output).toMatch(/ObjectName\s+REG_SZ\s+NT SERVICE\\vetwire-agent/);
  });

  test("a stop ends the agent by itself, well before Windows ends it at a shutdown", async () => {
    await windows.run("sc", "stop", SERVICE);
    await serviceIs("STOPPED");
    expect(nodes()).toEqual([]);
    const shawl = fs.readdirSync(dataFolder("agent")).find((name) => name.startsWith("shawl_for_")) ?? "";
    const [, ms, code] =
      /exited after (\d+) ms with code (\d+)/.exec(fs.readFileSync(dataFolder("agent", shawl), "utf8")) ?? [];
    expect([code, Number(ms) < 5000]).toEqual(["0", true]);
  });

  test("a configuration that is refused stops the service, and it does not start in a loop", async () => {
    fs.writeFileSync(dataFolder("agent.yaml"), "server: 1\n");
    await windows.run("sc", "start", SERVICE);
    await serviceIs("STOPPED");
    expect(serviceLog()).toContain("agent.yaml:1: ");
    fs.rmSync(dataFolder("agent.yaml"));
  });

  test("a session of a VetScan over TCP is filed on the server", async () => {
    fs.copyFileSync(path.join(world.folder, "agent.key"), dataFolder("agent.key"));
    fs.copyFileSync(world.config, dataFolder("agent.yaml"));
    await windows.run("sc", "start", SERVICE);
    expect(await ready()).toBe("0.1.0");
    await until(
      "the agent knows the patients",
      () => serviceLog().includes("all patients of the clinic were fetched"),
      STEP_MS,
    );
    expect(sendDog()).toBe(`session 1: ${FRAMES} frames acknowledged\n`);
    const [study] = await until("the study is filed", () => filed(world), STEP_MS, 200);
    expect(study).toMatchObject({ patient: PATIENT, revision: 1 });
  });

  test("a process that is killed starts again, and a repeated session stays one study", async () => {
    const before = nodes();
    for (const id of before) process.kill(id, "SIGKILL");
    await until("new processes run", () => nodes().some((id) => !before.includes(id)), STEP_MS, 200);
    expect(await ready()).toBe("0.1.0");
    expect(sendDog()).toBe(`session 1: ${FRAMES} frames acknowledged\n`);
    expect(world.serverStudies()).toHaveLength(1);
  });

  test("a launcher whose service process was killed ends with its agent", async () => {
    const shawls = windows.processes("C:\\Program Files\\Vetwire Agent\\runtime\\shawl.exe");
    expect([shawls.length, nodes().length]).toEqual([1, 2]);
    for (const id of shawls) process.kill(id, "SIGKILL");
    await until("the launcher and the agent end", () => nodes().length === 0, STEP_MS / 4, 200);
  });

  test("the service starts with the machine", async () => {
    await windows.restart();
    expect(await ready()).toBe("0.1.0");
  });

  test("a higher version installs in place, and keeps configuration and data", async () => {
    const config = fs.readFileSync(dataFolder("agent.yaml"), "utf8");
    expect(await install("/i", "0.2.0")).toBe(0);
    await serviceIs("RUNNING");
    expect(await ready()).toBe("0.2.0");
    expect(fs.readFileSync(dataFolder("agent.yaml"), "utf8")).toBe(config);
    const { output } = await windows.run(
      ...["cmd", "/c", "C:\\Program Files\\Vetwire Agent\\bin\\vetwire.cmd", "agent", "messages", "--json"],
      ...["--config", "C:\\ProgramData\\Vetwire\\agent.yaml"],
    );
    const messages = JSON.parse(output) as { state: string }[];
    expect(messages.map(({ state }) => state)).toEqual(["filed", "filed"]);
  });

  test("the command of a server of another version runs the agent's own", async () => {
    const server = windows.drive("Program Files/Vetwire Server");
    fs.mkdirSync(path.join(server, "app/shared"), { recursive: true });
    for (const part of ["bin", "runtime"]) fs.cpSync(programFolder(part), path.join(server, part), { recursive: true });
    fs.writeFileSync(path.join(server, "app/shared/main.js"), 'require("fs").writeSync(1, "the server\'s\\n")');
    const command = "C:\\Program Files\\Vetwire Server\\bin\\vetwire.cmd";
    const printed = (...words: string[]) => windows.run("cmd", "/c", command, ...words).then(({ output }) => output);
    expect(await printed("--version")).toBe("the server's\n");
    expect(await printed("agent", "--version")).toBe("0.2.0\n");
    fs.rmSync(server, { recursive: true });
  });

  test("a lower version is refused, and the higher one runs on", async () => {
    expect(await install("/i", "0.1.0")).not.toBe(0);
    expect(await ready()).toBe("0.2.0");
    expect(await serviceState()).toBe("RUNNING");
  });

  test("the uninstallation takes program and service, and leaves configuration and data", async () => {
    // As a command makes it after an upgrade from the server.
    fs.mkdirSync(programFolder("app/later/agent/9.0.0"), { recursive: true });
    fs.writeFileSync(programFolder("app/later/agent/9.0.0/LICENSE"), "");
    expect(await install("/x", "0.2.0")).toBe(0);
    expect(await serviceState()).toBe("missing");
    await until("its processes end", () => nodes().length === 0, STEP_MS, 200);
    expect(fs.existsSync(programFolder())).toBe(false);
    const environment = "HKLM\\System\\CurrentControlSet\\Control\\Session Manager\\Environment";
    expect((await windows.run("reg", "query", environment, "/v", "PATH")).output).not.toContain("Vetwire");
    expect(fs.readdirSync(dataFolder())).toEqual(expect.arrayContaining(["agent", "agent.key", "agent.yaml", "data"]));
  });

  /** Starts a server with the dog of the capture, and writes the agent's configuration. */
  async function clinic(): Promise<World> {
    const made = await World.create(1);
    await made.server.end();
    const file = path.join(made.folder, "dog.ndjson");
    const [at, patient] = ["2026-01-01T00:00:00.000Z", made.patients[0]!];
    const entities = fs
      .readFileSync(path.join(made.folder, "clinic.ndjson"), "utf8")
      .replaceAll(patient.fp, PATIENT)
      .replaceAll(`"${patient.externalId}"`, '"4711"');
    fs.writeFileSync(file, entities.replaceAll(at, at));
    runServerCommand("import", file, "--data", made.serverData);
    await made.startServer();
    const connection = { listen: `127.0.0.1:${port}` };
    made.writeConfig([{ id: "chem-1", profile: "abaxis-vetscan-vs2", connection }], page);
    const config = JSON.parse(fs.readFileSync(made.config, "utf8")) as object;
    fs.writeFileSync(made.config, JSON.stringify({ ...config, data: "./data" }));
    return made;
  }
});

function filed(world: World): ReturnType<World["serverStudies"]> | null {
  const studies = world.serverStudies().filter(({ patient }) => patient !== null);
  return studies.length === 0 ? null : studies;
}
