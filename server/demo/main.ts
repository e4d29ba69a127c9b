import "../../shared/runtime/node-version.mjs";
import "../../shared/files/enough-descriptors.ts";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { lockFolder } from "../../shared/files/folder-lock.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { moduleFile } from "../../shared/files/program-files.ts";
import { demoClinics, demoFile } from "./data.ts";

// npm start: runs the complete system on one machine through the commands of the programs. Server and agent are separate
// processes.

const data = path.resolve("data/demo");
const program = (name: "server" | "agent") => moduleFile(`${name}/main`);
/** A module that ends a program together with the demo. */
const childModule = pathToFileURL(moduleFile("server/demo/child")).href;
/** The environment without DATABASE_URL, so that the demo's data stays in its own folder. */
const env = { ...process.env, DATABASE_URL: undefined };
const isOnce = process.argv.includes("--once");

/** One device for each protocol, and the analyzer of the README. If a port is taken, the demo uses a free one. */
const devices = {
  "chem-1": { profile: "abaxis-vetscan-vs2", port: 4001 },
  "lab-1": { profile: "generic-astm", port: 4002 },
  "hema-1": { profile: "generic-hl7", port: 2575 },
  "poc-1": { profile: "generic-poct1a", port: 4010 },
  "us-1": { profile: "dicom", port: 11112, quietSeconds: 1 },
} as const;

/** The sessions of the simulated devices. Each plays a fixture, or generated images. */
const sessions = [
  { device: "chem-1", plays: "fixtures/abaxis-vetscan-vs2/dog.astm", says: "a dog's chemistry profile" },
  { device: "chem-1", plays: "fixtures/abaxis-vetscan-vs2/cat.astm", says: "a cat's chemistry profile" },
  {
    device: "lab-1",
    plays: "fixtures/generic-astm/mixed-modalities.astm",
    says: "blood count and chemistry of one sample",
  },
  { device: "hema-1", plays: "fixtures/generic-hl7/oru-r01.hl7", says: "a dog's blood count" },
  { device: "poc-1", plays: "fixtures/generic-poct1a/dog.poct1", says: "a dog's blood gases in continuous mode" },
  { device: "us-1", plays: "us,sr", says: "a dog's ultrasound, and a report with its measurements" },
] as const;

const children: ChildProcess[] = [];
/** Aborted when the demo must end. */
const ending = new AbortController();
/** Interval between checks that npm still runs. */
const PARENT_CHECK_MS = 500;

async function demo(): Promise<void> {
  fs.mkdirSync(data, { recursive: true });
  lockFolder(data, `another demo is running with the data folder ${data}: end it with Ctrl-C first`);
  const serverData = path.join(data, "server");
  say("Imports two demo clinics and creates a key for each program.");
  const entities = path.join(data, "clinics.ndjson");
  fs.writeFileSync(entities, demoFile());
  command("server", "import", entities, "--data", serverData);
  const agentKey = makeKey("demo agent", "device", "clinic.lab.ingest,clinic.patient.view,clinic.calendar.view");
  const readKey = makeKey("demo reader", "integration", "clinic.patient.view,clinic.lab.view");

  const port = await freePort(8080);
  const url = `http://127.0.0.1:${port}`;
  const server = start("server", "run", "--port", String(port), "--data", serverData);
  await server.waitForLog("listening on");

  const ports = new Map<string, number>();
  for (const [id, device] of Object.entries(devices)) ports.set(id, await freePort(device.port));
  const statusPort = await freePort(8081);
  const config = path.join(data, "agent.yaml");
  fs.writeFileSync(path.join(data, "agent.key"), `${agentKey}\n`, { mode: 0o600 });
  fs.writeFileSync(
    config,
    [
      `server: { url: "${url}", keyFile: ./agent.key }`,
      "data: ./agent",
      "timeZone: Europe/Istanbul",
      `status: { listen: "127.0.0.1:${statusPort}" }`,
      "devices:",
      ...Object.entries(devices).map(([id, { profile, ...options }]) => {
        const connection = { listen: `127.0.0.1:${ports.get(id)}` };
        return `  - ${JSON.stringify({ id, profile, connection, ...options, port: undefined })}`;
      }),
      "",
    ].join("\n"),
  );
  const agent = start("agent", "run", "--config", config);
  await agent.waitForLog("the agent is running");
  say(`Server on ${url}, agent with ${ports.size} devices\n`);

  for (const { device, plays, says } of sessions) {
    const address = `127.0.0.1:${ports.get(device)}`;
    const target = devices[device].profile === "dicom" ? `dicom://US1@${address}/VETWIRE` : `tcp://${address}`;
    say(`${device} plays ${says} (npm run agent -- simulate ${plays} --to ${target})`);
    command("agent", "simulate", plays, "--to", target);
  }
  const studies: { fp: string; text: string }[] = [];
  for (const fp of await studiesOf(config)) {
    const response = await fetch(`${url}/api/v1/lab/diagnostics/${fp}`, {
      headers: { authorization: `Bearer ${readKey}` },
    });
    if (response.status !== 200) throw new Error(`GET of ${fp} returned ${response.status}, expected 200`);
    studies.push({ fp, text: JSON.stringify(await response.json(), null, 2) });
  }
  const [first] = studies;
  if (first === undefined) throw new Error("the simulated devices gave no study");
  say(`\nAll ${studies.length} studies are read back. The first one:\n${first.text}`);
  say(`curl -H "Authorization: Bearer ${readKey}" ${url}/api/v1/lab/diagnostics/${first.fp}`);
  if (isOnce) return;
  say(`\nMessages and where they ended: npm run agent -- messages --config ${path.relative(process.cwd(), config)}`);
  say(`Dashboard:  ${url}/dashboard${setUpWords(serverData)}`);
  say(`Agent:      http://127.0.0.1:${statusPort}/`);
  say(`API:        ${url}/docs`);
  say("Running until Ctrl-C.");
  await once(ending.signal, "abort");
}

