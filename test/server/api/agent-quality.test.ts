import { expect, test } from "vitest";
import { QUALITY_PER_PUSH_MAX } from "../../../shared/api/quality.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { query } from "../../../server/database/query.ts";
import type { QualityBody } from "../../../server/dashboard/types/quality.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { allStored, clinic, startServer } from "../harness.ts";
import { controlRun, deviceEvent, pushQuality, result } from "../quality.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const studies = query((db) => db.selectFrom("study").select("fp"));
const runs = query((db) => db.selectFrom("control_run").select(["fp", "clinic_id", "named"]).orderBy("id"));
const events = query((db) => db.selectFrom("device_event").select(["fp", "event", "lot"]).orderBy("id"));

async function start() {
  const server = await startServer(clinic(ours), clinic(theirs));
  return { server, key: await server.makeKey(ours, ["clinic.lab.ingest"]) };
}

test("controls and events are stored in order, each once by its fp and by its dedupe key", async () => {
  const { server, key } = await start();
  const [run, event] = [controlRun(), deviceEvent()];
  const outcome = (fp: string, word: string) => ({ fp, outcome: word, reason: null });
  expect(await pushQuality(server, key, run, event)).toEqual([outcome(run.fp, "stored"), outcome(event.fp, "stored")]);
  const resent = { ...controlRun(), dedupe_key: run.dedupe_key };
  expect(await pushQuality(server, key, event, run, resent)).toEqual([
    outcome(event.fp, "unchanged"),
    outcome(run.fp, "unchanged"),
    outcome(resent.fp, "unchanged"),
  ]);
  expect(await server.store.all(runs, {})).toEqual([{ fp: run.fp, clinic_id: expect.any(Number) as number, named: 1 }]);
  expect(await server.store.all(events, {})).toEqual([{ fp: event.fp, event: "reagent", lot: "R1" }]);
});

test("an invalid record is rejected with its reason, and its neighbours are stored", async () => {
  const { server, key } = await start();
  const good = controlRun();
  const bad = [
    { ...controlRun(), results: [] },
    controlRun({ measured_at: "2026-11-31T05:10:00.000Z" }),
    controlRun({ measured_at: "2027-11-20T05:10:00.000Z" }),
    controlRun({ expires: "2027-02-30" }),
    deviceEvent({ event: "party" as "fault" }),
    { kind: "study" } as unknown as ReturnType<typeof controlRun>,
  ];
  const outcomes = await pushQuality(server, key, bad[0]!, good, ...bad.slice(1));
  expect(outcomes?.map(({ outcome, reason }) => [outcome, reason?.code ?? null])).toEqual([
    ["rejected", "QUALITY.INVALID"],
    ["stored", null],
    ["rejected", "QUALITY.INVALID"],
    ["rejected", "QUALITY.AFTER_CLOCK"],
    ["rejected", "QUALITY.INVALID"],
    ["rejected", "QUALITY.INVALID"],
    ["rejected", "QUALITY.INVALID"],
  ]);
  expect((await server.store.all(runs, {})).map(({ fp }) => fp)).toEqual([good.fp]);
});

test("unknown fields of a later version are discarded", async () => {
  const { server, key } = await start();
  const run = { ...controlRun(), colour: "later-field", results: [{ ...result(92), mood: "later-field" }] };
  expect((await pushQuality(server, key, run))?.[0]?.outcome).toBe("stored");
  expect(allStored(server.database)).not.toContain("later-field");
});

test("a push of too many records or of no list is refused as a whole", async () => {
  const { server, key } = await start();
  expect(
    await pushQuality(server, key, ...Array.from({ length: QUALITY_PER_PUSH_MAX + 1 }, () => controlRun())),
  ).toBeNull();
  const post = async (payload: object) =>
    server.app.inject({ method: "POST", url: "/agent/v1/quality", headers: { "x-api-key": key }, payload });
  expect((await post({ records: {} })).statusCode).toBe(400);
  expect((await post([])).statusCode).toBe(400);
});

test("a control is never a study, and no route of the read API or of FHIR shows it", async () => {
  const { server, key } = await start();
  const run = controlRun({
    ...{ device_name: "CONTROLMARK", material: "CONTROLMARK", lot: "CONTROLMARK", comments: ["CONTROLMARK"] },
    sample_ids: ["CONTROLMARK"],
    results: [result(92, { text: "CONTROLMARK" })],
  });
  await pushQuality(server, key, run, deviceEvent({ subject: "CONTROLMARK", text: "CONTROLMARK" }));
  expect(await server.store.all(studies, {})).toEqual([]);
  const reader = await server.makeKey(ours, [...permissions]);
  const shown: string[] = [];
  for (const url of [
    ...["/api/v1/lab/diagnostics", "/api/v1/patients", "/api/v1/changes", "/api/v1/events", "/api/v1/inventory"],
    ...["/fhir/R4/DiagnosticReport", "/fhir/R4/Observation", "/fhir/R4/Device", "/fhir/R4/Specimen"],
  ]) {
    const { body } = await server.app.inject({
      url,
      headers: { "x-api-key": reader, authorization: `Bearer ${reader}` },
    });
    if (body.includes("CONTROLMARK")) shown.push(url);
  }
  expect(shown).toEqual([]);
});

test("two clinics that push the same fp keep a run each, and neither sees the other's", async () => {
  const { server, key } = await start();
  const other = await server.makeKey(theirs, ["clinic.lab.ingest"]);
  const run = controlRun();
  expect((await pushQuality(server, key, run))?.[0]?.outcome).toBe("stored");
  expect((await pushQuality(server, other, { ...run, device_name: "Theirs" }))?.[0]?.outcome).toBe("stored");
  const user = await makeUser(server, "reader", ours);
  const { body } = await user.call<QualityBody>("GET", "/quality");
  expect(body.devices.map(({ name }) => name)).toEqual(["Abaxis VetScan VS2"]);
});
