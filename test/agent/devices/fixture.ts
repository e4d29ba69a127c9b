import { readFileSync } from "node:fs";
import { profileById } from "../../../agent/devices/index.ts";
import type { Reading, Report } from "../../../agent/report/report.ts";
import { type Replay, replay } from "../../../agent/tools/offline/replay.ts";
import { dog, fixturesFolder } from "../../support/runner/fixtures.ts";
import { context, only, reportsOf } from "../records.ts";

// Fixtures of a device, played through its profile.

/** Plays fixtures/<profile>/<name>.hl7 with the profile of the folder, or with another one. */
export function playFixture(path: string, profileId = path.split("/")[0] ?? ""): Replay {
  const profile = profileById(profileId);
  if (profile === undefined) throw new Error(`${profileId} is not a profile`);
  return replay([readFileSync(`${fixturesFolder}${path}.hl7`)], profile, context, dog);
}

export function readingOf(path: string): Reading {
  return only(playFixture(path).messages).reading;
}

export function reportOf(path: string): Report {
  return only(reportsOf(readingOf(path)));
}

/** Returns device code, value or word, and unit of each row. */
export function rowsOf({ rows }: Report): (string | number | null | undefined)[][] {
  return rows.map(({ device_code, value, text, unit }) => [device_code, value ?? text, unit]);
}

/** Returns the device codes of the rows that the device doubts, with its words. */
export function doubtsOf({ rows }: Report): (string | null | undefined)[][] {
  return rows.flatMap(({ device_code, comment }) => (comment === undefined ? [] : [[device_code, comment]]));
}
