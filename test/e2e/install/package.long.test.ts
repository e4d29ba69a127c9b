import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { generateInstance } from "../../../agent/tools/simulator/generated-study.ts";
import { stage } from "../../../shared/platform/package/stage.ts";
import { CREATININE, CREATININE_RUNS } from "../../support/clinic/creatinine-runs.ts";
import { dcmtk, gdcm, run as runTool } from "../../support/protocols/dcmtk.ts";
import { generatedFile } from "../../support/runner/generated-file.ts";
import { CLINIC, freePort, type Running, startProgram, until, World } from "../../support/machine/processes.ts";
import { newCable, socat } from "../../support/machine/pty.ts";

// Goal: no file is missing in a package. Method: the test stages the folder that every package carries, moves it away from the
// sources, and runs server and agent with the Node in it. Each part that loads files of its own does its work once.

let world: World;
let program: string;
let backups: string;
const ports = new Map<string, number>();
let cable: Awaited<ReturnType<typeof newCable>> | undefined;
let samples = 0;

/** Structured reports, which have no picture. */
const REPORTS = "1.2.840.10008.5.1.4.1.1.88.";
/** No variable of this machine helps the package: neither PATH nor the folders of npm. */
const ENVIRONMENT = { TZ: "Europe/Istanbul", LOG_LEVEL: "info" };

beforeAll(async () => {
  world = await World.create(2);
  await world.server.end();
  program = path.join(world.folder, "program");
  await stage(program, "linux-x64", { version: "9.8.7", time: 1_700_000_000, publicKey: null });
  backups = path.join(world.folder, "backups");
  fs.mkdirSync(backups);
  const server = ["server", "run", "--data", world.serverData, "--port", String(world.serverPort)];
  world.server = await started([...server, "--backup-dir", backups], "listening on");

  ports.set("dicom", await freePort());
  const devices = [...ports].map(([profile, port]) => {
    return { id: profile, profile, connection: { listen: `127.0.0.1:${port}` }, quietSeconds: 1 };
  });
  const listening = devices.map(({ quietSeconds, ...device }) => {
    return device.profile === "dicom" ? { ...device, quietSeconds } : device;
  });
  cable = socat ? await newCable(world.folder) : undefined;
  const serial = { id: "serial-1", profile: "generic-astm", connection: { serial: { path: cable?.ends[0] } } };
  world.writeConfig(cable === undefined ? listening : [...listening, serial]);
  world.agent = await started(["agent", "run", "--config", world.config], "the agent is running");
  await world.waitForPatients();
}, 300_000);

afterAll(async () => {
  await world?.end();
  await cable?.pull();
});

/** Starts the command of the package. */
async function started(words: readonly string[], ready: string): Promise<Running> {
  const running = startProgram(path.join(program, "runtime/node"), [main(), ...words], ENVIRONMENT);
  await until(ready, () => {
    if (running.process.exitCode !== null) throw new Error(`it ended: ${running.output()}`);
    return running.output().includes(ready);
  });
  return running;
}

function main(): string {
  return path.join(program, "app/shared/main.js");
}

