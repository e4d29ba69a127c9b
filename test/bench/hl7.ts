import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { freePort, type Running, temporaryFolder } from "../support/machine/processes.ts";
import { startScript } from "./build.ts";
import { type Figure, median, whole } from "./figure.ts";
import { type Load, messagesPerSecond } from "./hl7/sender.ts";

const MESSAGE_BYTES = 4_700;
/** Nine tenths of the ratios of November 28. */
const LOADS: readonly (Load & {
  readonly name: string;
  readonly ofGroup: number;
  readonly ofMedplum: number | null;
})[] = [
  { connections: 8, window: 1, bytes: MESSAGE_BYTES, name: "8 connections", ofGroup: 0.39, ofMedplum: 1.07 },
  { connections: 1, window: 32, bytes: MESSAGE_BYTES, name: "window 32", ofGroup: 0.41, ofMedplum: null },
  { connections: 4, window: 1, bytes: 100_000, name: "4 connections", ofGroup: 0.45, ofMedplum: null },
];
const MEDPLUM = "@medplum/hl7@4.5.2";

const ROWS = ["raw", "each", "group", "medplum", "ours"] as const;
type Row = (typeof ROWS)[number];
/** Messages per second of each round, or the reason why a row has no rates, such as lost messages. */
type Rates = Record<Row, number[] | string>;

/** Measures durable messages per second, next to servers that do less work, in turn with the same disk and sender. */
export async function* hl7(quick: boolean): AsyncGenerator<Figure> {
  const [rounds, seconds] = quick ? [3, 0.6] : [8, 1];
  const folder = temporaryFolder();
  const running: Running[] = [];
  try {
    const problem = await installMedplum(folder);
    for (const [index, load] of LOADS.entries()) {
      const own = path.join(folder, String(index));
      fs.mkdirSync(own);
      const servers = await startServers(own, folder, load.connections, problem === null);
      running.push(...servers.running);
      const rates = Object.fromEntries(ROWS.map((row) => [row, []])) as unknown as Rates;
      if (problem !== null) rates.medplum = problem;
      for (let round = 0; round <= rounds; round++) {
        // The order alternates, so that other load on the machine affects all of them alike.
        for (const row of round % 2 === 0 ? ROWS : ROWS.toReversed()) {
          const kept = rates[row];
          if (typeof kept === "string") continue;
          const rate = await messagesPerSecond(servers.ports[row], load, seconds).catch(errorMessage);
          if (typeof rate === "string") rates[row] = rate;
          else if (round > 0) kept.push(rate);
        }
      }
      yield* figures(load, rates);
      await Promise.all(servers.running.map((server) => server.end()));
    }
  } finally {
    await Promise.all(running.map((server) => server.end("SIGKILL")));
    fs.rmSync(folder, { recursive: true });
  }
}

/** Installs @medplum/hl7 in a temporary folder. @returns the reason of a failure; null if installed */
async function installMedplum(folder: string): Promise<string | null> {
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder];
  try {
    await promisify(execFile)("npm", ["install", ...flags, MEDPLUM], { cwd: folder });
    return null;
  } catch (error) {
    return `cannot be installed: ${errorMessage(error).split("\n")[0]}`;
  }
}

async function startServers(own: string, medplum: string, connections: number, hasMedplum: boolean) {
  const ports = {} as Record<Row, number[]>;
  const running: Running[] = [];
  for (const row of ROWS) {
    if (row === "ours") {
      ports[row] = await Promise.all(Array.from({ length: connections }, () => freePort()));
      const args = [path.join(own, "agent"), "generic-hl7", ...ports[row].map(String)];
      running.push(await startScript("spool-loop.ts", ...args));
      continue;
    }
    const port = await freePort();
    ports[row] = Array.from({ length: connections }, () => port);
    if (row !== "medplum") running.push(await startScript("hl7/bare-server.ts", row, own, String(port)));
    else if (hasMedplum) running.push(await startScript("hl7/medplum-server.ts", medplum, String(port)));
  }
  return { ports, running };
}

function* figures({ name, bytes, ofGroup, ofMedplum }: (typeof LOADS)[number], rates: Rates): Generator<Figure> {
  const { ours, group, medplum } = rates;
  if (typeof ours === "string") throw new Error(`ours: ${ours}`);
  if (typeof group === "string") throw new Error(`group commit: ${group}`);
  const message = `${(bytes / 1000).toFixed(1)} kB ORU, ${name}, durable`;
  const ratio = median(ours.map((rate, round) => rate / group[round]!));
  yield {
    name: message,
    ours: perSecond(ours),
    baseline: `group commit ${perSecond(group)}, FULL per message ${perSecond(rates.each)}, raw framing ${perSecond(rates.raw)}`,
    ratio,
    bar: `ratio to group commit >= ${ofGroup}`,
    met: ratio >= ofGroup,
  };
  if (ofMedplum === null) return;
  const times = typeof medplum === "string" ? Number.NaN : median(ours.map((rate, round) => rate / medplum[round]!));
  yield {
    name: message,
    ours: perSecond(ours),
    baseline: `${MEDPLUM} without a store ${perSecond(medplum)}`,
    ratio: times,
    bar: `ratio >= ${ofMedplum} where it loses nothing`,
    met: typeof medplum === "string" || times >= ofMedplum,
  };
}

function perSecond(rates: readonly number[] | string): string {
  return typeof rates === "string" ? rates : `${whole(median(rates))}/s`;
}
