import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { changeMark } from "../../../../server/records/changes/changes.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { replaceRanges } from "../../../../server/records/clinics/ranges.ts";
import { clinic, connection, importEntities, patient, startServer, study } from "../../harness.ts";
import { rejectStudy } from "../../study-commands.ts";

const clinicFp = newFp("clinic");

async function world() {
  const server = await startServer(clinic(clinicFp));
  const { id } = (await findClinic(server.store, clinicFp)) ?? { id: 0 };
  const key = await server.makeKey(clinicFp, ["clinic.lab.ingest"]);
  const mark = () => changeMark(server.store, id);
  return { ...server, id, key, mark };
}

test("the mark stays while nothing changes", async () => {
  const { mark } = await world();
  expect(await mark()).toBe(await mark());
});

test("the mark differs after each change that a page shows", async () => {
  const server = await world();
  const { store, clock, app, id, key, mark } = server;
  const animal = patient();
  const unmatched = study();
  const changes = [
    () => importEntities(store, animal, connection(animal.fp, clinicFp)),
    () => server.push(key, study({ patient_fp: animal.fp })),
    () => server.push(key, unmatched),
    () =>
      store.transaction((session) =>
        rejectStudy(session, { fp: unmatched.fp, reason: "a test", by: "a user", now: clock.now }),
      ),
    () =>
      app.inject({
        method: "POST",
        url: "/agent/v1/heartbeat",
        headers: { "x-api-key": key },
        payload: { version: "1" },
      }),
    () => store.transaction((session) => replaceRanges(session, id, { low_quality: true, rows: [] }, clock.now)),
  ];
  const marks = [await mark()];
  for (const change of changes) {
    clock.now += 1000;
    await change();
    marks.push(await mark());
  }
  expect(new Set(marks).size).toBe(changes.length + 1);
});
