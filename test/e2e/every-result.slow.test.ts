import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Result } from "../../shared/api/study.ts";
import { AGENT, freePort, ROOT, runServerCommand, start, World } from "../support/processes.ts";

// Goal: every result of every device arrives, under an analyte of the catalogue or under the device's own code. Method: processes
// of agent and server, and one device per profile that all send at once over sockets. The patient is unknown to the clinic, so
// that the studies wait at the desk; a user assigns them, and GET returns each result that the fixture has.

/** Each fixture is one message of the profile that its folder names. */
const FIXTURES = [
  "abaxis-vetscan-vs2/dog.astm",
  "arkray-spotchem-ez/multi.astm",
  "bionote-vcheck/two-answers.hl7",
  "biosystems-ba/one-sample.hl7",
  "boule-exigo/dog-three-parts.hl7",
  "edan-h30/one-sample.hl7",
  "epoc/results-and-run-data.astm",
  "fuji-dri-chem-nx/four-slides.astm",
  "siemens-clinitek/patient-strip.hl7",
  "siemens-dca/urine-cartridge.astm",
];

interface Golden {
  readonly messages: readonly { readonly studies: readonly { readonly results: readonly Result[] }[] }[];
}

/** Returns the parts of a result that do not depend on the patient. */
function measured({ analyte, value, value_text, unit, code_source }: Result) {
  return { analyte, value, value_text, unit, code_source };
}

let world: World;

beforeAll(async () => {
  world = await World.create(2);
});

afterAll(() => world.end());

test("ten devices send at once, and every result is read by GET after it was placed at the desk", async () => {
  const devices = await Promise.all(
    FIXTURES.map(async (fixture) => ({ fixture, profile: path.dirname(fixture), port: await freePort() })),
  );
  world.writeConfig(
    devices.map(({ profile, port }) => ({ id: profile, profile, connection: { listen: `127.0.0.1:${port}` } })),
  );
  await world.startAgent();
  await world.waitForPatients();
  const simulators = devices.map(({ fixture, port }) =>
    start(AGENT, ["simulate", path.join(ROOT, "fixtures", fixture), "--to", `tcp://127.0.0.1:${port}`]),
  );
  const codes = await Promise.all(
    simulators.map((simulator) => new Promise((resolve) => simulator.process.once("exit", resolve))),
  );
  expect(codes).toEqual(FIXTURES.map(() => 0));

  const messages = await world.drained();
  const [dog] = world.patients;
  const desk = ["--data", world.serverData];
  const listed = runServerCommand("unmatched", "list", ...desk);
  for (const { fixture, profile } of devices) {
    const golden = JSON.parse(
      fs.readFileSync(path.join(ROOT, "fixtures", fixture.replace(/\.\w+$/, ".json")), "utf8"),
    ) as Golden;
    const sent = golden.messages.flatMap(({ studies }) => studies.flatMap(({ results }) => results.map(measured)));
    const fps = messages.filter(({ device }) => device === profile).flatMap(({ study_fps }) => study_fps);
    const read: object[] = [];
    for (const fp of fps) {
      expect(listed).toContain(fp);
      expect((await world.getStudy(fp)).status).toBe(404);
      runServerCommand("unmatched", "assign", fp, "--patient", dog!.fp, ...desk);
      const { body } = await world.getStudy(fp);
      const { results } = (body as { data: { results: readonly Result[] } }).data;
      read.push(...results.map(measured));
      const ofDevice = results.filter(({ code_source }) => code_source === "device");
      expect(ofDevice.filter(({ flag, reference_range }) => flag !== null || reference_range !== null)).toEqual([]);
    }
    expect(sent.length).toBeGreaterThan(0);
    expect([profile, read]).toEqual([profile, sent]);
  }
}, 180_000);
