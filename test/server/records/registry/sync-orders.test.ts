import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Study } from "../../../../shared/api/study.ts";
import { type ApiDocument, Contract } from "../../../support/runner/contract.ts";
import { clinic, keyPermissions, startServer, study } from "../../harness.ts";

// Practice software sends orders to /sync/v1/orders. Method: requests to the API of a server. Runs on both engines.

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
const owner = { external_id: "3001", name: "Ada Örnek" };
const pamuk = { external_id: "00417", name: "Pamuk", species: "Kedi", owner };
const zeytin = { external_id: "00418", name: "Zeytin", species: "Kedi", owner };
const profile = {
  external_id: "10231",
  patient: "00417",
  tests: ["ALT", "CREA"],
  ordered_at: "2026-11-21T09:50:00+03:00",
};

interface Answer {
  counts: Record<string, number>;
  commit_token: string | null;
  items: { fp: string | null; accession: string | null; outcome: string; errors: { field: string; code: string }[] }[];
}

async function pims() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const key = await server.makeKey(ours, ["clinic.sync.write"]);
  const reader = await server.makeKey(ours, keyPermissions);
  const contract = new Contract((await server.app.inject("/sync/openapi.json")).json<ApiDocument>());
  const post = async (url: string, items: object[], by = key) => {
    const payload = { source: "pims", mode: "partial", items };
    const asked = { method: "POST" as const, url: `/sync/v1/${url}`, headers: { "x-api-key": by }, payload };
    const response = await server.app.inject(asked);
    const { statusCode: status, headers, body: text } = response;
    expect(contract.problems({ ...asked, status, headers: Object.entries(headers), text })).toEqual([]);
    return response.json<Answer>();
  };
  await post("patients", [pamuk, zeytin]);
  const send = async (...items: object[]) => (await post("orders", items)).items;
  const push = async (order_fp: string) => {
    const [named] = (await server.get(reader, "/api/v1/patients?page_size=100")).body.data.items.filter(
      ({ name }) => name === "Pamuk",
    );
    const sent = study({ patient_fp: named?.fp ?? null, order_fp, matched_by: { by: "accession", identifiers: [] } });
    await server.push(reader, sent);
    return (await server.get(reader, `/api/v1/lab/diagnostics/${sent.fp}`)).body.data as unknown as Study;
  };
  return { server, key, post, send, push };
}

test("an order is created once with its accession, and its study names the number of the software", async () => {
  const { send, push } = await pims();
  const [created] = await send(profile);
  expect(created).toMatchObject({ outcome: "created", errors: [] });
  expect(created?.accession).toMatch(/^T[34679ACDEFHJKMNPQRTVWXY]{7}$/);
  expect(await send(profile)).toEqual([{ ...created, outcome: "unchanged" }]);
  expect((await push(created?.fp ?? "")).order).toEqual({ fp: created?.fp, placer_number: "10231" });
});

test("a dry run names no accession, and stores nothing", async () => {
  const { server, post } = await pims();
  const { items, commit_token } = await post("orders?dry_run=true", [profile]);
  expect(items).toMatchObject([{ outcome: "created", fp: null, accession: null }]);
  expect(await server.store.all(stored, {})).toEqual([]);
  expect((await post(`orders?commit_token=${commit_token}`, [profile])).items).toMatchObject([{ outcome: "created" }]);
});

test("an order is cancelled, a cancelled one stays so, and one with results is not cancelled", async () => {
  const { server, send, push } = await pims();
  const cancelled = { ...profile, cancelled: true };
  await send(profile);
  expect(await send(cancelled)).toMatchObject([{ outcome: "updated", errors: [] }]);
  expect(await send(cancelled)).toMatchObject([{ outcome: "unchanged", errors: [] }]);
  expect(await send(profile)).toMatchObject([{ outcome: "unchanged", errors: [{ code: "cancelled" }] }]);
  const [second] = await send({ ...profile, external_id: "10232" });
  await push(second?.fp ?? "");
  expect(await send({ ...cancelled, external_id: "10232" })).toMatchObject([
    { outcome: "unchanged", errors: [{ field: "cancelled", code: "has_results" }] },
  ]);
  await send({ ...cancelled, external_id: "10233" });
  const rows = await server.store.all(stored, {});
  expect(rows.map(({ placer_number, cancelled_at }) => [placer_number, cancelled_at !== null])).toEqual([
    ["10231", true],
    ["10232", false],
    ["10233", true],
  ]);
});

test("an order whose patient was removed meanwhile is cancelled, and is the same order when it is sent again", async () => {
  const { server, post, send } = await pims();
  await send(profile);
  await post("patients", [{ external_id: "00417", deleted: true }]);
  expect(await send(profile)).toMatchObject([{ outcome: "unchanged", errors: [] }]);
  expect(await send({ ...profile, patient: "00418", cancelled: true })).toMatchObject([{ outcome: "rejected" }]);
  expect(await send({ ...profile, cancelled: true })).toMatchObject([{ outcome: "updated", errors: [] }]);
  expect(await send({ ...profile, external_id: "10232" })).toMatchObject([{ errors: [{ code: "unknown_patient" }] }]);
  expect(await server.store.all(stored, {})).toMatchObject([{ cancelled_at: expect.any(Number) as number }]);
});

test("each wrong order is rejected with its field and code, and its neighbour is stored", async () => {
  const { send } = await pims();
  const wrong: [object, string, string][] = [
    [{ patient: "00999" }, "patient", "unknown_patient"],
    [{ tests: ["CBC+DIFF"] }, "tests", "unknown_test"],
    [{ tests: ["A^B"], device: "chem-1" }, "tests/0", "wrong_form"],
    [{ tests: [] }, "tests", "invalid"],
    [{ ordered_at: "2026-02-30T09:00:00Z" }, "ordered_at", "not_a_time"],
    [{ panel: "x" }, "panel", "unknown_field"],
  ];
  const numbered = wrong.map(([changes], index) => ({ ...profile, external_id: `${index}`, ...changes }));
  const answers = await send(...numbered, profile);
  const last = answers.pop();
  const faults = answers.map(({ fp, accession, outcome, errors }) => [fp, accession, outcome, errors[0]]);
  expect(faults).toEqual(
    wrong.map(([, field, code]) => [null, null, "rejected", { field, code, message: expect.any(String) as string }]),
  );
  expect(last).toMatchObject({ outcome: "created" });
});

test("another patient, device or other tests under one number are rejected, and the order stays as it is", async () => {
  const { server, send } = await pims();
  await send(profile);
  for (const changes of [{ patient: "00418" }, { tests: ["ALT"] }, { device: "chem-1" }]) {
    expect(await send({ ...profile, ...changes })).toMatchObject([
      { outcome: "rejected", errors: [{ code: "changed" }] },
    ]);
  }
  expect(await server.store.all(stored, {})).toHaveLength(1);
});

test("a number of one clinic is not that of another clinic", async () => {
  const { server, send, post } = await pims();
  const [own] = await send(profile);
  const other = await server.makeKey(theirs, ["clinic.sync.write"]);
  expect((await post("orders", [profile], other)).items).toMatchObject([{ errors: [{ code: "unknown_patient" }] }]);
  await post("patients", [pamuk], other);
  const { items } = await post("orders", [profile], other);
  expect(items).toMatchObject([{ outcome: "created" }]);
  expect(items[0]?.accession).not.toBe(own?.accession);
});

const stored = query((db) => db.selectFrom("lab_order").select(["placer_number", "cancelled_at"]).orderBy("id"));
