import { expect, test } from "vitest";
import type { FollowUp } from "../../../../server/dashboard/types/results/follow-up.ts";
import type { ResultsPage } from "../../../../server/dashboard/types/results/results.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import { changeMark } from "../../../../server/records/changes/changes.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import { connection, importEntities, keyPermissions, patient, startServer } from "../../harness.ts";
import { WAIT_MS } from "../../../support/runner/patience.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { chemistry, profile, resultsClinic } from "../../../dashboard/results-clinic.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Abnormal, not critical. */
const raised = profile.filter(({ code }) => code === "ALT" || code === "TP");

async function start(sent: (dog: ReturnType<typeof patient>) => PushedStudy = (dog) => chemistry(dog, raised)) {
  const names = resultsClinic();
  const server = await startServer(...names.entities);
  const key = await server.makeKey(names.ours, keyPermissions);
  const pushed = sent(names.dog);
  await server.push(key, pushed);
  const nurse = await makeUser(server, "staff", names.ours);
  const vet = await makeUser(server, "staff", names.ours);
  const path = `/results/${pushed.fp}`;
  const read = async (user = nurse) => (await user.call<FollowUp>("GET", `${path}/follow-up`)).body;
  const act = (name: string, body: object = {}, user = nurse) =>
    user.call<FollowUp>("POST", `${path}/follow-up/${name}`, body);
  /** A session ends twelve hours after its last use: later reads are those of a new user. */
  const today = async (user?: typeof nurse) =>
    (await (user ?? (await makeUser(server, "staff", names.ours))).call<TodayState>("GET", "/today")).body;
  const idOf = async (user: typeof vet) => (await read()).members.find(({ name }) => name === user.name)!.id;
  const kinds = async () => (await read()).events.map(({ kind }) => kind);
  return { ...names, server, key, pushed, nurse, vet, path, read, act, today, idOf, kinds };
}

test("a nurse assigns a vet, who remarks and finishes, and every step stays with its author and time", async () => {
  const { server, nurse, vet, act, read, today, idOf } = await start();
  expect(await read()).toMatchObject({ state: "none", responsible: null, events: [], seen: null });
  await act("assign", { member: await idOf(vet) });
  server.clock.now += HOUR_MS;
  await act("remark", { text: " Call the owner " }, vet);
  expect((await today(vet)).yours).toMatchObject([{ patient: { name: "Karabaş" }, responsible: { name: vet.name } }]);
  expect((await today(nurse)).yours).toEqual([]);
  const { body } = await act("done", { revision: 1 }, vet);
  const at = new Date(server.clock.now).toISOString();
  expect(body).toMatchObject({
    state: "done",
    responsible: { name: vet.name },
    events: [
      { kind: "assigned", by: nurse.name, member: vet.name },
      { kind: "remark", by: vet.name, text: "Call the owner", at },
      { kind: "done", by: vet.name, at },
    ],
    seen: { by: vet.name, at },
  });
  expect((await today(vet)).yours).toEqual([]);
  // Done again changes nothing; undone it is the vet's again.
  expect((await act("done", { revision: 1 })).body.events).toHaveLength(3);
  expect((await act("reopen")).body).toMatchObject({ state: "open", responsible: { name: vet.name } });
  expect((await today(vet)).yours).toHaveLength(1);
});

test("each step of a follow-up reaches the open pages of its clinic, and of no other", async () => {
  const { server, ours, theirs, act } = await start();
  const markOf = async (fp: string) => changeMark(server.store, (await findClinic(server.store, fp))!.id);
  const before = [await markOf(ours), await markOf(theirs)];
  await act("remark", { text: "x" });
  expect([(await markOf(ours)) === before[0], (await markOf(theirs)) === before[1]]).toEqual([false, true]);
});

