import { describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Heartbeat } from "../../../../shared/api/study.ts";
import type { DevicesBody } from "../../../../server/dashboard/types/devices/devices.ts";
import type { RolloutBody } from "../../../../server/dashboard/types/devices/rollout.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import { AlertWatch } from "../../../../server/operations/alert-watch.ts";
import { addRelease } from "../../../../server/operations/release-folder.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { ReleaseKey } from "../../../support/releases/signed-release.ts";
import { clinic, startServer, temporaryFolder } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";
import { pino } from "pino";

// Method: agents whose heartbeats the test sends, at a server with a real folder of releases.

const ours = newFp("clinic");
const theirs = newFp("clinic");
const MINUTE = 60_000;
const signer = new ReleaseKey();

async function start(...names: string[]) {
  const server = await startServer(clinic(ours), clinic(theirs));
  const admin = await makeUser(server, "admin", ours);
  const release = (version: string, platform = "linux-x64") =>
    addRelease(server.releaseFolder, signer.write(temporaryFolder(), { version, platform }), signer.publicKey);
  const keys = new Map<string, string>();

  /** Sends a heartbeat. @returns the version that the response wants */
  async function beat(name: string, payload: Heartbeat = {}): Promise<string | undefined> {
    const key = keys.get(name) ?? (await server.makeFreshKey(ours, ["clinic.lab.ingest"], { name, type: "device" }));
    keys.set(name, key);
    const headers = { "x-api-key": key };
    const response = await server.app.inject({
      ...{ method: "POST" as const, url: "/agent/v1/heartbeat", headers },
      payload: { version: "0.1.0", platform: "linux-x64", ...payload },
    });
    expect(response.statusCode).toBe(200);
    return response.json<{ upgrade?: { version: string } }>().upgrade?.version;
  }

  const read = async (by = admin) => (await by.call<RolloutBody>("GET", "/rollout")).body;
  const call = async (path: string, body: object = {}) => (await admin.call("POST", `/rollout${path}`, body)).status;
  const states = async () => (await read()).rollout?.pcs.map(({ name, state }) => `${name} ${state}`);
  const fpOf = async (name: string) =>
    (await admin.call<DevicesBody>("GET", "/devices")).body.agents.find(({ key }) => key.name === name)?.fp ?? "";
  for (const name of names) await beat(name);
  return { ...server, admin, release, beat, read, call, states, fpOf };
}

const done = { version: "0.2.0", upgrade: { to: "0.2.0", state: "done", reason: null } };
const failed = { upgrade: { to: "0.2.0", state: "rolled back", reason: "it did not become ready in time" } };

