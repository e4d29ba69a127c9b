import fs from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/processes.ts";
import { type Drain, SoakClinic } from "./soak-clinic.ts";
import { figuresOf, type Figures, type Limits, problemsOf } from "./judge.ts";

// Goal: in a day of work nothing grows with the messages: neither memory nor open files nor the write-ahead log nor the time of a
// turn of the event loop, through restarts of both programs and hours without the server. Method: processes of the built agent and
// server with a clock that passes faster than the real one, five messages a second of that clock on all protocols, and a forced
// garbage collection before each measure of memory.
//
// An hour is an hour of that clock, with its 18 000 messages and its periodic tasks. Delays and the drain are in real time, while
// both programs get some forty times the messages of a clinic with that rate. `SOAK=1 HOURS=8` takes a third of the day.

const SOAK = process.env["SOAK"] === "1";
const HOURS = SOAK ? Number(process.env["HOURS"] ?? 24) : 0.12;
/** Samples in a twenty-fourth of the run. */
const SAMPLES = SOAK ? 12 : 1;
const PAGE_BYTES = 4_096;

/**
 * A short run sees caches fill and code being compiled, and shares the machine with other tests: its limits find what grows fast.
 * A day finds a leak of 58 bytes a message, which is 1 MB in an hour.
 */
const LIMITS: Limits = SOAK
  ? {
      ...{ heapBytesPerHour: 1e6, heapBytesPerMessage: 58, residentBytesPerHour: 1e6, p99Ms: 50 },
      ...{ warmUpMessages: 18_000, samplesMin: 12 },
      ...{ moreDescriptors: 3, logBytes: 0 },
    }
  : {
      ...{ heapBytesPerHour: 110e6, heapBytesPerMessage: 6_000, residentBytesPerHour: 2e9, p99Ms: 2_000 },
      ...{ warmUpMessages: 200, samplesMin: 4 },
      ...{ moreDescriptors: 16, logBytes: 0 },
    };
/** The agent lets its log reach 16 000 pages. SQLite begins anew after 1000 pages at the server; one transaction goes beyond. */
const LOG_PAGES = { agent: 17_000, server: 4_000 };
const DRAIN_MIN = SOAK ? 200 : 100;

let clinic: SoakClinic;
afterAll(() => clinic?.world.end());

const limitsOf = (program: "agent" | "server"): Limits => ({ ...LIMITS, logBytes: LOG_PAGES[program] * PAGE_BYTES });

const textOf = ({ heapBytesPerHour, heapBytesPerMessage, residentBytesPerHour, ...others }: Figures) =>
  `heap ${megabytes(heapBytesPerHour)} an hour and ${heapBytesPerMessage?.toFixed(0)} bytes a message, resident ` +
  `${megabytes(residentBytesPerHour)} an hour, ${others.moreDescriptors} more descriptors, event loop p99 ` +
  `${others.p99Ms.toFixed(0)} ms, longest ${others.maxMs.toFixed(0)} ms, log up to ${megabytes(others.logBytes)}`;

const megabytes = (bytes: number | null) => `${((bytes ?? Number.NaN) / 1e6).toFixed(2)} MB`;

describe(`${HOURS} hours at five messages a second`, () => {
  let drain: Drain;

  test("each message and image is filed once, through restarts and hours without the server", {
    timeout: 5_400_000,
  }, async () => {
    clinic = await SoakClinic.open();
    const at = (hour: number) => (HOURS * hour) / 24;
    await clinic.measure();
    await clinic.runUntil(at(8), 8 * SAMPLES);
    await clinic.restart("agent");
    await clinic.measure();
    await clinic.runUntil(at(12), 4 * SAMPLES);
    await clinic.world.server.end();
    await clinic.runUntil(at(15), 3 * SAMPLES);
    await clinic.startServer();
    drain = await clinic.drain();
    await clinic.measure();
    await clinic.runUntil(at(20), 5 * SAMPLES);
    await clinic.restart("server");
    await clinic.measure();
    await clinic.runUntil(at(24), 4 * SAMPLES);
    await clinic.filed(SOAK ? 600_000 : 60_000);
    expect(clinic.states()).toEqual({ filed: clinic.messages + clinic.images });
    expect(clinic.studies()).toBe(clinic.messages + clinic.images);
    expect(clinic.previews()).toBe(clinic.images);
  });

  test.each(["agent", "server"] as const)("the %s keeps its bounds", (program) => {
    const figures = figuresOf(clinic.samples[program], limitsOf(program));
    process.stdout.write(`${program}: ${textOf(figures)}\n`);
    expect(problemsOf(figures, limitsOf(program))).toEqual([]);
  });

  test(`the backlog reaches the server with at least ${DRAIN_MIN} studies a second`, () => {
    const { studies, seconds } = drain;
    process.stdout.write(
      `drain: ${studies} studies in ${seconds.toFixed(1)} s, ${(studies / seconds).toFixed(0)} a second\n`,
    );
    expect(studies / seconds).toBeGreaterThan(DRAIN_MIN);
  });
});

describe("an agent that grows with its messages", () => {
  /** A module by which each write to a socket keeps some bytes, and some an open file. */
  function leak(bytes: number): string {
    const file = path.join(temporaryFolder(), "leak.cjs");
    onTestFinished(() => fs.rmSync(path.dirname(file), { recursive: true, force: true }));
    const text = `
      const { openSync } = require("node:fs");
      const { Socket } = require("node:net");
      const { write } = Socket.prototype;
      const kept = [];
      Socket.prototype.write = function (...args) {
        kept.push(Array.from({ length: ${Math.round(bytes / 8)} }, () => kept.length + 0.5));
        if (kept.length % ${SOAK ? 200 : 10} === 0) openSync("/dev/null", "r");
        return write.apply(this, args);
      };`;
    fs.writeFileSync(file, text);
    return file;
  }

  test("breaks the bounds of memory and of open files", { timeout: 1_800_000 }, async () => {
    const leaking = await SoakClinic.open(leak(SOAK ? 100 : 8_000));
    onTestFinished(() => leaking.world.end());
    await leaking.measure();
    await leaking.runUntil(SOAK ? 2 : 0.04, SOAK ? 30 : 8);
    leaking.disconnect();
    const problems = problemsOf(figuresOf(leaking.samples.agent, limitsOf("agent")), limitsOf("agent"));
    expect(problems).toContainEqual(expect.stringContaining("heap bytes an hour"));
    expect(problems).toContainEqual(expect.stringContaining("heap bytes a message"));
    expect(problems).toContainEqual(expect.stringContaining("further open files"));
  });
});
