import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { pruneByPolicy } from "../../../../server/records/erasure/retention.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { chemistry, resultsClinic } from "../../../dashboard/results-clinic.ts";
import { keyPermissions, startServer, study } from "../../harness.ts";

// What clinics keep no longer. Runs on both engines.

const DAY_MS = 86_400_000;

const links = query((db) => db.selectFrom("report_link").select("id"));
const hints = query((db) =>
  db.selectFrom("study").select("patient_hint").where("patient_id", "is", null).orderBy("id"),
);
const revisions = query((db) => db.selectFrom("study_revision").select("body"));
const conflicts = query((db) => db.selectFrom("study_conflict").select("body"));

test("links and hints go after the months that a clinic chose, and stay without a choice", async () => {
  const { ours, theirs, dog, entities } = resultsClinic();
  const server = await startServer(...entities);
  const { store, clock, push, makeKey } = server;
  const admin = await makeUser(server, "admin", ours);
  const filed = chemistry(dog);
  const key = await makeKey(ours, keyPermissions);
  const waiting = () => study({ fp: newFp("cds"), patient_hint: { ...study().patient_hint, owner: "Ada Örnek" } });
  await push(key, filed, waiting());
  await push(await makeKey(theirs, keyPermissions), waiting());
  const link = await admin.call("POST", `/results/${filed.fp}/links`, {
    language: "tr",
    days: 1,
    revision: 1,
    zone: "Europe/Istanbul",
  });
  expect(link.status).toBe(200);
  const owners = async () =>
    (await store.all(hints, {})).map((row) => (JSON.parse(row.patient_hint ?? "{}") as { owner: string | null }).owner);
  const later = clock.now + 65 * DAY_MS;
  expect(await pruneByPolicy(store, later)).toEqual({ report_links: 0, hints: 0 });
  expect((await admin.call("GET", "/settings/retention")).body).toEqual({ report_links: null, hints: null });
  const chosen = await admin.call("PUT", "/settings/retention", { report_links: 2, hints: 2 });
  expect(chosen.status).toBe(200);
  expect(await pruneByPolicy(store, clock.now + 59 * DAY_MS)).toEqual({ report_links: 0, hints: 0 });
  expect(await pruneByPolicy(store, later)).toEqual({ report_links: 1, hints: 1 });
  expect(await store.all(links, {})).toEqual([]);
  expect(await owners()).toEqual([null, "Ada Örnek"]);
  expect(await pruneByPolicy(store, later)).toEqual({ report_links: 0, hints: 0 });
});

test("a time that another admin chose meanwhile stays when one sends the other time", async () => {
  const { ours, entities } = resultsClinic();
  const server = await startServer(...entities);
  const admin = await makeUser(server, "admin", ours);
  const put = async (changes: object) => (await admin.call("PUT", "/settings/retention", changes)).status;
  const stored = async () => (await admin.call("GET", "/settings/retention")).body;
  expect([await put({ report_links: 12, hints: 2 }), await put({ report_links: 24 })]).toEqual([200, 200]);
  expect(await stored()).toEqual({ report_links: 24, hints: 2 });
  expect(await put({ hints: null })).toBe(200);
  expect(await stored()).toEqual({ report_links: 24, hints: null });
});

test("a result that waits or is rejected keeps the owner in no revision, conflict or text of the device after the clinic's months", async () => {
  const { ours, entities } = resultsClinic();
  const server = await startServer(...entities);
  const admin = await makeUser(server, "admin", ours);
  const key = await server.makeKey(ours, keyPermissions);
  const hint = { ...study().patient_hint, owner: "Ada Qzxv", other: [{ field: "PID-13", text: "0555 918 27 36" }] };
  const plain = study().patient_hint;
  const [rejected, corrected] = [study({ patient_hint: hint }), study({ patient_hint: hint })];
  const contradicted = study({ patient_hint: plain });
  const results = [{ ...corrected.results[0]!, value: 5.9 }];
  const later = [
    { ...corrected, revision: 2, results, patient_hint: plain },
    { ...contradicted, results, patient_hint: hint },
  ];
  const outcomes = [await server.push(key, rejected, corrected, contradicted), await server.push(key, ...later)].flat();
  expect(outcomes.map(({ outcome }) => outcome)).toEqual([...Array<string>(4).fill("unmatched"), "conflict"]);
  const reject = await admin.call("POST", `/unmatched/${rejected.fp}/reject`, { reason: "a test", revision: 1 });
  expect(reject.status).toBe(200);
  const chosen = await admin.call("PUT", "/settings/retention", { report_links: null, hints: 1 });
  expect(chosen.status).toBe(200);
  const end = server.clock.now + 40 * DAY_MS;
  expect((await pruneByPolicy(server.store, end)).hints).toBe(3);
  const { store } = server;
  const stored = JSON.stringify([
    await store.all(hints, {}),
    await store.all(revisions, {}),
    await store.all(conflicts, {}),
  ]);
  expect([stored.includes("Qzxv"), stored.includes("918 27 36")]).toEqual([false, false]);
  expect((await pruneByPolicy(server.store, end)).hints).toBe(0);
});

test("what a clinic keeps for twelve months stays for all of them", async () => {
  const { ours, entities } = resultsClinic();
  const server = await startServer(...entities);
  const admin = await makeUser(server, "admin", ours);
  const key = await server.makeKey(ours, keyPermissions);
  await server.push(key, study({ patient_hint: { ...study().patient_hint, owner: "Ada Örnek" } }));
  await admin.call("PUT", "/settings/retention", { report_links: null, hints: 12 });
  const prune = async (days: number) => (await pruneByPolicy(server.store, server.clock.now + days * DAY_MS)).hints;
  expect([await prune(364), await prune(368)]).toEqual([0, 1]);
});

test("a retention of less than a month or more than ten years is refused", async () => {
  const { ours, entities } = resultsClinic();
  const admin = await makeUser(await startServer(...entities), "admin", ours);
  for (const months of [0, 121, 1.5]) {
    const { status } = await admin.call("PUT", "/settings/retention", { report_links: months, hints: null });
    expect(status).toBe(400);
  }
});
