import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { stage } from "../../shared/package/stage.ts";
import { freePort, ROOT, temporaryFolder } from "../support/processes.ts";
import { type Figure, median, milliseconds } from "./figure.ts";

/** 0.6 s on a machine whose Node starts in 0.03 s. */
const LISTENING_MAX = 20;
const PRINTED_MAX = 12;
/** Sources are stripped of their types at every start. */
const SOURCES_MAX = 0.6;

/** A program to start: its Node with options, and the folder and extension of its modules. */
interface Program {
  readonly words: readonly string[];
  readonly code: string;
  readonly extension: string;
}

interface Line {
  readonly name: string;
  readonly module: string;
  readonly args: readonly string[];
  /** The output that ends the measurement. Without it, the end of the process does. */
  readonly ready?: string;
}

/** Measures the start of the staged package: to a listening socket, to a help page, and to a line of a status. */
export async function* starting(quick: boolean): AsyncGenerator<Figure> {
  const rounds = quick ? 5 : 15;
  const folder = temporaryFolder();
  try {
    const staged = path.join(folder, "staged");
    await stage(staged, "linux-x64", { version: "0.1.0", time: 0, publicKey: null });
    const node = path.join(staged, "runtime/node");
    const ours = { words: [node], code: path.join(staged, "app"), extension: "js" };
    const sources = { words: [process.execPath], code: ROOT, extension: "ts" };
    const lines = await linesIn(folder);
    // The first round fills the page cache and makes the databases; it does not count.
    for (const line of lines) await timeOf(ours, line);
    const bare: number[] = [];
    const taken = new Map(lines.map((line) => [line, [] as number[]]));
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await run([node, "-e", "0"]));
      for (const line of lines) taken.get(line)?.push(await timeOf(ours, line));
    }
    for (const line of lines) yield besideNode(line, median(taken.get(line) ?? []), median(bare));
    for (const line of lines.filter(({ ready }) => ready !== undefined)) {
      const slow: number[] = [];
      for (let round = 0; round < Math.ceil(rounds / 3); round += 1) slow.push(await timeOf(sources, line));
      yield besideSources(line, median(taken.get(line) ?? []), median(slow));
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function besideNode({ name, ready }: Line, ours: number, bare: number): Figure {
  const max = ready === undefined ? PRINTED_MAX : LISTENING_MAX;
  const ratio = ours / bare;
  return {
    name: `${name}: time`,
    ours: milliseconds(ours),
    baseline: `node -e 0 ${milliseconds(bare)}`,
    ratio,
    bar: `ratio <= ${max}`,
    met: ratio <= max,
  };
}

function besideSources({ name }: Line, ours: number, sources: number): Figure {
  const ratio = ours / sources;
  return {
    name: `${name}, beside the sources: time`,
    ours: milliseconds(ours),
    baseline: `the sources ${milliseconds(sources)}`,
    ratio,
    bar: `ratio <= ${SOURCES_MAX}`,
    met: ratio <= SOURCES_MAX,
  };
}

/** Writes a configuration of two devices to `folder`. Returns the lines to measure. */
async function linesIn(folder: string): Promise<Line[]> {
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  const devices = await Promise.all(
    ["generic-astm", "generic-hl7"].map(async (profile) => {
      return { id: profile, profile, connection: { listen: `127.0.0.1:${await freePort()}` } };
    }),
  );
  const config = path.join(folder, "agent.yaml");
  const settings = { server: { url: "http://127.0.0.1:9", keyFile: "agent.key" }, data: "agent", timeZone: "UTC" };
  fs.writeFileSync(config, JSON.stringify({ ...settings, devices })); // JSON is YAML
  const data = path.join(folder, "server");
  return [
    { name: "agent run", module: "agent/main", args: ["run", "--config", config], ready: "the agent is running" },
    { name: "server run", module: "server/main", args: ["run", "--port", "0", "--data", data], ready: "listening on" },
    { name: "agent status", module: "shared/main", args: ["agent", "status", "--config", config] },
    { name: "agent explain", module: "shared/main", args: ["agent", "explain", "cds_none", "--config", config] },
    { name: "agent --help", module: "agent/main", args: ["--help"] },
    { name: "server --help", module: "server/main", args: ["--help"] },
  ];
}

function timeOf({ words, code, extension }: Program, { module, args, ready }: Line): Promise<number> {
  return run([...words, path.join(code, `${module}.${extension}`), ...args], ready);
}

/** Returns the time (ms) to the words `ready` in the output, or to the end of the process. */
async function run([file = "", ...args]: readonly string[], ready?: string): Promise<number> {
  const begun = performance.now();
  const child = spawn(file, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  let [output, ms] = ["", 0];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      output += String(text);
      if (ready === undefined || ms > 0 || !output.includes(ready)) return;
      ms = performance.now() - begun;
      child.kill("SIGTERM");
    });
  }
  await ended;
  if (ready === undefined) return performance.now() - begun;
  if (ms === 0) throw new Error(`expected the output ${ready}, got ${output}`);
  return ms;
}
