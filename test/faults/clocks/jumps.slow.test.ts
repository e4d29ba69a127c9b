import fs from "node:fs";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { OFFSET_MS_MAX } from "../../../agent/push/clock-watch.ts";
import { brokenBuild } from "../../support/broken-build.ts";
import { temporaryFolder, until } from "../../support/processes.ts";
import { CLOCK_SENTENCE, DAY, HOUR, TimedClinic, YEARS } from "./timed-clinic.ts";

// Goal: no jump of a clock loses, doubles, reorders or expires an acknowledged result, nor files one in the future, and the
// difference of the clocks is told. Method: processes of agent and server, whose clocks the test sets while they run or while they
// are stopped; hours pass in between, so that every task of retention runs by the wrong clock.

const SOAK = process.env["SOAK"] === "1";

interface Jump {
  readonly agent: number;
  readonly server: number;
  readonly stopped: readonly ("agent" | "server")[];
}

const BY = [HOUR, DAY + HOUR, YEARS, -HOUR, -DAY - HOUR, -YEARS];
const ALL: Jump[] = BY.flatMap((by) => [
  { agent: by, server: 0, stopped: [] },
  { agent: by, server: 0, stopped: ["agent"] },
  { agent: 0, server: by, stopped: [] },
  { agent: 0, server: by, stopped: ["server"] },
  { agent: by, server: -by, stopped: [] },
]);
const FEW: Jump[] = [
  { agent: YEARS, server: 0, stopped: [] },
  { agent: -YEARS, server: 0, stopped: [] },
  { agent: -YEARS, server: 0, stopped: ["agent"] },
  { agent: 0, server: -YEARS, stopped: [] },
  { agent: YEARS, server: -YEARS, stopped: [] },
  { agent: DAY + HOUR, server: -HOUR, stopped: [] },
];

/** Time that passes in one clinic. After 29 days its oldest images expire rightly. */
const LIFE_MS_MAX = 20 * DAY;

let clinic: TimedClinic;

beforeAll(async () => {
  clinic = await open();
});

beforeEach(async () => {
  if (clinic.right - Date.now() < LIFE_MS_MAX) return;
  await clinic.world.end();
  clinic = await open();
});

afterAll(() => clinic?.world.end());

/** Starts a clinic, and sends the first results. */
async function open(agentProgram?: string): Promise<TimedClinic> {
  const opened = await TimedClinic.create();
  if (agentProgram !== undefined) opened.world.agentProgram = agentProgram;
  await opened.restart("server");
  await opened.startAgent();
  await opened.sendAll();
  await settled(opened);
  return opened;
}

/** Waits until the server has every acknowledged result. */
async function settled(of: TimedClinic): Promise<void> {
  await until("the server has every result", () => of.filed().length >= of.sent.length);
  await of.world.drained();
}

/** Checks that every acknowledged result is filed once, in the order of its device and with a past time, and kept. */
function check(of: TimedClinic): void {
  expect(of.numbersFiled()).toEqual(of.numbersSent());
  expect(of.latest()).toBeLessThanOrEqual(of.right);
  const { length: images } = of.images;
  expect(of.kept()).toEqual({ messages: of.sent.length + images, images });
  expect(of.world.status().directory.patients).toBe(of.world.patients.length);
}

for (const { agent, server, stopped } of SOAK ? ALL : FEW) {
  const how = stopped.length > 0 ? "while it is stopped" : "while both run";
  test(`clocks set ahead by ${agent / HOUR} h at the agent and ${server / HOUR} h at the server ${how} harm no result`, async () => {
    const logged = () => clinic.world.agent.output();
    clinic.set(agent, server);
    await clinic.restart(...stopped);
    await clinic.sendAll();
    clinic.pass();
    const offset = agent - server;
    const status = await clinic.told(offset);
    clinic.pass();
    expect(CLOCK_SENTENCE.exec(status)?.[2]).toBe(offset > 0 ? "ahead of" : "behind");
    expect(Math.abs(Number(CLOCK_SENTENCE.exec(status)?.[1]) - Math.abs(offset) / 1000)).toBeLessThan(30);
    expect(logged()).toMatch(CLOCK_SENTENCE);
    await clinic.sendAll();
    await clinic.world.drained();

    clinic.set(0, 0);
    await clinic.restart(...stopped);
    clinic.pass();
    expect(await clinic.told(0)).not.toMatch(CLOCK_SENTENCE);
    // A new process never saw the wrong clock.
    const end = stopped.includes("agent")
      ? "the agent is running"
      : "this machine's clock agrees with the server's again";
    expect(logged().indexOf(end)).toBeGreaterThan(stopped.includes("agent") ? 0 : logged().search(CLOCK_SENTENCE));
    await settled(clinic);
    await clinic.sendAll();
    await settled(clinic);
    check(clinic);
  });
}

