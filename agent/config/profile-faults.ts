import type { OwnProfiles } from "../devices/own/own-profiles.ts";
import { isOwn } from "../devices/own/reference.ts";
import type { LocatedProblem } from "./line-numbers.ts";
import type { DeviceConfig } from "./values/schema.ts";

// A device whose own profile is missing or faulty does not start. The others run, so the fault does not refuse the file.

/** Finds the own profiles of the devices that cannot be used. */
export function profileFaults(devices: readonly DeviceConfig[], own: OwnProfiles): LocatedProblem[] {
  return devices.flatMap(({ profile }, index) => {
    const read = isOwn(profile) ? own.read(profile) : null;
    if (read === null || "profile" in read) return [];
    const steps = ["devices", String(index), "profile"];
    return read.problems.map((problem) => ({ steps, message: `devices[${index}].profile is ${profile}: ${problem}` }));
  });
}