/** The server keeps a set-up code until its first user exists, and writes another one at each start. */
function setUpWords(serverData: string): string {
  const file = path.join(serverData, "setup-code");
  return fs.existsSync(file) ? `, set it up with the code ${fs.readFileSync(file, "utf8").trim()}` : "";
}

/** Resolves at a signal, when the reader of the output is gone (`npm start | head`), or when npm has ended. */
async function ended(): Promise<void> {
  const end = () => ending.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, end);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", end);
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || end(), PARENT_CHECK_MS).unref();
  await once(ending.signal, "abort");
}

/** A slow machine needs most of it, since each look starts a program. */
const SETTLED_WITHIN_MS = 90_000;

/** Waits until no message of the sessions is pending. @returns the fps of their studies */
async function studiesOf(config: string): Promise<string[]> {
  const startedAt = performance.now();
  while (performance.now() < startedAt + SETTLED_WITHIN_MS) {
    const messages = JSON.parse(command("agent", "messages", "--config", config, "--json")) as {
      device: string;
      state: string;
      reason: string | null;
      study_fps: string[];
    }[];
    // Each fixture and each image is a message. A second demo on the same data sends no new messages.
    const played = Object.keys(devices).map((id) => {
      const own = sessions.filter(({ device }) => device === id).flatMap(({ plays }) => plays.split(","));
      const latest = messages.filter(({ device }) => device === id).slice(-own.length);
      return latest.length === own.length && latest.every(({ state }) => state !== "pending") ? latest : null;
    });
    if (!played.includes(null)) {
      const all = played.flatMap((latest) => latest ?? []);
      for (const { state, reason } of all) if (state !== "filed") throw new Error(`a message is ${state}: ${reason}`);
      return [...new Set(all.flatMap(({ study_fps }) => study_fps))];
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`expected all messages to be settled within ${SETTLED_WITHIN_MS / 1000} s, got pending ones`);
}

function makeKey(name: string, type: string, permissions: string): string {
  const clinic = ["--clinic", demoClinics.kadikoy, "--data", path.join(data, "server")];
  return command(
    "server",
    "keys",
    "create",
    "--name",
    name,
    "--type",
    type,
    "--permissions",
    permissions,
    ...clinic,
  ).trim();
}

function command(name: "server" | "agent", ...args: readonly string[]): string {
  ending.signal.throwIfAborted();
  const argv = [...process.execArgv, program(name), ...args];
  return execFileSync(process.execPath, argv, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], env });
}

/** Starts a program with a log file in data/demo. `waitForLog` waits for words in that log. */
function start(name: "server" | "agent", ...args: readonly string[]): { waitForLog(words: string): Promise<void> } {
  ending.signal.throwIfAborted();
  const file = path.join(data, `${name}.log`);
  const log = fs.createWriteStream(file);
  const child = spawn(process.execPath, [...process.execArgv, "--import", childModule, program(name), ...args], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    env,
  });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (text: Buffer) => {
      output = (output + text.toString()).slice(-10_000);
      log.write(text);
    });
  }
  const waitForLog = async (words: string): Promise<void> => {
    for (let attempt = 0; attempt < 200; attempt++) {
      if (output.includes(words)) return;
      if (child.exitCode !== null || child.signalCode !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the ${name} did not start, its log is ${file}:\n${output}`);
  };
  return { waitForLog };
}

/** Returns the wanted port if it is free, otherwise any free one. */
async function freePort(wanted: number): Promise<number> {
  for (const port of [wanted, 0]) {
    const server = net.createServer();
    const got = await new Promise<number | null>((resolve) => {
      server.once("error", () => resolve(null));
      server.listen(port, "127.0.0.1", () => resolve((server.address() as net.AddressInfo).port));
    });
    if (got === null) continue;
    await new Promise((resolve) => server.close(resolve));
    return got;
  }
  throw new Error("no free port on 127.0.0.1");
}

async function stop(): Promise<void> {
  const ends = children.map(
    (child) =>
      new Promise((resolve) =>
        child.exitCode === null && child.signalCode === null ? child.once("exit", resolve) : resolve(null),
      ),
  );
  // The agent ends first, so that it can send its last studies.
  for (const child of children.toReversed()) child.kill("SIGTERM");
  await Promise.all(ends);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  await Promise.race([demo(), ended()]);
} catch (error) {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
}
await stop();
