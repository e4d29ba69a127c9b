import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { dcmtk, run } from "../support/protocols/dcmtk.ts";
import { freePort, temporaryFolder, until, World } from "../support/machine/processes.ts";
import { send, writeInstance } from "./dicom/instances.ts";
import { type Figure, median } from "./figure.ts";

const INSTANCES = 500;
const INSTANCE_BYTES = 525_000;
const LONG_BYTES = 200_000_000;
/** Nine tenths of the figures of November 28. */
const RATE_MIN = 0.22;
/** Orthanc syncs to the disk, as the agent does. */
const RATE_TO_ORTHANC_MIN = 0.93;
const LONG_TIME_MAX = 2.3;
const MEMORY_MB_MAX = 150;

interface Receiver {
  readonly port: number;
  readonly pid: number;
  end(): Promise<void>;
}

/**
 * Measures receivers over loopback in turn, with DCMTK's storescu as sender. Orthanc and the agent sync to the disk, DCMTK's
 * storescp does not. Stored files are removed only at the end, since ext4 skips removed inodes for minutes when it creates files.
 */
export async function* dicom(quick: boolean): AsyncGenerator<Figure> {
  if (!dcmtk) throw new Error("DCMTK is not installed, and it is sender and baseline (apt-get install dcmtk)");
  const folder = temporaryFolder();
  const worlds: World[] = [];
  try {
    const count = quick ? 100 : INSTANCES;
    const series = path.join(folder, "series");
    fs.mkdirSync(series);
    for (let number = 1; number <= count; number++) await writeInstance(series, `1.2.3.${number}`, INSTANCE_BYTES);
    const long = path.join(folder, "long");
    fs.mkdirSync(long);
    await writeInstance(long, "1.2.4.1", LONG_BYTES);

    const orthanc = fs.existsSync(ORTHANC);
    if (!orthanc) process.stdout.write("Orthanc is skipped, it is not installed (apt-get install orthanc)\n");
    const seconds = { storescp: [] as number[], orthanc: [] as number[], ours: [] as number[] };
    const longSeconds = { storescp: [] as number[], ours: [] as number[] };
    let memory = 0;
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      // Each receiver starts empty, since a repeated instance costs different work.
      const receiver = await startStorescp(folder);
      seconds.storescp.push(await timed(receiver.port, series));
      longSeconds.storescp.push(await timed(receiver.port, long));
      await receiver.end();
      const agent = await startAgent(worlds);
      seconds.ours.push(await timed(agent.port, series));
      await agent.end();
      const fresh = await startAgent(worlds);
      longSeconds.ours.push(await timed(fresh.port, long));
      memory = Math.max(memory, peakMegabytes(fresh.pid));
      await fresh.end();
      if (!orthanc) continue;
      const other = await startOrthanc(folder);
      seconds.orthanc.push(await timed(other.port, series));
      await other.end();
    }
    const rate = (times: readonly number[]) => count / median(times);
    const ours = `${rate(seconds.ours).toFixed(0)}/s, ${((rate(seconds.ours) * INSTANCE_BYTES) / 1e6).toFixed(0)} MB/s`;
    const compare = (name: string, baseline: number, min: number): Figure => ({
      name: `${count} instances of 0.5 MB, beside ${name}`,
      ours,
      baseline: `${name} ${baseline.toFixed(0)}/s`,
      ratio: rate(seconds.ours) / baseline,
      bar: `>= ${min}`,
      met: rate(seconds.ours) / baseline >= min,
    });
    yield compare("storescp without fsync", rate(seconds.storescp), RATE_MIN);
    if (orthanc) yield compare("Orthanc", rate(seconds.orthanc), RATE_TO_ORTHANC_MIN);
    const slower = median(longSeconds.ours) / median(longSeconds.storescp);
    yield {
      name: "one instance of 200 MB, time",
      ours: `${median(longSeconds.ours).toFixed(2)} s`,
      baseline: `storescp without fsync ${median(longSeconds.storescp).toFixed(2)} s`,
      ratio: slower,
      bar: `<= ${LONG_TIME_MAX}`,
      met: slower <= LONG_TIME_MAX,
    };
    yield {
      name: "one instance of 200 MB, peak memory of the agent",
      ours: `${memory.toFixed(0)} MB`,
      baseline: `the bar ${MEMORY_MB_MAX} MB`,
      ratio: memory / MEMORY_MB_MAX,
      bar: `< ${MEMORY_MB_MAX} MB`,
      met: memory < MEMORY_MB_MAX,
    };
  } finally {
    for (const world of worlds) await world.end();
    fs.rmSync(folder, { recursive: true });
  }
}

/** Flushes the writes of the previous receiver. storescp leaves hundreds of megabytes in the page cache. */
async function timed(port: number, what: string): Promise<number> {
  await run("sync");
  return send(port, what);
}

async function startAgent(worlds: World[]): Promise<Receiver> {
  const world = await World.create(1);
  worlds.push(world);
  const port = await freePort();
  world.writeConfig([
    { id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` }, aeTitle: "VETWIRE" },
  ]);
  await world.startAgent();
  await world.server.end(); // not measured, so it must not use CPU time
  const end = async () => void (await world.agent.end("SIGKILL"));
  return { port, pid: world.agent.process.pid!, end };
}

async function startStorescp(folder: string): Promise<Receiver> {
  const port = await freePort();
  const kept = fs.mkdtempSync(path.join(folder, "storescp-"));
  // Promiscuous, every transfer syntax and no conversion, as the agent does.
  const child = spawn("storescp", ["-pm", "+xa", "+B", "-od", kept, String(port)], { env, stdio: "ignore" });
  return listening(child, port);
}

const ORTHANC = "/usr/sbin/Orthanc";

async function startOrthanc(folder: string): Promise<Receiver> {
  const [port, http] = [await freePort(), await freePort()];
  const kept = fs.mkdtempSync(path.join(folder, "orthanc-"));
  const config = path.join(kept, "orthanc.json");
  const settings = {
    StorageDirectory: kept,
    IndexDirectory: kept,
    DicomAet: "VETWIRE",
    DicomPort: port,
    HttpPort: http,
  };
  fs.writeFileSync(config, JSON.stringify({ ...settings, DicomCheckCalledAet: false, Plugins: [] }));
  return listening(spawn(ORTHANC, [config], { env, stdio: "ignore" }), port);
}

const env = { ...process.env, TCP_NODELAY: "1" };

async function listening(child: ChildProcess, port: number): Promise<Receiver> {
  await until("an echo", async () => (await run("echoscu", "-aec", "VETWIRE", "127.0.0.1", String(port))).ok);
  return {
    port,
    pid: child.pid!,
    async end() {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** @returns the peak of resident memory (VmHWM) */
function peakMegabytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1000;
}
