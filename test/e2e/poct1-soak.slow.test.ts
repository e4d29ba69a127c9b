import { expect, test } from "vitest";
import { Poct1Client, observation } from "../support/poct1.ts";
import { World } from "../support/processes.ts";
import { soakCount } from "../support/soak.ts";

// Goal: no acknowledged observation is lost or filed twice while many devices reconnect and the agent is killed. Method: the
// value of each measurement is its number, so that each study can be traced back to it.

const DEVICES = 50;
const PATIENTS = 8;
const SECONDS = Number(process.env["SOAK_SECONDS"] ?? soakCount(60));
const KILL_EVERY_MS = 5_000;
/** Mean pause of a device between measurements, and before a resend. */
const PAUSE_MS = 20;

test(`${DEVICES} devices that disconnect and reconnect for ${SECONDS} s lose no observation and duplicate none`, {
  timeout: (SECONDS + 180) * 1000,
}, async () => {
  const world = await World.create(PATIENTS);
  const ports = await world.configureDevices(DEVICES, "generic-poct1a");
  let running = true;
  let next = 1;
  const acknowledged: number[] = [];
  const counts = { broken: 0, replaced: 0, refused: 0 };
  const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 * Math.random()));

  const measured = (number: number) => ({
    patient: world.patients[number % PATIENTS]!.externalId,
    at: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString(),
    sequence: number,
    value: number,
  });

  /** Sends measurements one at a time and resends each until it is acknowledged. */
  const device = async (port: number, serial: string): Promise<void> => {
    let client: Poct1Client | null = null;
    const left: Poct1Client[] = [];
    while (running) {
      const number = next++;
      for (;;) {
        const fate = Math.random();
        if (client?.isOpen === true && fate < 0.1) {
          const document = observation(999, measured(number));
          client.break(document, Math.floor(Math.random() * document.length));
          counts.broken += 1;
          client = null;
        } else if (client?.isOpen === true && fate < 0.15) {
          left.push(client); // still open, like a connection that died unnoticed
          counts.replaced += 1;
          client = null;
        }
        if (client?.isOpen !== true) client = await Poct1Client.connect(port, serial);
        const accepted = await client?.send((id) => observation(id, measured(number)));
        if (accepted === true) break;
        if (accepted === false) counts.refused += 1;
        await pause();
      }
      acknowledged.push(number);
      await pause();
    }
    // The agent closes the older connections of a device.
    expect(left.filter(({ isOpen }) => isOpen)).toEqual([]);
    client?.close();
  };

  try {
    await world.startAgent();
    await world.waitForPatients();
    const devices = ports.map((port, index) => device(port, `SN${index}`));
    const begun = Date.now();
    let kills = 0;
    while (Date.now() - begun < SECONDS * 1000) {
      await new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS * (0.5 + Math.random())));
      await world.agent.end("SIGKILL");
      await world.startAgent();
      kills += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    running = false;
    await Promise.all(devices);
    await world.drained(120_000);

    const seen = new Map<number, number>();
    const wrong: number[] = [];
    for (const { patient, results } of world.serverStudies()) {
      const number = results[0]!.value;
      seen.set(number, (seen.get(number) ?? 0) + 1);
      if (patient !== world.patients[number % PATIENTS]!.fp) wrong.push(number);
    }
    process.stdout.write(
      `poct1 soak: ${acknowledged.length} acknowledged, ${seen.size} studies, ${kills} kills, ${counts.broken} broken off, ` +
        `${counts.replaced} replaced, ${counts.refused} refused\n`,
    );
    expect(acknowledged.length).toBeGreaterThan(DEVICES);
    expect(acknowledged.filter((number) => !seen.has(number))).toEqual([]);
    expect([...seen].filter(([, count]) => count > 1)).toEqual([]);
    expect(wrong).toEqual([]);
  } finally {
    running = false;
    await world.end();
  }
});
