import { configCheck } from "../check/check.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { ok, warning } from "../check/finding.ts";

/** Compares the zone of the configuration with the machine's. Devices print local times without their zone. */
export const timeZone = configCheck("zone", "Time zone", ({ timeZone: configured, devices }) => {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [
    { name: "timeZone", zone: configured },
    ...devices.flatMap(({ id, timeZone: zone }) => (zone === undefined ? [] : [{ name: `timeZone of ${id}`, zone }])),
  ];
  return zones.map(({ name, zone }) => compare(name, zone, own));
});

/** Zones with one clock in both halves of the year count as equal. */
function compare(name: string, zone: string, own: string): Finding {
  const year = new Date().getFullYear();
  const days = [Date.UTC(year, 0, 15), Date.UTC(year, 6, 15)];
  if (days.every((at) => clockIn(zone, at) === clockIn(own, at))) {
    return ok("zone.same", `${name} is ${zone}, the clock of this machine`);
  }
  const sentence = `${name} is ${zone}, and this machine's zone is ${own}: times of results may be hours off`;
  const remedy = `if the devices show the time of ${own}, write timeZone: ${own} in agent.yaml; otherwise set this machine's zone`;
  return warning("zone.other", sentence, remedy);
}

function clockIn(zone: string, at: number): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" }).format(at);
}
