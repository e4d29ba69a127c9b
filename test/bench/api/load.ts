import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import autocannon from "autocannon";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { type Figure, median, whole } from "../figure.ts";

// Requests per second under load. wrk is preferred, since autocannon is not faster than the measured servers.

const CONNECTIONS = 32;

export interface Load {
  readonly url: string;
  /** Paths that all connections together request in turn. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly status: 200 | 304;
}

const loader = hasWrk() ? "wrk" : "autocannon";

/** Measures two loads in turn and compares their rates. `against` names the other one. */
export async function compare(
  name: string,
  ours: Load,
  raw: Load,
  { ratioMin, quick, against = "raw node:http" }: { ratioMin: number; quick: boolean; against?: string },
): Promise<Figure> {
  const [rounds, seconds] = quick ? [2, 1] : [6, 2];
  const rates: { ours: number; raw: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const rate = { raw: await requestsPerSecond(raw, seconds), ours: await requestsPerSecond(ours, seconds) };
    if (round > 0) rates.push(rate);
  }
  const ratio = median(rates.map((rate) => rate.ours / rate.raw));
  return {
    name,
    ours: `${whole(median(rates.map((rate) => rate.ours)))} requests/s`,
    baseline: `${against} ${whole(median(rates.map((rate) => rate.raw)))} requests/s (${loader}, medians of ${rounds} rounds)`,
    ratio,
    bar: `ratio >= ${ratioMin.toFixed(2)}`,
    met: ratio >= ratioMin,
  };
}

/** @throws if a response has another status than `load.status` */
async function requestsPerSecond(load: Load, seconds: number): Promise<number> {
  const { status } = await fetch(`${load.url}${load.paths[0]}`, { headers: load.headers });
  if (status !== load.status) throw new Error(`${load.paths[0]}: expected status ${load.status}, got ${status}`);
  return loader === "wrk" ? withWrk(load, seconds) : withAutocannon(load, seconds);
}

async function withWrk({ url, paths, headers }: Load, seconds: number): Promise<number> {
  const folder = temporaryFolder();
  const script = path.join(folder, "load.lua");
  const list = path.join(folder, "paths");
  fs.writeFileSync(list, paths.join("\n"));
  fs.writeFileSync(
    script,
    `local requests, next = {}, 0
     function init()
       for path in io.lines("${list}") do requests[#requests + 1] = wrk.format("GET", path) end
     end
     function request() next = next % #requests + 1; return requests[next] end`,
  );
  try {
    const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const options = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, "-s", script, ...sent, url];
    const { stdout } = await promisify(execFile)("wrk", options);
    const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
    if (!(rate > 0) || /Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk: ${stdout}`);
    return rate;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function withAutocannon({ url, paths, headers, status }: Load, seconds: number): Promise<number> {
  let client = 0;
  const each = Math.ceil(paths.length / CONNECTIONS);
  const result = await autocannon({
    url,
    headers,
    connections: CONNECTIONS,
    duration: seconds,
    setupClient(connection) {
      const own = paths.slice(client * each, (client + 1) * each);
      connection.setRequests((own.length > 0 ? own : paths).map((one) => ({ path: one })));
      client += 1;
    },
  });
  const statuses = Object.keys(result.statusCodeStats ?? {}).join();
  if (statuses !== String(status)) throw new Error(`expected status ${status}, got ${statuses}`);
  return result.requests.average;
}

function hasWrk(): boolean {
  try {
    execFileSync("sh", ["-c", "command -v wrk"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
