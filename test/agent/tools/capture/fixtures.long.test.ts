import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createLink } from "../../../../agent/connection/create-link.ts";
import { profileById } from "../../../../agent/devices/index.ts";
import type { Profile } from "../../../../agent/devices/profile.ts";
import { type Replay, replay, wireOf } from "../../../../agent/tools/offline/replay.ts";
import type { Patient } from "../../../../shared/api/patient.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";
import { fixedContext } from "../../../support/protocols/wire.ts";

// A capture dropped into fixtures/<profile>/ is a regression test. `UPDATE_FIXTURES=1 npx vitest run ... fixtures` writes
// <case>.json, which a user compares with the print-out of the device before the commit. Its first four fields are
// inputs, and an update keeps them.

interface Inputs {
  readonly profile: string;
  readonly timeZone: string;
  readonly receivedAt: string;
  readonly patient: Patient | null;
}

const CAPTURE = /\.(astm|hl7|poct1|dcm|csv|txt|xml|xlsx)$/;
const update = process.env["UPDATE_FIXTURES"] === "1";
const ci = ["1", "true"].includes(process.env["CI"] ?? "");

const files = readdirSync(fixturesFolder, { recursive: true, encoding: "utf8" }).toSorted();
const captures = files.filter((file) => CAPTURE.test(file));

function jsonOf(capture: string): string {
  return join(fixturesFolder, capture.replace(CAPTURE, ".json"));
}

function inputsOf(capture: string): { golden: (Inputs & Replay) | null; inputs: Inputs } {
  const path = jsonOf(capture);
  const golden = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Inputs & Replay) : null;
  const { profile, timeZone, receivedAt, patient } = golden ?? defaults(capture);
  return { golden, inputs: { profile, timeZone, receivedAt, patient } };
}

function defaults(capture: string): Inputs {
  return {
    profile: dirname(capture),
    timeZone: "Europe/Istanbul",
    receivedAt: "2026-11-21T13:00:00.000Z",
    patient: null,
  };
}

function profileOf({ profile }: Inputs): Profile {
  const found = profileById(profile);
  if (found === undefined)
    throw new Error(`${profile} is not a profile: name the folder after one, or state it in the json`);
  return found;
}

function play(chunks: Iterable<Uint8Array>, inputs: Inputs): Replay {
  const context = { device: "fixture", timeZone: inputs.timeZone, receivedAt: Date.parse(inputs.receivedAt) };
  return replay(chunks, profileOf(inputs), context, inputs.patient);
}

/** @returns the actions of the link without timers, which depend on the segmentation */
function linkSaid(chunks: readonly Uint8Array[], profile: Profile): string {
  const link = createLink(profile, fixedContext);
  const actions = [...chunks.flatMap((chunk) => link.receive(chunk)), ...link.close()];
  return actions
    .map((action) => {
      switch (action.do) {
        case "reply":
          return `reply ${Buffer.from(action.bytes).toString("latin1")}`;
        case "deliver":
          return `deliver ${action.incomplete} ${Buffer.from(action.message).toString("latin1")}`;
        case "warn":
          return `warn ${action.reason}`;
        case "sent":
        case "unsent":
        case "timer":
          return "";
        case "identify":
          return `identify ${action.name}`;
        case "report":
          return `${action.report.topic} ${action.report.content}`;
        case "close":
          return "close";
      }
    })
    .filter((line) => line !== "")
    .join("\n");
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const edges = [0, ...places.toSorted((one, other) => one - other), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index] ?? 0, edge));
}

/** Reports a capture without json: it is printed locally and refused in CI. */
function unread(capture: string, replayed: Replay, inCi: boolean): void {
  if (inCi) throw new Error(`${capture} has no json: run with UPDATE_FIXTURES=1, read what it wrote, and commit it`);
  process.stdout.write(`${capture} has no json yet; it reads\n${JSON.stringify(replayed, null, 2)}\n`);
}

test.each(captures)("%s reads the same in every segmentation", async (capture) => {
  const { golden, inputs } = inputsOf(capture);
  const bytes = new Uint8Array(
    await wireOf(basename(capture), readFileSync(join(fixturesFolder, capture)), profileOf(inputs)),
  );
  const whole = play([bytes], inputs);
  const played = { ...inputs, ...whole };
  if (update) writeFileSync(jsonOf(capture), `${JSON.stringify(played, null, 2)}\n`);
  else if (golden === null) unread(capture, whole, ci);
  expect(played).toEqual(update ? played : (golden ?? played));

  expect(play(cut(bytes, [...bytes.keys()]), inputs)).toEqual(whole);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 40 }), (places) => {
      expect(play(cut(bytes, places), inputs)).toEqual(whole);
    }),
    { seed: 2, numRuns: 4 },
  );
  // Equal messages give equal Reports, so comparing the actions of the link for every two-part split is enough.
  const said = linkSaid([bytes], profileOf(inputs));
  const differs = [...bytes.keys()].filter((at) => linkSaid(cut(bytes, [at]), profileOf(inputs)) !== said);
  expect(differs).toEqual([]);
});

test("each json file has its capture", () => {
  const names = new Set(captures.map((capture) => capture.replace(CAPTURE, ".json")));
  expect(files.filter((file) => file.endsWith(".json") && !names.has(file))).toEqual([]);
});

test("a capture without a json file fails in CI", () => {
  const nothing: Replay = { replies: "", warnings: [], messages: [] };
  expect(() => unread("x/y.astm", nothing, true)).toThrow(/x\/y\.astm has no json/);
});
