import { expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import type { TodayState } from "../../../server/dashboard/types/results/today.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  patient,
  startServer,
  study,
} from "../../server/harness.ts";
import { makeUser } from "../harness.ts";

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
