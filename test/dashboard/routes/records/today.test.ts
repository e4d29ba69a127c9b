import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { QualityBody } from "../../../../server/dashboard/types/quality.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  patient,
  startServer,
  study,
} from "../../../server/harness.ts";
import { control, pushControls } from "../../../server/controls.ts";
import { makeUser } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const DAY_MS = 86_400_000;

async function clinics() {
  const dog = patient({ name: "<script>alert(1)</script>" });
  const server = await startServer(clinic(ours), clinic(theirs), dog, connection(dog.fp, ours));
  const sent = study({ patient_fp: dog.fp });
  await server.push(await server.makeKey(ours, keyPermissions), sent);
  return { server, fp: sent.fp };
}

test("each role reads what needs a person, and only admins read the keys that end", async () => {
  const { server } = await clinics();
  await server.makeFreshKey(ours, keyPermissions, { name: "old PC", expiresAt: server.clock.now + 3 * DAY_MS });
  const keysOf = async (role: "reader" | "staff" | "admin") => {
    const user = await makeUser(server, role, ours);
    const { status, body } = await user.call<TodayState>("GET", "/today");
    return [status, body.newest[0]?.patient?.name, body.keys.map(({ name }) => name)];
  };
  expect(await keysOf("reader")).toEqual([200, "<script>alert(1)</script>", []]);
  expect(await keysOf("staff")).toEqual([200, "<script>alert(1)</script>", []]);
  expect(await keysOf("admin")).toEqual([200, "<script>alert(1)</script>", ["old PC"]]);
});

test("staff and admins mark a study as seen, a reader does not", async () => {
  const { server, fp } = await clinics();
  const status = async (role: "reader" | "staff" | "admin") =>
    (await (await makeUser(server, role, ours)).call("POST", `/results/${fp}/seen`, { revision: 1 })).status;
  expect([await status("reader"), await status("staff"), await status("admin")]).toEqual([403, 200, 200]);
});

test("a failed control of a device that no agent has any more is out of use, and not on Today, until an agent has it again", async () => {
  const { server } = await clinics();
  const key = await server.makeKey(ours, keyPermissions);
  const admin = await makeUser(server, "admin", ours);
  const failedDevices = async () =>
    (await admin.call<TodayState>("GET", "/today")).body.controls.map(({ device_id, is }) => `${device_id} ${is}`);
  const outOfUse = async () => (await admin.call<QualityBody>("GET", "/quality")).body.out_of_use;
  const beat = async (...ids: string[]) => {
    const devices = ids.map((id) => ({ id, profile: "generic-astm", connected: true, last_message_at: null }));
    const headers = { "x-api-key": key };
    await server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload: { devices } });
    return failedDevices();
  };
  const at = new Date(server.clock.now - DAY_MS).toISOString();
  await pushControls(server, key, control(at, { GLU: 4 }));
  const typed = { material: null, level: "1", lot: "L1", expires: null, comment: null };
  const results = [{ analyte: "GLU", text: "9", unit: "mmol/L" }];
  const body = { ...typed, entry_id: "0".repeat(32), device_id: "meter", measured_at: at, results };
  expect((await admin.call("POST", "/quality/controls", body)).status).toBe(200);
  const target = { mean: 5, sd: 1 };
  const sheet = { ...typed, comment: undefined, device_id: "meter", analyte: "GLU", unit: "mmol/L", since: "lot" };
  expect((await admin.call("POST", "/quality/targets", { ...sheet, target })).status).toBe(200);
  // No agent reports its devices yet.
  expect(await failedDevices()).toEqual(["chem-1 failed", "meter failed"]);
  expect(await beat("chem-1")).toEqual(["chem-1 failed", "meter failed"]);
  // A device whose controls are typed has no agent.
  expect(await beat("hema-1")).toEqual(["meter failed"]);
  expect(await outOfUse()).toEqual(["chem-1"]);
  expect(await beat()).toEqual(["meter failed"]);
  expect(await beat("hema-1", "chem-1")).toEqual(["chem-1 failed", "meter failed"]);
  expect(await outOfUse()).toEqual([]);
  server.clock.now += 91 * DAY_MS;
  const later = await makeUser(server, "admin", ours);
  const { controls } = (await later.call<TodayState>("GET", "/today")).body;
  expect(controls.map(({ device_id }) => device_id)).toEqual(["chem-1"]);
});

test("the first steps of a clinic go one by one as they are done or skipped, and only admins see them", async () => {
  const server = await startServer(clinic(ours));
  const admin = await makeUser(server, "admin", ours);
  const steps = async (user = admin) => (await user.call<TodayState>("GET", "/today")).body.first_steps;
  expect(await steps()).toEqual(["animals", "pc", "team", "notifications", "ranges", "limits"]);
  expect((await admin.call("POST", "/today/skipped-steps", { step: "ranges" })).status).toBe(200);
  expect(await steps()).toEqual(["animals", "pc", "team", "notifications", "limits"]);
  const dog = patient();
  await importEntities(server.store, dog, connection(dog.fp, ours));
  expect(await steps()).toEqual(["pc", "team", "notifications", "limits"]);
  const reader = await makeUser(server, "reader", ours);
  expect(await steps()).toEqual(["pc", "notifications", "limits"]);
  expect(await steps(reader)).toEqual([]);
  expect((await reader.call("POST", "/today/skipped-steps", { step: "pc" })).status).toBe(403);
  expect((await admin.call("POST", "/today/skipped-steps", { step: "other" })).status).toBe(400);
  await admin.call("POST", "/today/skipped-steps", { step: "pc" });
  await admin.call("POST", "/today/skipped-steps", { step: "notifications" });
  // Critical limits need a decision, which may be "none".
  expect((await admin.call("POST", "/today/skipped-steps", { step: "limits" })).status).toBe(400);
  expect(await steps()).toEqual(["limits"]);
  await admin.call("PUT", "/ranges/limits", { ids: [], by: "Dr. Ada", replaces: null });
  expect(await steps()).toEqual([]);
});
