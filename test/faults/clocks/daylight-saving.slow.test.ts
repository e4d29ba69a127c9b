import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../support/processes.ts";
import { HOUR, TimedClinic } from "./timed-clinic.ts";

// Goal: where a zone changes its clocks, no result is lost, doubled, reordered or filed in the future, although the devices send
// local times without a zone: an hour comes twice or never. Method: processes of agent and server at those hours of 2027. Each
// device sends by its local clock, and again the same bytes after the change and after a restart.

const MINUTE = 60_000;
/** The standing device never changes its clock. */
const ZONES = {
  berlin: "Europe/Berlin",
  york: "America/New_York",
  istanbul: "Europe/Istanbul",
  standing: "Europe/Berlin",
};
type Device = keyof typeof ZONES;

/** Minutes from the change. In an hour that comes twice, -30 and 30 are the same local time. */
const MOMENTS = [-90, -30, 30, 90];
const EXACT = MOMENTS.map(() => 0);
/** The second of two equal local times is read as the first one. */
const REPEATED = [0, 0, -60, 0];

/** In their order. `read`: minutes from each moment to the time that the agent reads; 0 at other devices. */
const CHANGES: readonly { name: string; at: string; read: Partial<Record<Device, number[]>> }[] = [
  { name: "New York skips an hour", at: "2027-03-14T07:00:00Z", read: {} },
  { name: "Berlin skips an hour", at: "2027-03-28T01:00:00Z", read: { standing: [0, 0, 0, -60] } },
  {
    name: "Berlin repeats an hour",
    at: "2027-10-31T01:00:00Z",
    read: { berlin: REPEATED, standing: [-60, -60, -60, 0] },
  },
  { name: "New York repeats an hour", at: "2027-11-07T06:00:00Z", read: { york: REPEATED } },
];

let clinic: TimedClinic;

beforeAll(async () => {
  const devices = Object.entries(ZONES).map(([id, timeZone]) => ({ id, profile: "generic-hl7", timeZone }));
  clinic = await TimedClinic.create(devices);
  clinic.world.agentEnv = { ...clinic.world.agentEnv, TZ: ZONES.berlin };
  clinic.world.serverEnv = { ...clinic.world.serverEnv, TZ: ZONES.york };
  clinic.passTo(Date.parse(CHANGES[0]!.at) - 3 * HOUR);
  await clinic.restart("server");
  await clinic.startAgent();
});

afterAll(() => clinic?.world.end());

/** The time on a device, as it sends it. */
function localTime(device: Device, at: number): string {
  const timeZone = device === "standing" ? "Etc/GMT-1" : ZONES[device];
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  return format.format(at).replaceAll(/\D/g, "");
}

async function settled(): Promise<void> {
  await until("the server has every result", () => clinic.filed().length >= clinic.sent.length);
  await clinic.world.drained();
}

for (const { name, at, read } of CHANGES) {
  test(`results keep order, number and time while ${name}`, async () => {
    const change = Date.parse(at);
    const sentAt = new Map<number, number>();
    for (const minutes of MOMENTS) {
      clinic.passTo(change + minutes * MINUTE);
      for (const device of Object.keys(ZONES) as Device[]) {
        sentAt.set(await clinic.sendCount(device, localTime(device, clinic.right)), clinic.right);
      }
    }
    await settled();
    clinic.passTo(change + 26 * HOUR);
    for (const number of sentAt.keys()) await clinic.resend(number);
    await clinic.restart("agent");
    for (const number of sentAt.keys()) await clinic.resend(number);
    await clinic.world.drained();

    expect(clinic.numbersFiled()).toEqual(clinic.numbersSent());
    expect(new Set(clinic.world.serverStudies().map(({ revision }) => revision))).toEqual(new Set([1]));
    const minutes: Record<string, number[]> = {};
    for (const { device, number, acquiredAt } of clinic.filed()) {
      const sent = sentAt.get(number);
      if (sent !== undefined) (minutes[device] ??= []).push(Math.floor((acquiredAt - sent + MINUTE / 2) / MINUTE));
    }
    const exact = Object.fromEntries(Object.keys(ZONES).map((device) => [device, EXACT]));
    expect(minutes).toEqual({ ...exact, ...read });
  });
}