describe("the roll-out to the clinic PCs", () => {
  test("is offered to one PC after the other, each time in the response to its heartbeat", async () => {
    const { release, beat, read, call, states, store, fpOf } = await start("A", "B");
    expect(await read()).toEqual({ plan: null, rollout: null });
    await release("0.2.0");
    expect((await read()).plan?.pcs.map(({ name, from }) => [name, from])).toEqual([
      ["A", "0.1.0"],
      ["B", "0.1.0"],
    ]);
    expect(await beat("A")).toBeUndefined();
    expect(await call("", { version: "0.2.0" })).toBe(200);
    expect(await call("", { version: "0.2.0" })).toBe(409);
    expect([await beat("B"), await beat("A"), await beat("B")]).toEqual([undefined, "0.2.0", undefined]);
    expect(await states()).toEqual(["A asked", "B waiting"]);
    expect(await beat("A", { upgrade: { to: "0.2.0", state: "preparing", reason: null } })).toBe("0.2.0");
    expect(await states()).toEqual(["A preparing", "B waiting"]);
    await beat("A", { version: "0.2.0", upgrade: { to: "0.2.0", state: "trying", reason: null } });
    expect([await states(), await beat("B")]).toEqual([["A trying", "B waiting"], undefined]);
    expect(await beat("A", done)).toBeUndefined();
    expect([await beat("B"), await states()]).toEqual(["0.2.0", ["A done", "B asked"]]);
    await beat("B", done);
    expect((await read()).rollout?.is).toBe("done");
    expect((await read()).plan?.pcs).toEqual([]);
    expect(await call("/close")).toBe(200);
    expect((await read()).rollout).toBeNull();
    const rows = await listRowsOf(store, await fpOf("A"));
    expect(rows.map(({ route, user }) => [route, user === null])).toEqual([
      ["agents add by its first heartbeat", true],
      ["agents update to 0.2.0", false],
      ["agents update: offered", true],
      ["agents update: done", true],
      ["agents update: put away", false],
    ]);
  });

  test("stops at the first PC that rolled back, with an alert that leaves with the cause", async () => {
    const { release, beat, read, call, states, admin, store, clock } = await start("A", "B", "C");
    await release("0.2.0");
    await call("", { version: "0.2.0" });
    await beat("A");
    await beat("A", done);
    await beat("B");
    await beat("B", failed);
    expect([await beat("B", failed), await beat("C")]).toEqual([undefined, undefined]);
    expect(await states()).toEqual(["A done", "B rolled back", "C kept"]);
    const { rollout, plan } = await read();
    expect([rollout?.is, rollout?.pcs[1]?.reason]).toEqual(["rolled back", "it did not become ready in time"]);
    expect([plan?.pcs.map(({ name }) => name), plan?.left.map(({ name, why }) => `${name} ${why}`)]).toEqual([
      ["C"],
      ["B rolled back"],
    ]);

    const alerts = new AlertWatch({ store, now: () => clock.now, logger: pino({ enabled: false }) });
    const open = async () => {
      await alerts.check();
      const { alerts: shown } = (await admin.call<TodayState>("GET", "/today")).body;
      return shown.map(({ kind, subject, reason }) => [kind, subject, reason]);
    };
    expect(await open()).toEqual([["update-failed", "B", "it did not become ready in time"]]);
    await beat("B", { version: "0.3.0" });
    expect(await open()).toEqual([]);
    expect([await call("/stop"), await call("/close")]).toEqual([409, 200]);
  });

  test("stays with a PC that could not start the version, shows why, and raises no alert", async () => {
    const { release, beat, call, states, read, admin, store, clock } = await start("A", "B");
    await release("0.2.0");
    await call("", { version: "0.2.0" });
    await beat("A");
    const at = (minute: number) => new Date(clock.now + minute * MINUTE).toISOString();
    const refused = { to: "0.2.0", state: "refused", reason: "the connection was cut", at: at(0) };
    expect([await beat("A", { upgrade: refused }), await beat("B")]).toEqual(["0.2.0", undefined]);
    const { rollout } = await read();
    expect([rollout?.is, rollout?.pcs[0]]).toEqual([
      "running",
      expect.objectContaining({ state: "refused", reason: "the connection was cut" }),
    ]);
    const alerts = new AlertWatch({ store, now: () => clock.now, logger: pino({ enabled: false }) });
    await alerts.check();
    expect((await admin.call<TodayState>("GET", "/today")).body.alerts).toEqual([]);
    expect(await beat("A", { upgrade: { to: "0.2.0", state: "preparing", reason: null } })).toBe("0.2.0");
    expect(await states()).toEqual(["A preparing", "B waiting"]);
    await beat("A", { upgrade: { ...refused, at: at(10) } });
    expect(await states()).toEqual(["A refused", "B waiting"]);
    await beat("A", done);
    expect([await beat("B"), await states()]).toEqual(["0.2.0", ["A done", "B asked"]]);
  });

  test("can be stopped, and goes on without a silent PC that a user skips", async () => {
    const { release, beat, call, states, clock, fpOf, read } = await start("A", "B");
    await release("0.2.0");
    await call("", { version: "0.2.0" });
    await beat("A");
    clock.now += 10 * MINUTE;
    await beat("B");
    expect(await states()).toEqual(["A silent", "B waiting"]);
    expect(await call("/skip", { agent: await fpOf("B") })).toBe(409);
    expect(await call("/skip", { agent: await fpOf("A") })).toBe(200);
    expect([await beat("B"), await states()]).toEqual(["0.2.0", ["A skipped", "B asked"]]);
    expect(await call("/close")).toBe(409);
    expect([await call("/stop"), await call("/stop")]).toEqual([200, 409]);
    expect([await beat("B"), await states()]).toEqual([undefined, ["A skipped", "B kept"]]);
    expect((await read()).rollout?.is).toBe("stopped");
    // A new one takes its place.
    expect(await call("", { version: "0.2.0" })).toBe(200);
    expect((await read()).rollout?.is).toBe("running");
  });

  test("is refused for a version that is not the newest one, and without a PC that can take it", async () => {
    const { release, call, beat, read } = await start();
    expect(await call("", { version: "0.2.0" })).toBe(409);
    await release("0.2.0");
    await release("0.3.0", "win-x64");
    await beat("A");
    await beat("old", { platform: undefined } as never);
    expect((await read()).plan?.left.map(({ name, why }) => `${name} ${why}`)).toEqual(["A no package", "old by hand"]);
    expect(await call("", { version: "0.2.0" })).toBe(409);
    expect(await call("", { version: "0.3.0" })).toBe(409);
    expect(await call("/stop")).toBe(409);
    for (const body of [{}, { version: 1 }, { version: "0.2.0", more: 1 }]) expect(await call("", body)).toBe(400);
  });

  test("an agent without upgrades, or with states that this server lacks, is served as before", async () => {
    const { release, beat, call, states } = await start("A");
    await release("0.2.0");
    await call("", { version: "0.2.0" });
    expect(await beat("A", { platform: undefined, version: undefined } as never)).toBe("0.2.0");
    const later = { to: "0.2.0", state: "of a later agent", reason: null, more: { deep: true } };
    expect(await beat("A", { upgrade: later })).toBe("0.2.0");
    expect(await states()).toEqual(["A preparing"]);
    expect(await beat("A", { upgrade: null })).toBe("0.2.0");
  });
});
