import { expect, test } from "vitest";
import { syncPlacements } from "../../../agent/study/placements.ts";
import type { ServerClient } from "../../../agent/push/server-client.ts";
import type { SpoolCalls } from "../../../agent/spool/spool.ts";
import type { PlacementList } from "../../../shared/api/agent/agent-lists.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { addMessage, openOperations, serverOutcome, settlement } from "../../support/spool-operations.ts";
import { studyDraft } from "../../support/clinic/study.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinicEntities, dog, ours, waiting } from "../../dashboard/unmatched-clinic.ts";
import { importEntities, keyPermissions, noon, startServer } from "../../server/harness.ts";

/** Runs the agent's calls on a spool without its worker. */
function callsOn(spool: ReturnType<typeof openOperations>["spool"]): SpoolCalls {
  const run = spool as unknown as Record<string, (...values: readonly unknown[]) => unknown>;
  return { call: async (name: string, ...args: unknown[]) => run[name]!(...args) } as unknown as SpoolCalls;
}

test("the agent counts as filed, waiting or removed what people did with its studies at the server", async () => {
  const server = await startServer(...clinicEntities);
  const key = await server.makeKey(ours, keyPermissions);
  const staff = await makeUser(server, "staff", ours);
  const { db, spool } = openOperations();
  const fps = ["M1", "M2", "M3"].map((id, ordinal) => {
    addMessage(spool, id, ordinal);
    const [fp = ""] = spool.settle(settlement(id, { studies: [studyDraft({ dedupe_key: id, patient_fp: null })] }));
    spool.settleStudies([{ ...serverOutcome(fp, "unmatched"), matched: false }], 3000);
    return fp;
  });
  await server.push(key, ...fps.map((fp) => waiting({}, { fp })));
  const client: Pick<ServerClient, "get"> = {
    get: async (path) => (await server.app.inject({ url: path, headers: { "x-api-key": key } })).json<unknown>(),
  };
  const states = async () => {
    await syncPlacements(callsOn(spool), client);
    return db.prepare("SELECT state FROM message ORDER BY id").pluck().all();
  };
  expect(await states()).toEqual(["unmatched", "unmatched", "unmatched"]);
  const command = (fp: string | undefined, name: string, body: object) =>
    staff.call("POST", `/unmatched/${fp}/${name}`, body);
  await command(fps[0], "assign", { revision: 1, patient_fp: dog.fp });
  await command(fps[1], "reject", { revision: 1, reason: "a control" });
  expect(await states()).toEqual(["filed", "not-for-patients", "unmatched"]);
  await staff.call("POST", `/results/${fps[0]}/move`, { revision: 2, patient_fp: null, reason: "the wrong dog" });
  await command(fps[1], "reopen", { revision: 2 });
  expect(await states()).toEqual(["unmatched", "unmatched", "unmatched"]);
});

test("changes of one moment are read in several requests, and the next sync starts before the last of them", async () => {
  const server = await startServer(...clinicEntities);
  const key = await server.makeKey(ours, keyPermissions);
  const fps = Array.from({ length: 250 }, () => newFp("cds"));
  for (const part of [fps.slice(0, 100), fps.slice(100, 200), fps.slice(200)]) {
    await server.push(key, ...part.map((fp) => waiting({}, { fp, patient_fp: dog.fp, dedupe_key: fp })));
  }
  await importEntities(server.store, { ...dog, deleted_at: "2026-11-21T11:00:00.000Z" });
  const { spool } = openOperations();
  const asked: URLSearchParams[] = [];
  const noted: string[] = [];
  const calls = {
    call: async (name: string, ...args: unknown[]) => {
      if (name === "notePlacements") noted.push(...(args[0] as PlacementList["items"]).map(({ fp }) => fp));
      else return callsOn(spool).call(name as "getMeta", ...(args as [string]));
    },
  } as unknown as SpoolCalls;
  const client: Pick<ServerClient, "get"> = {
    get: async (path) => {
      asked.push(new URL(path, "http://server").searchParams);
      return (await server.app.inject({ url: path, headers: { "x-api-key": key } })).json<unknown>();
    },
  };
  await syncPlacements(calls, client);
  expect(noted.toSorted()).toEqual(fps.toSorted());
  expect(asked.map((query) => [...query.keys()])).toEqual([["updated_since"], ["after"]]);
  await syncPlacements(calls, client);
  const since = Date.parse(asked[2]?.get("updated_since") ?? "");
  expect(noon - since).toBe(15 * 60_000);
});
