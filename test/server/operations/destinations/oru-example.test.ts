import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { renderDeliveries } from "../../../../server/app.ts";
import { DestinationDispatcher } from "../../../../server/operations/destinations/dispatcher.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { insertDestination } from "../../../../server/records/destinations/destinations.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { receiveResults } from "../../../../shared/client/oru-receiver.ts";
import { clinic, connection, keyPermissions, patient, startServer, study, temporaryFolder } from "../../harness.ts";
import { moveStudy } from "../../study-commands.ts";
import { addUser } from "../../webhooks.ts";

// The example of shared/client at the end of a real queue.

const row = (analyte: string, value: number) => ({ analyte, value, unit: "U/L", reference_range: null, flag: null });

test("the example has each result once, as corrected, withdrawn and moved to another animal", async () => {
  const own = newFp("clinic");
  const [pamuk, boncuk] = [patient({ name: "Pamuk" }), patient({ name: "Bon|cuk" })];
  const server = await startServer(
    [clinic(own), pamuk, boncuk],
    [connection(pamuk.fp, own), connection(boncuk.fp, own)],
  );
  const { store, clock } = server;
  const file = join(temporaryFolder(), "results.db");
  const receiver = await receiveResults(file, 0);
  const address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const clinicId = (await findClinic(store, own))?.id ?? 0;
  await store.transaction((session) =>
    insertDestination(session, {
      ...{ clinicId, agentId: null, slug: "pims", kind: "hl7", address, options: "{}", now: 0 },
    }),
  );
  const now = () => clock.now;
  const times = { connectMs: 60_000, ackMs: 60_000 };
  const render = renderDeliveries(store, now);
  const dispatcher = new DestinationDispatcher(store, {
    ...{ logger: pino({ enabled: false }), allowPrivate: true, now, times, render },
  });
  onTestFinished(async () => {
    await dispatcher.stop();
    receiver.close();
  });
  const received = async () => {
    for (let round = 0; round < 3; round += 1) {
      await dispatcher.check();
      await dispatcher.settled();
      clock.now += 1000;
    }
    const db = new DatabaseSync(file, { readOnly: true });
    const rows = db.prepare("select study, patient, code, value from result order by patient, code").all();
    db.close();
    return rows.map(({ study: fp, patient: animal, code, value }) => [
      fp,
      animal,
      String(code).split("^").at(-3),
      value,
    ]);
  };
  const key = await server.makeKey(own, keyPermissions);
  const filed = study({ patient_fp: pamuk.fp, results: [row("ALT", 50), row("AST", 20)] });
  await server.push(key, filed);
  const [[, first] = []] = await received();
  expect(await received()).toEqual([
    [filed.fp, first, "ALT", "50"],
    [filed.fp, first, "AST", "20"],
  ]);

  await server.push(key, { ...filed, revision: 2, results: [row("ALT", 60)] });
  expect(await received()).toEqual([[filed.fp, first, "ALT", "60"]]);

  const actor = { userId: await addUser(store), by: "127.0.0.1", now: (clock.now += 1000) };
  await store.transaction((session) =>
    moveStudy(session, { ...actor, fp: filed.fp, patientFp: boncuk.fp, reason: "wrong animal" }),
  );
  const moved = await received();
  expect(moved).toEqual([[filed.fp, expect.not.stringMatching(`^${String(first)}$`), "ALT", "60"]]);
});
