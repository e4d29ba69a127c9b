import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { GivenPassword, UserList, UserOfClinic } from "../../../../server/dashboard/types/settings/users.ts";
import { listRows } from "../../../../server/records/audit/audit.ts";
import { clinic, startServer, type TestServer } from "../../../server/harness.ts";
import { makeUser, type Refused, type TestUser } from "../../harness.ts";

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];

async function start() {
  const server = await startServer(clinic(ours), clinic(theirs));
  return { server, admin: await makeUser(server, "admin", ours) };
}

async function listed(admin: TestUser): Promise<UserOfClinic[]> {
  return (await admin.call<UserList>("GET", "/users")).body.users;
}

async function find(admin: TestUser, name: string): Promise<UserOfClinic> {
  const user = (await listed(admin)).find((shown) => shown.name === name);
  if (user === undefined) throw new Error(`the list has no ${name}`);
  return user;
}

async function signsIn({ app }: TestServer, name: string, password: string): Promise<boolean> {
  const payload = { name, password };
  return (await app.inject({ method: "POST", url: "/clinic/v1/sign-in", payload })).statusCode === 200;
}

const isSignedIn = async (user: TestUser) => (await user.call("GET", "/clinic/v1/account")).status === 200;

test("a new user signs in with the password that the response shows once", async () => {
  const { server, admin } = await start();
  const made = await admin.call<GivenPassword>("POST", "/users", { name: " Ayşe Yılmaz ", role: "staff" });
  expect(made.body).toEqual({ name: "Ayşe Yılmaz", password: expect.stringMatching(/^(\w{4}-){3}\w{4}$/) as string });
  expect(await signsIn(server, "ayşe YILMAZ", made.body.password ?? "")).toBe(true);
  expect(await find(admin, "Ayşe Yılmaz")).toMatchObject({
    role: "staff",
    is_disabled: false,
    sessions: 1,
    is_you: false,
    is_manageable: true,
    is_last_admin: false,
  });

  const typed = await admin.call("POST", "/users", { name: "Can", role: "reader", password: "my own words" });
  expect(typed.body).toEqual({ name: "Can", password: null });
  expect(await signsIn(server, "can", "my own words")).toBe(true);
  const taken = await admin.call("POST", "/users", { name: "CAN", role: "reader" });
  expect(taken.status).toBe(409);
});

test("the role changes immediately", async () => {
  const { server, admin } = await start();
  const user = await makeUser(server, "reader", ours);
  const { id } = await find(admin, user.name);
  expect((await user.call("GET", "/users")).status).toBe(403);
  expect((await admin.call("PATCH", `/users/${id}`, { role: "admin" })).status).toBe(200);
  expect((await user.call("GET", "/users")).status).toBe(200);
  expect((await admin.call("PATCH", `/users/${id}`, { role: "owner" })).status).toBe(400);
});

test("a clinic keeps its last admin who can sign in", async () => {
  const { server, admin } = await start();
  const second = await makeUser(server, "admin", ours);
  const { id } = await find(admin, admin.name);
  const other = await find(admin, second.name);
  expect((await admin.call("POST", `/users/${other.id}/disable`, {})).status).toBe(200);
  expect((await find(admin, admin.name)).is_last_admin).toBe(true);
  expect((await admin.call("PATCH", `/users/${id}`, { role: "staff" })).status).toBe(409);
  expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(409);
  expect((await find(admin, admin.name)).role).toBe("admin");

  await admin.call("POST", `/users/${other.id}/enable`, {});
  expect((await admin.call("PATCH", `/users/${id}`, { role: "staff" })).status).toBe(200);
  expect((await admin.call("GET", "/users")).status).toBe(403);
});

test("two admins who remove each other at the same time leave one", async () => {
  const { server, admin } = await start();
  const second = await makeUser(server, "admin", ours);
  const [first, other] = [await find(admin, admin.name), await find(admin, second.name)];
  await Promise.all([admin.call("DELETE", `/users/${other.id}`), second.call("DELETE", `/users/${first.id}`)]);
  const left = [admin, second].map(async (user) => (await user.call("GET", "/users")).status);
  expect(await Promise.all(left)).toContain(200);
});

test("disabling ends the sessions and the sign-in; enabling brings the sign-in back", async () => {
  const { server, admin } = await start();
  await admin.call("POST", "/users", { name: "Deniz", role: "staff", password: "sea and sand" });
  const user = await makeUser(server, "staff", ours);
  await admin.call("POST", `/users/${(await find(admin, user.name)).id}/disable`, {});
  expect(await isSignedIn(user)).toBe(false);

  const { id } = await find(admin, "Deniz");
  await admin.call("POST", `/users/${id}/disable`, {});
  expect(await signsIn(server, "Deniz", "sea and sand")).toBe(false);
  expect((await find(admin, "Deniz")).is_disabled).toBe(true);
  await admin.call("POST", `/users/${id}/enable`, {});
  expect(await signsIn(server, "Deniz", "sea and sand")).toBe(true);
});

