import { expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import { Metrics } from "../../../server/operations/metrics.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { Outcome } from "../../../shared/api/study.ts";
import { clinic, connection, keyPermissions, patient, startServer, study } from "../harness.ts";

// The limit of studies that a clinic may store.

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
const [dog, cat] = [patient(), patient()];

async function limitedServer(clinicStudiesMax: number) {
  const server = await startServer(
    [clinic(ours), clinic(theirs), dog, cat],
    [connection(dog.fp, ours), connection(cat.fp, theirs)],
  );
  const { store, pepper, clock } = server;
  const metrics = new Metrics();
  const app = buildApp(store, { pepper, now: () => clock.now, metrics, clinicStudiesMax });
  onTestFinished(() => app.close());
  const push = async (key: string, ...studies: unknown[]) => {
    const headers = { "x-api-key": key };
    const response = await app.inject({ method: "POST", url: "/agent/v1/studies", headers, payload: { studies } });
    return response.json<{ outcomes: Outcome[] }>().outcomes.map(({ outcome }) => outcome);
  };
  const deferred = async () => /^vetwire_server_studies_deferred_total (\d+)$/m.exec(await metrics.text())?.[1];
  return { ...server, push, deferred, key: await server.makeKey(ours, keyPermissions) };
}

test("a new study beyond the limit is deferred, and stored once the limit is raised", async () => {
  const { push, key, deferred, ...server } = await limitedServer(2);
  const [first, unmatched, third] = [study({ patient_fp: dog.fp }), study(), study({ patient_fp: dog.fp })];
  expect(await push(key, first, unmatched, third)).toEqual(["filed", "unmatched", "deferred"]);
  expect(await push(key, third)).toEqual(["deferred"]);
  expect(await deferred()).toBe("2");
  expect((await server.get(key, `/api/v1/lab/diagnostics/${third.fp}`)).status).toBe(404);
  const app = buildApp(server.store, { pepper: server.pepper, now: () => server.clock.now, clinicStudiesMax: 3 });
  onTestFinished(() => app.close());
  const sent = { method: "POST", url: "/agent/v1/studies", headers: { "x-api-key": key } } as const;
  const response = await app.inject({ ...sent, payload: { studies: [third, study()] } });
  expect(response.json<{ outcomes: Outcome[] }>().outcomes).toMatchObject([
    { outcome: "filed" },
    { outcome: "deferred", reason: expect.stringContaining("as many studies as this server allows") },
  ]);
});

test("a clinic at its limit stores revisions, takes resends, and does not hold up another clinic", async () => {
  const { push, key, makeKey, deferred } = await limitedServer(1);
  const stored = study({ patient_fp: dog.fp });
  expect(await push(key, stored)).toEqual(["filed"]);
  const revised = { ...stored, revision: 2, device_name: "Other" };
  expect(await push(key, study({ patient_fp: dog.fp }), revised, stored)).toEqual(["deferred", "filed", "unchanged"]);
  expect(await push(await makeKey(theirs, keyPermissions), study({ patient_fp: cat.fp }))).toEqual(["filed"]);
  expect(await deferred()).toBe("1");
});
