import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../support/processes.ts";
import { DAY, HOUR, TimedClinic, YEARS } from "./timed-clinic.ts";

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
  { agent: -YEARS, server: 0, stopped: ["agent"] },
  { agent: 0, server: -YEARS, stopped: [] },
  { agent: DAY + HOUR, server: -HOUR, stopped: [] },
];

let clinic: TimedClinic;

beforeAll(async () => {
  clinic = await TimedClinic.create();
  await clinic.restart("server");
  await clinic.startAgent();
  await clinic.sendAll();
  await settled();
});

afterAll(() => clinic.world.end());

/** Waits until the server has every acknowledged result. */
async function settled(): Promise<void> {
  await until("the server has every result", () => clinic.filed().length >= clinic.sent.length);
  await clinic.world.drained();
}

/** Checks that every acknowledged result is filed once, in the order of its device and with a past time, and kept. */
function check(): void {
  expect(clinic.numbersFiled()).toEqual(clinic.numbersSent());
  expect(clinic.latest()).toBeLessThanOrEqual(clinic.right);
  const { length: images } = clinic.images;
  expect(clinic.kept()).toEqual({ messages: clinic.sent.length + images, images });
  expect(clinic.world.status().directory.patients).toBe(clinic.world.patients.length);
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
    const sentence = /this machine's clock is (\d+) s (ahead of|behind) the server's/;
    expect(sentence.exec(status)?.[2]).toBe(offset > 0 ? "ahead of" : "behind");
    expect(Math.abs(Number(sentence.exec(status)?.[1]) - Math.abs(offset) / 1000)).toBeLessThan(30);
    expect(logged()).toMatch(sentence);
    await clinic.sendAll();
    await clinic.world.drained();

    clinic.set(0, 0);
    await clinic.restart(...stopped);
    clinic.pass();
    expect(await clinic.told(0)).not.toMatch(sentence);
    // A new process never saw the wrong clock.
    const end = stopped.includes("agent")
      ? "the agent is running"
      : "this machine's clock agrees with the server's again";
    expect(logged().indexOf(end)).toBeGreaterThan(stopped.includes("agent") ? 0 : logged().search(sentence));
    await settled();
    await clinic.sendAll();
    await settled();
    check();
  });
}

test("control: what both clocks agree to be three years old expires, so retention did run", async () => {
  clinic.set(YEARS, YEARS);
  await clinic.passUntil("the old messages are removed", () => clinic.kept().messages < clinic.sent.length);
  await clinic.passUntil("the old images are removed", () => clinic.kept().images < clinic.images.length);
  expect(clinic.filed().length).toBe(clinic.sent.length);
});
