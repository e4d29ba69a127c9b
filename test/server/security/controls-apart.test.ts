import { expect, test } from "vitest";
import { listClinics } from "../../../server/records/clinics/clinics.ts";
import { exportEntities } from "../../../server/import/export.ts";
import { loadForDestination } from "../../../server/records/destinations/hl7/content.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { study } from "../harness.ts";
import { controlRun, pushQuality } from "../quality.ts";
import { headersAt, routesOf, rowOf, send, startTwoClinics } from "./two-clinics.ts";

// Nothing of a control is readable as a patient's result: no other answer than those of quality control has its value, material, lot,
// sample or comment. The agent's side: test/agent/devices/controls-stay-apart.test.ts.

/** Texts that nothing else of the server has. */
const MARKS = ["7351.25", "MaterialMark", "LotMark", "SampleMark", "CommentMark", "TextMark"];

/** The routes of quality control itself. */
const OWN = /^GET \/clinic\/v1\/clinics\/:clinic\/quality(\/|$)/;

test("no answer of a server has a control, other than those of quality control", { timeout: 120_000 }, async () => {
  const { server, ours } = await startTwoClinics();
  const { animal } = ours.named;
  const at = "2026-11-20T09:00:00.000Z";
  const source = { device_id: "chem-1", message_id: "1" };
  const target = { mean: 100, sd: 2 };
  const marked = { analyte: "GLU", value: 7351.25, text: "TextMark", unit: "mg/dL", target };
  const run = controlRun({
    ...{ measured_at: at, material: "MaterialMark", lot: "LotMark", sample_ids: ["SampleMark"], source },
    ...{ comments: ["CommentMark"], results: [marked, { ...marked, analyte: "OWN-CODE", code_source: "device" }] },
  });
  // Nobody has said which level it is.
  const unnamed = controlRun({ ...run, fp: newFp("control"), dedupe_key: "2", level: null, lot: null });
  const outcomes = await pushQuality(server, ours.agentKey, run, unnamed);
  expect(outcomes?.map(({ outcome }) => outcome)).toEqual(["stored", "stored"]);
  const after = study({ patient_fp: animal, source, acquired_at: "2026-11-20T10:00:00.000Z" });
  await server.push(ours.agentKey, after);

  const found: string[] = [];
  const seen: string[] = [];
  const look = (name: string, text: string) => {
    if (MARKS.some((mark) => text.includes(mark))) found.push(name);
  };
  for (const route of routesOf(server.app)) {
    if (route.method !== "GET" || /^\/clinic\/.*\/events$|[*]/.test(route.url)) continue;
    const ofStudy = route.url.replace(":fp", after.fp).replace(":clinic", ours.fp);
    for (const url of new Set([ours.pathTo(route.url), ofStudy])) {
      if (url.includes("/:")) continue;
      const { body, statusCode } = await send(server.app, { ...route, url }, headersAt(url, ours));
      if (statusCode === 200) seen.push(rowOf(route));
      look(rowOf(route), body);
    }
  }
  expect(new Set(found.filter((row) => !OWN.test(row)))).toEqual(new Set());
  expect(found).toContain("GET /clinic/v1/clinics/:clinic/quality");
  expect(seen).toEqual(
    expect.arrayContaining([
      "GET /api/v1/lab/diagnostics/:fp",
      "GET /fhir/R4/Observation",
      "GET /api/v1/patients/:fp",
      "GET /api/v1/events",
    ]),
  );
  const lines = [];
  for await (const line of exportEntities(server.store)) lines.push(line);
  look("export", JSON.stringify(lines));
  for (const { id } of await listClinics(server.store)) {
    look("HL7", JSON.stringify(await loadForDestination(server.store, id, after.fp)));
  }
  expect(found.filter((row) => row === "export" || row === "HL7")).toEqual([]);
});
