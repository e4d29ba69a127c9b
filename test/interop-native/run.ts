import { EXPLICIT_LITTLE_ENDIAN } from "../../agent/protocols/dicom/uids.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { DicomClient } from "../../agent/imaging/archive/scu.ts";
import { COMMAND, STATUS } from "../../agent/protocols/dicom/dimse.ts";
import { readSpool } from "../../agent/spool/access.ts";
import { generateInstance } from "../../agent/tools/simulator/generated-study.ts";
import { imageFile, imageFolder } from "../../agent/imaging/files/image-folder.ts";
import { type ImageSummary, listImages } from "../../agent/imaging/catalogue.ts";
import { generatedFile } from "../support/runner/generated-file.ts";
import { freePort, ROOT, temporaryFolder, until } from "../support/machine/processes.ts";
import { install } from "./install.ts";

// npm run interop:native: an agent exchanges images with dicom-dimse-native, in a temporary folder and over loopback. The last
// two steps reproduce faults of the package's receiver. They are the reason why the agent does not use it to receive.

const EX_UNAVAILABLE = 69;
const SILENCE_MS = 3_000;

const problem = install();
if (problem !== null) {
  process.stderr.write(`cannot use dicom-dimse-native 2.4.6: ${problem}\n`);
  process.exit(EX_UNAVAILABLE);
}

const folder = temporaryFolder();
const data = path.join(folder, "agent");
const [ours, theirs] = [await freePort(), await freePort()];
const children: ChildProcess[] = [];
let failures = 0;

const study = { patient: { id: "5000", name: "X^Rex", species: "dog" }, uid: "2.25.4711", at: "20260504090000" };
const instances = [1, 2, 3].map((number) => generateInstance("cr", study, number));

try {
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_interop");
  fs.writeFileSync(path.join(folder, "agent.yaml"), JSON.stringify(configuration()));
  const agent = node("agent/main.ts", "run", "--config", path.join(folder, "agent.yaml"));
  await until("the agent listens", () => isOpen(ours));
  const toSend = path.join(folder, "to-send");
  fs.mkdirSync(toSend);
  for (const one of instances) fs.writeFileSync(path.join(toSend, `${one.sopInstance}.dcm`), generatedFile(one));

  await step("echo", async () => expectEqual(await echo("NATIVE1", "VETWIRE"), "success"));
  await step("an unknown calling AE title is refused", async () =>
    expectEqual(await echo("STRANGER", "VETWIRE"), "failure"),
  );
  await step("a wrong called AE title is refused", async () => expectEqual(await echo("NATIVE1", "OTHER"), "failure"));
  await step("three images are stored, byte by byte", async () => {
    expectEqual(await store("NATIVE1", toSend), "success");
    expectEqual(datasets(kept()), sent());
  });
  await step("a repeat from a second AE title of another length changes no file", async () => {
    const before = contents();
    expectEqual(await store("NATIVE-SECOND-AE", toSend), "success");
    expectEqual(kept().length, instances.length);
    expectEqual(contents(), before);
  });

  const archive = path.join(folder, "deep/er/archive");
  fs.mkdirSync(archive, { recursive: true });
  let receiver = await startReceiver(archive);
  await step("the agent forwards all three, byte by byte", async () => {
    await end(agent); // an agent reads its queues at its start
    node("agent/main.ts", "run", "--config", path.join(folder, "agent.yaml"));
    await until("the agent listens again", () => isOpen(ours));
    await until("all images are sent", () => kept().every(({ forwards }) => forwards[0]?.state === "sent"), 60_000);
    expectEqual(datasets(files(archive)), sent());
  });

  await step(
    "fault 1: dicom-dimse-native writes outside its folder on a hostile UID; the agent refuses it",
    async () => {
      const hostile = "../../outside";
      expectEqual(await storeAs(hostile, { port: ours, calledAe: "VETWIRE" }), STATUS.invalidInstance);
      const outside = () => files(folder).filter((file) => path.basename(file).startsWith("outside"));
      expectEqual(outside(), []);
      expectEqual(await storeAs(hostile, { port: theirs, calledAe: "ARCHIVE" }), STATUS.success);
      const [written = ""] = outside();
      expectEqual(path.relative(archive, written).startsWith(".."), true);
      return `it returned success and wrote ${path.relative(archive, written)}`;
    },
  );

  await end(receiver);
  receiver = await startReceiver(archive);
  await step("fault 2: one silent peer blocks dicom-dimse-native for all others; the agent serves on", async () => {
    const silent = [net.connect(ours, "127.0.0.1"), net.connect(theirs, "127.0.0.1")];
    await Promise.all(silent.map((socket) => once(socket, "connect")));
    expectEqual(await echo("NATIVE1", "VETWIRE", ours, SILENCE_MS), "success");
    const blocked = await echo("NATIVE1", "ARCHIVE", theirs, SILENCE_MS);
    for (const socket of silent) socket.destroy();
    expectEqual(blocked, "no response");
    expectEqual(await echo("NATIVE1", "ARCHIVE", theirs), "success");
    return `no response within ${SILENCE_MS / 1000} s while the silent peer is connected, success after it disconnects`;
  });
} catch (error) {
  failures += 1;
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
} finally {
  await Promise.all(children.map(end));
  fs.rmSync(folder, { recursive: true, force: true });
}
process.exit(failures === 0 ? 0 : 1);

