import fs from "node:fs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { UNFILED_MAX } from "../../../agent/connection/device/device-bound.ts";
import { percentile } from "../../bench/figure.ts";
import { brokenBuild } from "../../support/releases/broken-build.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { Clinic, newStretch, type Stretch } from "./clinic.ts";
import { hl7Result } from "./devices.ts";
import { type Flood, FLOODS, SOME } from "./floods.ts";

// Goal: a hostile client on the port of one device delays no other device, and takes memory, descriptors and log only up to
// fixed bounds. Method: the built agent with fifteen good devices over all four protocols, and a hostile client in a process of
// its own. Stretches without and with its flood alternate, so that the load of the machine affects both.

const SOAK = process.env["ALL"] === "1";
const SECONDS = SOAK ? 5 : 0.8;
const ROUNDS = 2;
const RATIO_MAX = 3;
/** While other tests run, the 99th percentile of few messages often measures another process. */
const SLOW_MS = SOAK ? 250 : 2_000;
/**
 * Beyond the calm agent. The budget of unfinished messages is 128 MB, and a buffer that grows takes up to twice its bytes. The
 * bytes that wait for their commit are 16 MB a device, in two threads. The rest is garbage that V8 has not collected yet.
 */
const MEGABYTES_MAX = 2 * 128 + 2 * 16 + 256;
/** The listener holds 32 connections, the imaging thread 128. */
const DESCRIPTORS_MAX = 128 + 32;
/** Ten of each of twenty kinds of faults in a minute, and their sums. */
const WARNINGS_MAX = 220;

/**
 * Messages of the flooded port that the agent stores between a new result there and its acknowledgement: the unfiled ones of the
 * device, then one chunk of each connection in turn. Twice that, because chunks wait for their commit in the order of their receipt.
 */
const BEHIND_MAX = 2 * (UNFILED_MAX + (SOME + 1) * Math.ceil(65_536 / hl7Result(1).length));

interface Outcome {
  readonly calm: Stretch;
  readonly flooded: Stretch;
  /** The largest number of messages that a new result on the flooded port waited for. */
  readonly behind: number;
}

/** Measures calm and flooded stretches in turn. After each flood a good device sends a result on the flooded port. */
async function outcomeOf(clinic: Clinic, flood: Flood): Promise<Outcome> {
  const [calm, flooded] = [newStretch(), newStretch()];
  let behind = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await clinic.measure(calm, SECONDS);
    await clinic.begin(flood);
    await clinic.measure(flooded, SECONDS);
    await clinic.endFlood();
    behind = Math.max(behind, await clinic.sendOnFloodedPort(flood.protocol));
  }
  return { calm, flooded, behind };
}

/** Lists the bounds that a flood broke. */
function problemsOf({ calm, flooded, behind }: Outcome, base: Stretch): string[] {
  const problems: string[] = [];
  const atMost = (what: string, value: number, max: number) => {
    if (value > max) problems.push(`expected ${what} <= ${max.toFixed(0)}, got ${value.toFixed(0)}`);
  };
  const slow = RATIO_MAX * percentile(calm.latencies, 99);
  atMost("p99 in ms", percentile(flooded.latencies, 99), Math.max(slow, SLOW_MS));
  atMost("resident MB", flooded.megabytes, base.megabytes + MEGABYTES_MAX);
  atMost("descriptors", flooded.descriptors, base.descriptors + DESCRIPTORS_MAX);
  atMost("warnings in the log", flooded.warnings, WARNINGS_MAX);
  atMost("messages ahead of the next result on the flooded port", behind, BEHIND_MAX);
  return problems;
}

const figuresOf = ({ latencies, megabytes, descriptors, warnings }: Stretch) =>
  `p99 ${percentile(latencies, 99).toFixed(0)} ms of ${latencies.length}, ${megabytes.toFixed(0)} MB, ${descriptors} descriptors, ${warnings} warnings`;

/** Opens a clinic and measures it without a flood. */
async function openCalm(agent?: string): Promise<{ clinic: Clinic; base: Stretch }> {
  const clinic = await Clinic.open(agent);
  const base = newStretch();
  await clinic.measure(base, 2);
  return { clinic, base };
}

describe("fifteen good devices with a hostile client", () => {
  let clinic: Clinic;
  let base: Stretch;

  beforeAll(async () => {
    ({ clinic, base } = await openCalm());
  });

  afterAll(() => clinic?.end());

  test.each(FLOODS.filter(({ always }) => SOAK || always))(
    "get their acknowledgements in time, and the agent keeps its bounds: $name",
    { timeout: 180_000 },
    async (flood) => {
      const outcome = await outcomeOf(clinic, flood);
      if (SOAK)
        process.stdout.write(
          `${flood.name}: ${figuresOf(outcome.calm)}; flooded ${figuresOf(outcome.flooded)}, then ${outcome.behind} ahead\n`,
        );
      expect(problemsOf(outcome, base)).toEqual([]);
    },
  );

  test("lose no acknowledged result, and each is stored once", () => {
    const { acknowledged, stored } = clinic.counts();
    expect(stored).toEqual(acknowledged);
  });
});

describe("an agent without its protection breaks the bounds", () => {
  test.each([
    [
      "closed connections without a bound take its memory",
      "DEVICE_PENDING_BYTES_MAX = 16 * 1024 * 1024",
      "resident MB",
    ],
    ["warnings without a bound fill its log", "REPORTED_PER_WINDOW = 10", "warnings in the log"],
  ])("%s", { timeout: 180_000 }, async (_title, declared, problem) => {
    const folder = temporaryFolder();
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
    const { clinic, base } = await openCalm(brokenBuild(folder, declared, declared.replace(/=.*/, "= 1e12")));
    onTestFinished(() => clinic.end());
    const flooded: Stretch = { ...newStretch(), latencies: base.latencies };
    const problems = () => problemsOf({ calm: base, flooded, behind: 0 }, base);
    await clinic.begin(FLOODS.find((flood) => flood.name === "deep XML")!);
    await clinic.watchUntil(flooded, () => problems().length > 0);
    expect(problems()).toEqual([expect.stringContaining(problem)]);
  });
});