test("a reader reads and writes nothing, and only staff of the clinic can be responsible", async () => {
  const { server, ours, theirs, act, read, path, idOf } = await start();
  const reader = await makeUser(server, "reader", ours);
  const stranger = await makeUser(server, "admin", theirs);
  expect((await act("remark", { text: "x" }, reader)).status).toBe(403);
  expect((await reader.call("GET", `${path}/follow-up`)).status).toBe(200);
  expect((await stranger.call("GET", `${path}/follow-up`)).status).toBe(404);
  expect((await act("remark", { text: "x" }, stranger)).status).toBe(404);
  expect((await read()).members.map(({ name }) => name)).not.toContain(reader.name);
  const { user } = (await reader.call<{ user: { id: string } }>("GET", "/clinic/v1/session")).body;
  for (const member of ["nobody", user.id]) expect((await act("assign", { member })).status).toBe(404);
  expect((await act("remark", { text: "  " })).status).toBe(400);
  expect(await idOf(await makeUser(server, "admin", ours))).not.toBe("");
});

test("the audit names who did what, and the read API never shows a follow-up", async () => {
  const { server, ours, key, pushed, nurse, act, path } = await start();
  await act("remark", { text: "SecretRemark" });
  const admin = await makeUser(server, "admin", ours);
  const audit = async () => (await admin.call("GET", `/audit?fp=${pushed.fp}`)).text;
  // The rows are written a moment after the response.
  await expect.poll(audit, { timeout: WAIT_MS }).toContain("follow-up/remark");
  expect(await audit()).toContain(nurse.name);
  expect(await audit()).not.toContain("SecretRemark");
  for (const url of [`/api/v1/lab/diagnostics/${pushed.fp}`, "/api/v1/changes"]) {
    const { status, body } = await server.get(key, url);
    expect([status, JSON.stringify(body).includes("SecretRemark")]).toEqual([200, false]);
  }
  expect((await admin.call("GET", path)).text).not.toContain("SecretRemark");
});

test("a revision that adds or worsens an abnormal value opens a follow-up again with the analytes, another one does not", async () => {
  const { server, dog, key, pushed, act, read, kinds } = await start();
  await act("done", { revision: 1 });
  const again = (revision: number, value: number, more: typeof raised = []) => {
    const rows = raised.map((row) => (row.code === "TP" ? { ...row, value, text: String(value) } : row));
    return { ...chemistry(dog, [...rows, ...more]), fp: pushed.fp, dedupe_key: pushed.dedupe_key, revision };
  };
  await server.push(key, again(2, 6.6));
  expect(await read()).toMatchObject({ state: "done" });
  await server.push(key, again(3, 6.6, [profile.find(({ code }) => code === "PLT")!]));
  const opened = await read();
  expect(opened).toMatchObject({ state: "open", seen: null });
  expect(opened.events.at(-1)).toMatchObject({ kind: "worse", by: null, worse: ["PLT"] });
  // A user of an older revision did not see why it is open.
  expect((await act("done", { revision: 2 })).status).toBe(409);
  expect((await act("done", { revision: 3 })).status).toBe(200);
  expect(await kinds()).toEqual(["done", "worse", "done"]);
});

test("a study that goes to another animal keeps responsible and remarks, is open again, and says so", async () => {
  const { server, ours, nurse, vet, path, act, read, today, idOf } = await start();
  const other = patient({ name: "Pamuk" });
  await importEntities(server.store, other, connection(other.fp, ours));
  await act("assign", { member: await idOf(vet) });
  await act("remark", { text: "for Karabaş" });
  await act("done", { revision: 1 });
  const moved = await nurse.call("POST", `${path}/move`, { revision: 1, patient_fp: other.fp, reason: "wrong card" });
  expect(moved.status).toBe(200);
  const { state, responsible, events } = await read();
  expect([state, responsible?.name]).toEqual(["open", vet.name]);
  expect(events.map(({ kind }) => kind)).toEqual(["assigned", "remark", "done", "moved"]);
  expect((await today(vet)).yours).toMatchObject([{ patient: { name: "Pamuk" } }]);
  await nurse.call("POST", `${path}/move`, { revision: 2, patient_fp: null, reason: "whose?" });
  expect((await today(vet)).yours).toMatchObject([{ patient: null }]);
  expect((await read()).events.at(-1)).toMatchObject({ kind: "moved", by: null });
});