function configuration(): object {
  return {
    server: { url: "http://127.0.0.1:9", keyFile: "./agent.key" },
    data,
    timeZone: "UTC",
    devices: [
      {
        id: "xray",
        profile: "dicom",
        connection: { listen: `127.0.0.1:${ours}` },
        aeTitle: "VETWIRE",
        callingAeTitles: ["NATIVE1", "NATIVE-SECOND-AE"],
        quietSeconds: 1,
      },
    ],
    destinations: [{ id: "archive", dial: `127.0.0.1:${theirs}`, aeTitle: "ARCHIVE" }],
  };
}

/** Runs one step and prints its outcome, with the detail that it returns. */
async function step(title: string, run: () => Promise<string | void>): Promise<void> {
  try {
    const detail = await run();
    process.stdout.write(`ok      ${title}${detail === undefined ? "" : `: ${detail}`}\n`);
  } catch (error) {
    failures += 1;
    process.stdout.write(`FAILED  ${title}: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

function expectEqual(got: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(expected)];
  if (left !== right) throw new Error(`expected ${right.slice(0, 200)}, got ${left.slice(0, 200)}`);
}

/** Starts a program from its sources. */
function node(script: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: ROOT,
    env: { ...process.env, TCP_NODELAY: "1" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const hard = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await exited;
  clearTimeout(hard);
}

type CallStatus = "success" | "failure" | "no response";

/** Calls the package in a separate process. @returns the final status of the call */
async function call(name: string, options: object, timeoutMs: number): Promise<CallStatus> {
  const child = node("test/interop-native/native.ts", name, JSON.stringify(options));
  let printed = "";
  child.stdout?.on("data", (text: Buffer) => (printed += text.toString()));
  const final = () =>
    printed
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line) => (JSON.parse(line) as { status: string }).status)
      .find((status) => status === "success" || status === "failure") as CallStatus | undefined;
  const status = await until("the call has a final status", final, timeoutMs).catch((): CallStatus => "no response");
  await end(child);
  return status;
}

function entity(aet: string, port: number): { aet: string; ip: string; port: number } {
  return { aet, ip: "127.0.0.1", port };
}

function echo(callingAe: string, calledAe: string, port = ours, timeoutMs = 20_000): Promise<CallStatus> {
  return call("echoScu", { source: entity(callingAe, 1), target: entity(calledAe, port) }, timeoutMs);
}

function store(callingAe: string, sourcePath: string): Promise<CallStatus> {
  return call("storeScu", { source: entity(callingAe, 1), target: entity("VETWIRE", ours), sourcePath }, 60_000);
}

async function startReceiver(storagePath: string): Promise<ChildProcess> {
  const options = { source: entity("ARCHIVE", theirs), peers: [], storagePath, storeOnly: true, writeFile: true };
  const child = node("test/interop-native/native.ts", "startStoreScp", JSON.stringify(options));
  child.stdout?.resume();
  await until("dicom-dimse-native listens", () => isOpen(theirs));
  return child;
}

/** Stores an image with that SOP Instance UID in command and dataset. @returns the status of the response */
async function storeAs(sopInstance: string, peer: { port: number; calledAe: string }): Promise<number> {
  const made = generateInstance("cr", { ...study, uid: "2.25.4712" }, 1);
  const { sopClass } = made;
  expectEqual(sopInstance.length, made.sopInstance.length); // the element keeps its length
  const dataset = Buffer.from(
    Buffer.from(made.dataset).toString("latin1").replaceAll(made.sopInstance, sopInstance),
    "latin1",
  );
  const client = await DicomClient.connect({
    address: { host: "127.0.0.1", port: peer.port },
    calledAe: peer.calledAe,
    callingAe: "NATIVE1",
    contexts: [{ id: 1, abstractSyntax: sopClass, transferSyntaxes: [EXPLICIT_LITTLE_ENDIAN] }],
  });
  try {
    const { status } = await client.request(1, { field: COMMAND.cStoreRequest, sopClass, sopInstance }, [dataset]);
    return status;
  } finally {
    await client.release();
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

function kept(): ImageSummary[] {
  return readSpool(data, (db) => listImages(db, null));
}

/** @returns every file in the agent's image folder, with its content */
function contents(): string[] {
  return files(imageFolder(data)).map((file) => `${file} ${fs.readFileSync(file).toString("base64")}`);
}

function files(of: string): string[] {
  const entries = fs.readdirSync(of, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted();
}

function sent(): string[] {
  return instances.map(({ dataset }) => Buffer.from(dataset).toString("base64")).toSorted();
}

/** @returns the datasets of the files, after the File Meta Information (PS3.10 §7.1) */
function datasets(of: readonly (string | ImageSummary)[]): string[] {
  const names = of.map((one) => (typeof one === "string" ? one : imageFile(data, one.id)));
  return names
    .map((name) => fs.readFileSync(name))
    .map((bytes) => bytes.subarray(144 + bytes.readUInt32LE(140)).toString("base64"))
    .toSorted();
}
