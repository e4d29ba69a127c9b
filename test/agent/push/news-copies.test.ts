import path from "node:path";
import type { AddressInfo } from "node:net";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { followNews } from "../../../agent/push/news.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { DIRECTORY_LISTS, Directory } from "../../../agent/study/patient-directory.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import type { NewsList } from "../../../shared/api/agent/agent-lists.ts";
import { keyPermissions, temporaryFolder } from "../../server/harness.ts";
import { startMirrored } from "../../server/mirrored.ts";
import { changeClinic } from "../../support/clinic/changing-clinic.ts";
import { diceOf } from "../../support/runner/dice.ts";
import { useSpool } from "../../support/spool.ts";

// The agent's copies equal the server's lists after the last news. Method: the real server and spool, random changes of each kind, also
// while lists are read.

const used = useSpool();
const ROUNDS = 6;

test("after random changes the agent's patients and identifiers are those of the server", async () => {
  const { server, facts } = await startMirrored(1_000_000);
  const { app, clock, store } = server;
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const key = await server.makeFreshKey(facts.own, [...keyPermissions], { type: "device" });
  const client = createServerClient(url, () => key);
  const directory = new Directory(used.spool, client);
  const reads: string[] = [];
  const failures: string[] = [];
  const failed = (reason: string) => void failures.push(reason);
  const read = async (lists: ReadonlySet<NewsList>) => {
    await directory.syncAfterChange(lists);
    reads.push([...lists].join(" "));
  };
  const stop = followNews(
    client,
    [{ lists: DIRECTORY_LISTS, everyMs: 1e9, unchangedMs: 1e9, retryMs: 1000, read, failed }],
    async () => undefined,
  );
  onTestFinished(stop);

  const [folder, dice] = [temporaryFolder(), diceOf(3)];
  for (let round = 0; round < ROUNDS; round += 1) {
    clock.now += dice(60_000);
    // A result asks for its patient meanwhile.
    const asked = directory.refresh(0, 5_000);
    await changeClinic(store, facts, { dice, round, folder, clock: () => clock.now });
    await asked;
    await new Promise((resolve) => setTimeout(resolve, dice(400)));
  }
  const truth = async () => {
    const { items } = (await server.get(key, "/api/v1/patients?page_size=100")).body.data;
    const identifiers = (await server.get(key, "/agent/v1/identifiers?page_size=100")).body.data.items as unknown as {
      patient_fp: string;
      identifiers: string[];
    }[];
    return {
      patients: items.toSorted((one, other) => (one.fp < other.fp ? -1 : 1)),
      identifiers: identifiers.flatMap((each) => each.identifiers).toSorted(),
    };
  };
  const expected = await truth();
  expect(expected.patients.length).toBeGreaterThan(5);
  await expect.poll(() => copied(used.folder)).toEqual(expected);
  expect(failures).toEqual([]);
  // All once, and later those that changed: the fixed seed changes no interval, code or order.
  const [first, ...later] = reads;
  expect(first).toBe(DIRECTORY_LISTS.join(" "));
  expect(new Set(later)).toEqual(new Set(["patients"]));
});

function copied(folder: string) {
  const db = new Database(path.join(folder, "spool.db"), { readonly: true });
  const bodies = db.prepare("SELECT body FROM patient ORDER BY fp").pluck().all() as string[];
  const identifiers = db.prepare("SELECT identifier FROM identifier ORDER BY identifier").pluck().all();
  db.close();
  return { patients: bodies.map((body) => JSON.parse(body) as Patient), identifiers };
}