/** Sends results that wait for the server while the agent's clock is set back. */
async function sendOverJump(of: TimedClinic): Promise<void> {
  await of.world.server.end();
  await of.sendAll();
  // A second chemistry result of the same second would be a correction of the first.
  of.pass(60_000);
  of.set(-DAY - HOUR, 0);
  await of.sendAll();
  await of.world.startServer();
  // The agent waits longer after each failure.
  await of.passUntil("the server has every result", () => of.filed().length >= of.sent.length);
  of.set(0, 0);
}

test("results that wait for the server keep their order over a jump", async () => {
  await sendOverJump(clinic);
  expect(clinic.numbersFiled()).toEqual(clinic.numbersSent());
  check(clinic);
});

test("an agent that starts years behind while the server is away keeps what it receives", async () => {
  await clinic.told(0);
  await clinic.world.server.end();
  await clinic.world.agent.end();
  clinic.set(-YEARS, 0);
  await clinic.world.startAgent();
  await clinic.sendAll();
  await clinic.world.startServer();
  await clinic.told(-YEARS);
  clinic.set(0, 0);
  await clinic.told(0);
  await settled(clinic);
  clinic.pass();
  await clinic.told(0);
  expect(clinic.kept().images).toBe(clinic.images.length);
  check(clinic);
});

test("results of a device whose clock is wrong by years are filed once, listed, kept and told, and none in the future", async () => {
  // From a jump back to the right time until the server's answer, a receipt has too early a time.
  await clinic.told(0);
  const begin = clinic.right;
  const times = ["19700101000000", "20000101000500", "20991231235900"];
  const numbers: number[] = [];
  for (const time of times) numbers.push(await clinic.sendCount("hema", time));
  await settled(clinic);
  const end = clinic.right;
  for (const number of numbers) await clinic.resend(number);
  await clinic.sendAll();
  clinic.pass();
  await clinic.restart("agent");
  for (const number of numbers) await clinic.resend(number);
  await settled(clinic);
  check(clinic);
  const acquired = numbers.map((number) => clinic.filed().find((each) => each.number === number)?.acquiredAt ?? 0);
  expect(acquired[1]).toBe(Date.UTC(2000, 0, 1, 0, 5));
  // The agent knows the time of receipt to a minute, by both clocks.
  for (const time of [acquired[0], acquired[2]]) {
    expect(time).toBeGreaterThanOrEqual(begin - OFFSET_MS_MAX);
    expect(time).toBeLessThanOrEqual(end);
  }
  const told = () => clinic.world.status().devices.find(({ id }) => id === "hema")?.last_warning?.reason;
  const sentence = "the device dates a result 2099-12-31T23:59:00.000Z: set its date and time";
  await clinic.passUntil("the wrong clock is told", () => told() === sentence);
  await clinic.passUntil("the server knows the wrong clock", () => clinic.warningAtServer("hema") === sentence);
  const since = new Date(begin - HOUR).toISOString();
  expect(await clinic.listedSince(since)).toEqual(expect.arrayContaining(acquired));
});

test("control: what both clocks agree to be three years old expires, so retention did run", async () => {
  clinic.set(YEARS, YEARS);
  clinic.pass();
  await clinic.passUntil("the old messages are removed", () => clinic.kept().messages < clinic.sent.length);
  await clinic.passUntil("the old images are removed", () => clinic.kept().images < clinic.images.length);
  expect(clinic.filed().length).toBe(clinic.sent.length);
});

interface Broken {
  readonly breaks: string;
  readonly text: string;
  readonly by: string;
  /** Does what harms the results of the broken agent. */
  readonly harm: (clinic: TimedClinic) => Promise<void>;
}

const BROKEN: readonly Broken[] = [
  {
    breaks: "removes old rows by its wall clock",
    text: "if (last === null || Math.abs(last.offsetMs) > AGREED_MS_MAX) return null;",
    by: "return this.#clock.wall();",
    async harm(broken) {
      broken.set(YEARS, 0);
      broken.pass();
      await broken.passUntil("the old messages are removed", () => broken.kept().messages < broken.sent.length);
    },
  },
  {
    breaks: "sends in the order of its wall clock",
    text: "WHERE state = 'queued' AND reason IS NULL ORDER BY rowid LIMIT ?",
    by: "WHERE state = 'queued' AND reason IS NULL ORDER BY created_at LIMIT ?",
    harm: sendOverJump,
  },
];

for (const { breaks, text, by, harm } of BROKEN) {
  test(`control: an agent that ${breaks} is found`, async () => {
    const folder = temporaryFolder();
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
    const broken = await open(brokenBuild(folder, text, by));
    onTestFinished(() => broken.world.end());
    check(broken);
    await harm(broken);
    expect(() => check(broken)).toThrow("deeply equal");
  });
}