test("a reset gives a new password and ends the sessions; an end of sessions keeps the password", async () => {
  const { server, admin } = await start();
  await admin.call("POST", "/users", { name: "Deniz", role: "staff", password: "sea and sand" });
  const { id } = await find(admin, "Deniz");
  expect(await signsIn(server, "Deniz", "sea and sand")).toBe(true);
  await admin.call("POST", `/users/${id}/end-sessions`, {});
  expect((await find(admin, "Deniz")).sessions).toBe(0);
  expect(await signsIn(server, "Deniz", "sea and sand")).toBe(true);

  const reset = await admin.call<GivenPassword>("POST", `/users/${id}/reset`, {});
  expect((await find(admin, "Deniz")).sessions).toBe(0);
  expect(await signsIn(server, "Deniz", "sea and sand")).toBe(false);
  expect(await signsIn(server, "Deniz", reset.body.password ?? "")).toBe(true);
});

test("an admin changes the own account with the own password alone", async () => {
  const { admin } = await start();
  const { id, is_manageable } = await find(admin, admin.name);
  expect(is_manageable).toBe(false);
  for (const change of ["reset", "disable", "end-sessions"]) {
    const { status } = await admin.call("POST", `/users/${id}/${change}`, {});
    expect({ change, status }).toEqual({ change, status: 409 });
  }
});

test("an admin of two clinics adds a user of one to the other by name, and others get no power over the account", async () => {
  const { server, admin } = await start();
  const vet = await makeUser(server, "admin", theirs);
  const both = await makeUser(server, "admin", ours, theirs);
  expect((await admin.call("POST", "/users/add", { name: "nobody", role: "reader" })).status).toBe(404);
  expect((await admin.call("POST", "/users/add", { name: vet.name, role: "reader" })).status, "of others").toBe(404);
  expect((await both.call("POST", "/users/add", { name: vet.name.toUpperCase(), role: "reader" })).status).toBe(200);
  expect((await both.call("POST", "/users/add", { name: vet.name, role: "admin" })).status).toBe(409);

  const { id, is_manageable } = await find(admin, vet.name);
  expect(is_manageable).toBe(false);
  for (const change of ["reset", "disable", "enable", "end-sessions"]) {
    const { status } = await admin.call("POST", `/users/${id}/${change}`, {});
    expect({ change, status }).toEqual({ change, status: 409 });
  }
  expect(await isSignedIn(vet)).toBe(true);

  expect((await admin.call("DELETE", `/users/${id}`)).status).toBe(200);
  expect((await listed(admin)).map(({ name }) => name)).not.toContain(vet.name);
  expect((await vet.call("GET", "/users")).status, "the own clinic").toBe(200);

  const theirsAlone = await makeUser(server, "reader", theirs);
  await both.call("POST", "/users/add", { name: theirsAlone.name, role: "reader" });
  const shared = await find(both, theirsAlone.name);
  expect(shared.is_manageable, "for an admin of all clinics of the user").toBe(true);
});

test("the audit names the admin and the changed user, and holds no password", async () => {
  const { server, admin } = await start();
  await admin.call("POST", "/users", { name: "Deniz", role: "staff", password: "sea and sand" });
  const { id } = await find(admin, "Deniz");
  await admin.call("PATCH", `/users/${id}`, { role: "reader" });
  const rows = [];
  for await (const row of listRows(server.store, { since: 0, until: Number.MAX_SAFE_INTEGER })) rows.push(row);
  const commands = rows.filter(({ method }) => method === "COMMAND");
  expect(commands).toMatchObject([
    { route: "users create --role staff", fp: id, address: admin.name },
    { route: "users role reader", fp: id, address: admin.name },
  ]);
  expect(JSON.stringify(rows)).not.toContain("sea and sand");
});

test("settings of the clinic appear in the session, and a wrong zone is refused", async () => {
  const { admin } = await start();
  const put = (body: object) => admin.call<Refused>("PUT", "/settings/clinic", body);
  expect((await put({ language: "tr", time_zone: "Europe/Istanbul" })).status).toBe(200);
  const { body } = await admin.call("GET", "/clinic/v1/session");
  expect(body).toMatchObject({ clinics: [{ fp: ours, language: "tr", time_zone: "Europe/Istanbul" }] });
  const refused = await put({ language: "tr", time_zone: "Mars/Olympus" });
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    { code: "ZONE.UNKNOWN", values: ["Mars/Olympus"] },
  ]);
  expect((await put({ confirms_connections: false, not_run_hours: 3 })).status).toBe(200);
  expect((await admin.call("GET", "/clinic/v1/session")).body).toMatchObject({ clinics: [{ language: "tr" }] });
  expect((await put({ language: null })).status).toBe(200);
  const kept = { language: null, time_zone: "Europe/Istanbul", confirms_connections: false, not_run_hours: 3 };
  expect((await admin.call("GET", "/clinic/v1/session")).body).toMatchObject({ clinics: [kept] });
  expect((await put({ time_zone: null })).status).toBe(200);
  expect((await put({})).status).toBe(200);
  const last = { ...kept, time_zone: null };
  expect((await admin.call("GET", "/clinic/v1/session")).body).toMatchObject({ clinics: [last] });
});