test("a rejected study leaves the user's own follow-ups on Today, and its return brings it back", async () => {
  const { nurse, vet, pushed, path, act, today, idOf } = await start();
  await act("assign", { member: await idOf(vet) });
  await nurse.call("POST", `${path}/move`, { revision: 1, patient_fp: null, reason: "whose?" });
  expect((await today(vet)).yours).toHaveLength(1);
  const decide = (name: string, body: object) => nurse.call("POST", `/unmatched/${pushed.fp}/${name}`, body);
  expect((await decide("reject", { revision: 2, reason: "of a control" })).status).toBe(200);
  expect((await today(vet)).yours).toEqual([]);
  expect((await decide("reopen", { revision: 3 })).status).toBe(200);
  expect((await today(vet)).yours).toHaveLength(1);
});

test("the list of results shows open follow-ups: the user's own, or all", async () => {
  const { server, dog, key, vet, nurse, act, pushed, idOf } = await start();
  await server.push(key, chemistry(dog));
  await act("assign", { member: await idOf(vet) });
  const listed = async (user: typeof vet, follow: string) =>
    (await user.call<ResultsPage>("GET", `/results?follow=${follow}`)).body.items.map(({ fp }) => fp);
  expect(await listed(vet, "mine")).toEqual([pushed.fp]);
  expect(await listed(nurse, "mine")).toEqual([]);
  expect(await listed(nurse, "open")).toEqual([pushed.fp]);
  expect((await nurse.call<ResultsPage>("GET", "/results")).body.items).toHaveLength(2);
  await act("done", { revision: 1 });
  expect(await listed(nurse, "open")).toEqual([]);
  expect((await nurse.call("GET", "/results?follow=other")).status).toBe(400);
});

test("Today lists an abnormal result that nobody saw for a day, until somebody sees or takes it", async () => {
  const { server, ours, dog, key, pushed, act, today } = await start();
  await server.push(key, chemistry(dog, [profile.find(({ code }) => code === "TP")!]));
  const unseen = async () => (await today()).unseen.map(({ fp, patient: of }) => [fp, of?.name]);
  server.clock.now += DAY_MS - 1;
  expect(await unseen()).toEqual([]);
  server.clock.now += 2;
  // The normal one is not in it.
  expect(await unseen()).toEqual([[pushed.fp, "Karabaş"]]);
  const [colleague, later] = [await makeUser(server, "staff", ours), () => makeUser(server, "staff", ours)];
  const member = (await colleague.call<FollowUp>("GET", `/results/${pushed.fp}/follow-up`)).body.members[0]!;
  await act("assign", { member: member.id }, colleague);
  expect(await unseen()).toEqual([]);
  // The responsible member has a day for it.
  server.clock.now += DAY_MS + 1;
  expect((await today()).unseen).toMatchObject([{ fp: pushed.fp, responsible: { name: member.name } }]);
  await (await later()).call("POST", `/results/${pushed.fp}/seen`, { revision: 1 });
  expect(await unseen()).toEqual([]);
});

test("a critical value that nobody saw has the list of critical values for two days, then that of a day, then none", async () => {
  const { server, pushed, today } = await start((dog) => chemistry(dog, profile));
  const lists = async () => {
    const { critical, unseen } = await today();
    return [critical, unseen].map((list) => list.some(({ fp }) => fp === pushed.fp));
  };
  expect(await lists()).toEqual([true, false]);
  server.clock.now += 30 * HOUR_MS;
  expect(await lists()).toEqual([true, false]);
  server.clock.now += 20 * HOUR_MS;
  expect(await lists()).toEqual([false, true]);
  server.clock.now += 6 * DAY_MS;
  expect(await lists()).toEqual([false, false]);
});