/** Runs a command of the package to its end. @returns what it prints */
function vetwire(...words: readonly string[]): string {
  return execFileSync(path.join(program, "runtime/node"), [main(), ...words], {
    cwd: world.folder,
    encoding: "utf8",
    env: ENVIRONMENT,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Plays a run of an analyzer to a target. @returns its study in the API */
async function play(profile: keyof typeof CREATININE_RUNS, target: string): Promise<unknown> {
  const { extension, recording } = CREATININE_RUNS[profile];
  const file = path.join(world.folder, `run.${extension}`);
  fs.writeFileSync(file, recording({ patient: world.patients[0]!.externalId, number: (samples += 1) }));
  vetwire("agent", "simulate", file, "--to", target);
  const fp = (await world.drained()).at(-1)!.study_fps[0]!;
  return (await world.getStudy(fp)).body;
}

const creatinine = {
  data: {
    status: "COMPLETED",
    results: [{ analyte: "CREA", value: CREATININE, unit: "mg/dL", reference_range: "0.6-1.4", flag: "high" }],
  },
};

describe("the staged package", { timeout: 180_000 }, () => {
  test("it has a Node of its own, and its version", () => {
    expect(vetwire("--version")).toBe("9.8.7\n");
    const node = execFileSync(path.join(program, "runtime/node"), ["--version"], { encoding: "utf8" });
    expect(Number(/^v(\d+)/.exec(node)?.[1])).toBeGreaterThanOrEqual(24);
    expect(execFileSync(path.join(program, "bin/vetwire"), ["--version"], { encoding: "utf8" })).toBe("9.8.7\n");
  });

  test.skipIf(!socat)("a run over a serial line becomes a study", async () => {
    await until("the port is open", () => world.status().devices.find(({ id }) => id === "serial-1")?.connected);
    expect(await play("generic-astm", `serial:${cable?.ends[1]}`)).toMatchObject(creatinine);
  });

  test("images are stored by their thread, and drawn by that of previews", async () => {
    const target = `dicom://DX1@127.0.0.1:${ports.get("dicom")}/VETWIRE`;
    const patient = world.patients[1]!.externalId;
    vetwire("agent", "simulate", "us,sr", "--to", target, "--patient", patient, "--species", "Feline");
    await world.drained();
    expect(drawn()).toContain("1.2.840.10008.1.2.1 PNG");
  });

  const codecs: readonly (readonly [
    name: string,
    syntax: string,
    option: string,
    encode: (from: string, to: string) => Promise<unknown>,
  ])[] = [
    ["JPEG-LS", "1.2.840.10008.1.2.4.80", "-xt", (from, to) => runTool("dcmcjpls", from, to)],
    ["JPEG 2000", "1.2.840.10008.1.2.4.90", "-xv", (from, to) => runTool("gdcmconv", "--j2k", from, to)],
  ];
  test.skipIf(!dcmtk || !gdcm).each(codecs)(
    "an image in %s is drawn by its codec",
    async (name, syntax, option, encode) => {
      const study = {
        patient: { id: "5001", name: "Test", species: "Feline" },
        uid: `1.2.3.${name.length}`,
        at: "20261121101500",
      };
      const [plain, file] = [path.join(world.folder, "plain.dcm"), path.join(world.folder, "encoded.dcm")];
      fs.writeFileSync(plain, generatedFile(generateInstance("cr", study, 1)));
      await encode(plain, file);
      const peer = ["-aet", "DX1", "-aec", "VETWIRE", option, "127.0.0.1", String(ports.get("dicom")), file];
      expect(await runTool("storescu", ...peer)).toEqual({ ok: true, output: "" });
      await world.drained();
      expect(drawn()).toContain(`${syntax} PNG`);
    },
  );

  test("the dashboard, the documentation, the page of the API and its files are there, and a study as PDF has its fonts", async () => {
    const url = `http://127.0.0.1:${world.serverPort}`;
    const docs = await fetch(`${url}/docs/api`);
    const files = [...(await docs.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = ""]) => file);
    expect(files).toContain("/docs/api/static/swagger-ui-bundle.js");
    for (const file of [...files, "/openapi.json", "/dashboard", "/docs", "/docs/clinic/first-steps"])
      expect([file, (await fetch(new URL(file, url))).status]).toEqual([file, 200]);
    const code = fs.readFileSync(path.join(world.serverData, "setup-code"), "utf8").trim();
    const setUp = await fetch(`${url}/clinic/v1/set-up`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code, name: "First admin", password: "a long password" }),
    });
    expect(setUp.status).toBe(200);
    const cookie = setUp.headers.get("set-cookie")?.split(";")[0] ?? "";
    const fp = world.messages().find(({ state }) => state === "filed")?.study_fps[0];
    const report = `${url}/clinic/v1/clinics/${CLINIC}/results/${fp}/report.pdf?language=tr&zone=Europe/Istanbul`;
    const pdf = await fetch(report, { headers: { cookie } });
    expect([pdf.status, pdf.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    expect(Buffer.from(await pdf.arrayBuffer()).toString("latin1")).toMatch(/^%PDF-1\.7[^]*Roboto/);
  });

  test("doctor checks the database in its thread, and explain has the reference data", async () => {
    const [first] = await world.drained();
    expect(vetwire("agent", "explain", first!.study_fps[0]!, "--config", world.config)).toContain("cornell");
    const findings = JSON.parse(doctor()) as { readonly findings?: unknown };
    expect(JSON.stringify(findings)).not.toMatch(/ERR_MODULE_NOT_FOUND|Cannot find/);
  });

  test("both programs back up and restore, and the server does so by itself in a thread", async () => {
    vetwire("agent", "backup", "agent.backup", "--images", "--config", world.config);
    vetwire("server", "backup", "server.backup", "--data", world.serverData);
    vetwire("agent", "restore", "agent.backup", "--check", "--config", world.config);
    vetwire("server", "restore", "server.backup", "--check", "--data", world.serverData);
    // Its own backup is due a minute after the start.
    if (process.env["ALL"] !== "1") return;
    await until("the server's own backup", () => world.server.output().includes("a backup was made"), 120_000);
    expect(fs.readdirSync(backups)).toHaveLength(1);
  });

  test("the programs end on request, and write no fault", async () => {
    const outputs = [world.agent, world.server].map(({ output }) => output());
    expect(await world.agent.end()).toBe(0);
    expect(await world.server.end()).toBe(0);
    for (const output of outputs) expect(output).not.toMatch(/"level":(50|60)|ERR_MODULE_NOT_FOUND/);
  });

  test("the package itself is unchanged: programs write their data elsewhere", () => {
    const newer = execFileSync("find", [program, "-newermt", "@1700000000"], { encoding: "utf8" });
    expect(newer).toBe("");
  });
});

/** Draws each image with pixels. @returns its transfer syntax and the format of the picture */
function drawn(): string[] {
  const list = vetwire("agent", "images", "list", "--json", "--config", world.config);
  const images = JSON.parse(list) as { id: string; sop_class_uid: string; transfer_syntax_uid: string }[];
  return images
    .filter(({ sop_class_uid }) => !sop_class_uid.startsWith(REPORTS))
    .map(({ id, transfer_syntax_uid }) => {
      const file = path.join(world.folder, `${id}.png`);
      vetwire("agent", "images", "preview", id, "--out", file, "--config", world.config);
      return `${transfer_syntax_uid} ${fs.readFileSync(file).subarray(1, 4).toString("latin1")}`;
    });
}

/** doctor ends with 1 for a warning. */
function doctor(): string {
  try {
    return vetwire("agent", "doctor", "--offline", "--json", "--config", world.config);
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
