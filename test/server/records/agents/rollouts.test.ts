import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { type Rollout, startRollout, stopRollout } from "../../../../server/records/agents/rollout.ts";
import { forgetRollout, readRollout, saveRollout } from "../../../../server/records/agents/rollouts.ts";
import { stepWithHeartbeat } from "../../../../server/records/agents/heartbeats.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinic, noon, startServer } from "../../harness.ts";

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
const plan = (version: string, ...agents: string[]) => ({
  ...{ version, left: [] },
  pcs: agents.map((agent) => ({ agent, name: `PC ${agent} "ünlü"`, from: null })),
});

async function start() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const user = await makeUser(server, "admin", ours, theirs);
  const ids = await Promise.all([ours, theirs].map(async (fp) => (await findClinic(server.store, fp))?.id ?? 0));
  const save = (clinicId: number, rollout: Rollout) =>
    server.store.transaction((session) => saveRollout(session, clinicId, { rollout, userId: user.id }));
  const beat = (clinicId: number, agent: string, version: string) =>
    server.store.transaction((session) =>
      stepWithHeartbeat(session, { agent, version, upgrade: null }, { by: "10.0.0.7", now: noon, clinicId }),
    );
  return { ...server, user, ids, save, beat };
}

test("a clinic has one roll-out, which reads back as it was stored until it is forgotten", async () => {
  const { store, ids, user, save } = await start();
  const [one = 0, other = 0] = ids;
  const rollout = startRollout(plan("0.2.0", "a", "b"), noon);
  await save(one, rollout);
  expect(await readRollout(store, one)).toEqual({ rollout, userId: user.id, by: user.name });
  expect(await readRollout(store, other)).toBeUndefined();
  const next = stopRollout(startRollout(plan("0.3.0", "c"), noon + 1), noon + 2) as Rollout;
  await save(one, next);
  await save(other, rollout);
  expect((await readRollout(store, one))?.rollout).toEqual(next);
  await store.transaction((session) => forgetRollout(session, one));
  expect([await readRollout(store, one), (await readRollout(store, other))?.rollout]).toEqual([undefined, rollout]);
});

test("two heartbeats at the same time move a roll-out one step at a time", async () => {
  const { store, ids, save, beat } = await start();
  const [one = 0] = ids;
  const agents = ["a", "b", "c", "d"];
  await save(one, startRollout(plan("0.2.0", ...agents), noon));
  for (let round = 1; round <= agents.length; round += 1) {
    const wanted = await Promise.all(agents.map((agent) => beat(one, agent, "0.1.0")));
    expect(wanted.filter((version) => version !== undefined).length).toBeLessThanOrEqual(1);
    const open = (await readRollout(store, one))?.rollout.pcs.filter(({ state }) => state === "offered") ?? [];
    expect(open.map(({ agent }) => agent)).toEqual([agents[round - 1]]);
    await beat(one, open[0]?.agent ?? "", "0.2.0");
  }
  expect((await readRollout(store, one))?.rollout.pcs.map(({ state }) => state)).toEqual(agents.map(() => "done"));
});

test("a change raises the version of its clinic, which notifies open pages", async () => {
  const { store, ids, save, beat } = await start();
  const [one = 0, other = 0] = ids;
  const versions = async () => {
    await store.refreshVersions();
    return [(await store.versions(one)).answers, (await store.versions(other)).answers];
  };
  const [before, beforeOther] = await versions();
  await save(one, startRollout(plan("0.2.0", "a"), noon));
  const [after] = await versions();
  expect(after).not.toEqual(before);
  await beat(one, "a", "0.1.0");
  const [offered, otherAfter] = await versions();
  expect([offered === after, otherAfter]).toEqual([false, beforeOther]);
  await beat(one, "a", "0.1.0");
  expect((await versions())[0]).toEqual(offered);
});
