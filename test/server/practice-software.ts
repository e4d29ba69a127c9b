import { expect } from "vitest";
import { query } from "../../server/database/query.ts";
import { exportEntities } from "../../server/import/export.ts";
import type { SyncAnswer, SyncMergeAnswer } from "../../server/records/registry/sync/messages.ts";
import { undoBatch } from "../../server/records/registry/undo.ts";
import { newFp } from "../../shared/api/fp.ts";
import { type ApiDocument, Contract } from "../support/runner/contract.ts";
import { clinic, startServer } from "./harness.ts";

// A server with practice software, what its requests leave, and their undo.

export const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
export const ada = { external_id: "3001", name: "Ada Örnek", phone: "+90 555 000 00 00", email: "ada@example.org" };
export const pamuk = {
  external_id: "00417",
  name: "Pamuk",
  species: "Kedi",
  owner: ada,
  identifiers: [{ type: "microchip", value: "900085000123456" }],
};

type Answered = SyncAnswer & SyncMergeAnswer & { error: { code: string; details?: Record<string, unknown> } };

/** The contract of /sync/v1. All servers share it, since its schemas are slow to compile. */
let contract: Contract | undefined;

const batches = query((db) =>
  db.selectFrom("batch").select(["fp", "door", "source", "created", "changed", "removed", "row_count"]).orderBy("id"),
);

/** Starts a server with a key of practice software. */
export async function practiceServer() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const key = await server.makeKey(ours, ["clinic.sync.write"]);
  const reader = await server.makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest"]);
  const post = async (path: string, payload: object) => {
    const headers = { "x-api-key": key };
    const response = await server.app.inject({ method: "POST", url: `/sync/v1/${path}`, headers, payload });
    contract ??= new Contract((await server.app.inject("/sync/openapi.json")).json<ApiDocument>());
    const { statusCode: status, headers: got, body: text } = response;
    const answered = { method: "POST", url: `/sync/v1/${path}`, status, headers: Object.entries(got), text };
    expect(contract.problems(answered)).toEqual([]);
    return { status, body: response.json<Answered>() };
  };
  const send = async (...items: unknown[]) => (await post("patients", { source: "pims", mode: "partial", items })).body;
  const merge = async (survivor: string, merged: string) =>
    (await post("patients/merge", { source: "pims", survivor, merged })).body;
  const clinics = await server.store.all(
    query((db) => db.selectFrom("clinic").select(["id", "fp"])),
    {},
  );
  const clinicOf = (fp: string) => clinics.find((one) => one.fp === fp)?.id ?? 0;
  const undo = async (fp: string, clinicId = clinicOf(ours), served: ReadonlySet<number> | null = null) => {
    const clock = () => server.clock.now;
    return server.store.transaction((session) => undoBatch(session, { clinicId, fp }, { now: clock(), clock, served }));
  };
  const listed = async () => server.store.all(batches, {});
  const last = async () => (await listed()).at(-1)?.fp ?? "";
  const exported = async () =>
    server.store.snapshot(async (session) => {
      const lines: string[] = [];
      for await (const entity of exportEntities(session)) lines.push(JSON.stringify(entity));
      return lines.join("\n");
    });
  return { server, key, reader, post, send, merge, undo, last, listed, exported, clinicOf };
}

/** Returns the lines of an export without `updated_at`, which rises so that clients find a restored patient. */
export function timeless(text: string): string[] {
  return text.split("\n").map((line) => line.replace(/"updated_at":"[^"]*",?/, ""));
}
