import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { idOf } from "../../../server/fhir/resources/ids.ts";
import { mirrorFhir } from "../../../shared/client/fhir-mirror.ts";
import { keyPermissions, study, temporaryFolder } from "../harness.ts";
import { bird, dog, first, lab, ours, second, startPractice } from "./practice.ts";

test("the example keeps the animals, reports and results of a clinic, and fetches what changed", async () => {
  const { server, key } = await startPractice();
  await server.app.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
  const file = join(temporaryFolder(), "fhir.db");
  const kept = () => {
    const db = new DatabaseSync(file, { readOnly: true });
    const rows = db.prepare("select type, id, body from resource order by type, id").all();
    db.close();
    return new Map(
      rows.map(({ type, id, body }) => [`${String(type)}/${String(id)}`, JSON.parse(String(body)) as object]),
    );
  };
  await mirrorFhir(file, { url, key });
  const names = [...kept().keys()];
  expect(names).toEqual(
    expect.arrayContaining([
      ...[dog, bird].map(({ fp }) => `Patient/${idOf(fp)}`),
      ...[first, second].map((fp) => `DiagnosticReport/${idOf(fp)}`),
      ...lab.results.map((_, index) => `Observation/${idOf(first)}-${index + 1}`),
    ]),
  );

  const agent = await server.makeKey(ours, keyPermissions);
  server.clock.now += 60_000;
  const later = study({ patient_fp: dog.fp });
  await server.push(agent, later, { ...lab, revision: 2, device_name: "Other" });
  await mirrorFhir(file, { url, key });
  const after = kept();
  expect(after.size).toBeGreaterThan(names.length);
  expect(after.has(`DiagnosticReport/${idOf(later.fp)}`)).toBe(true);
  expect(after.get(`Patient/${idOf(dog.fp)}`)).toMatchObject({ name: [{ text: dog.name }] });
});
