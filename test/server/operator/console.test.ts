import { Secret, TOTP } from "otpauth";
import { expect, test } from "vitest";
import type {
  HostedClinicPage,
  HostedClinics,
  NewClinicAnswer,
  OperatorAudit,
} from "../../../server/dashboard/types/operator.ts";
import { givePassword, makeOperator, makeUser } from "../../dashboard/harness.ts";
import { readMeters } from "../../../server/records/hosting/meters.ts";
import { measureNext } from "../../../server/records/hosting/storage.ts";
import { previewPath } from "../../../shared/api/agent/preview.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { encodePng } from "../../../agent/imaging/files/png.ts";
import { clinic, connection, noon, patient, startServer, study } from "../harness.ts";

// The operator's console over its own API: who comes in, what is counted, and what each command does to a clinic.

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];

const named = (fp: string, name: string) => ({ type: "clinic" as const, fp, name });

const heartbeat = (version: string, more: object = {}) => ({ version, ...more });

async function beat(server: Awaited<ReturnType<typeof startServer>>, key: string, body: object) {
  const headers = { "x-api-key": key };
  const sent = await server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload: body });
  expect(sent.statusCode).toBe(200);
}

const agentOf = (server: Awaited<ReturnType<typeof startServer>>, fp: string) =>
  server.makeFreshKey(fp, ["clinic.lab.ingest"], { type: "device" });

test("an operator signs in at the console alone, and a user of a clinic at the dashboard alone", async () => {
  const server = await startServer(clinic(ours));
  const [operator, user] = [await makeOperator(server), await makeUser(server, "admin", ours)];
  for (const { id } of [operator, user]) await givePassword(server, id, "ten letters");
  const signIn = async (url: string, name: string, password = "ten letters") => {
    const headers = { "sec-fetch-site": "same-origin" };
    const { statusCode, cookies } = await server.app.inject({
      method: "POST",
      url,
      headers,
      payload: { name, password },
    });
    return [statusCode, ...cookies.flatMap(({ name: each }) => (each === "vetwire-browser" ? [] : [each]))];
  };
  expect(await signIn("/operator/v1/sign-in", operator.name)).toEqual([200, "vetwire-operator"]);
  expect(await signIn("/operator/v1/sign-in", operator.name, "other words")).toEqual([401]);
  expect(await signIn("/operator/v1/sign-in", user.name)).toEqual([401]);
  expect(await signIn("/clinic/v1/sign-in", operator.name)).toEqual([401]);
  expect(await signIn("/clinic/v1/sign-in", user.name)).toEqual([200, "vetwire"]);
  expect((await operator.call("POST", "/sign-out", {})).status).toBe(200);
  expect((await operator.call("GET", "/clinics")).status).toBe(401);
});

test("an operator switches a second factor on at the console, and signs in with its codes from then on", async () => {
  const server = await startServer(clinic(ours));
  const operator = await makeOperator(server);
  await givePassword(server, operator.id, "ten letters");
  const factor = "/account/second-factor";
  const { secret } = (await operator.call<{ secret: string }>("POST", `${factor}/secret`, {})).body;
  const codeNow = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: server.clock.now });
  const on = { secret, code: codeNow(), password: "ten letters" };
  expect((await operator.call("POST", `${factor}/on`, { ...on, password: "other words" })).status).toBe(403);
  expect((await operator.call("POST", `${factor}/on`, on)).status).toBe(200);
  expect((await operator.call("GET", "/account")).body).toMatchObject({ has_second_factor: true });
  const signIn = async (totp?: string) => {
    const headers = { "sec-fetch-site": "same-origin" };
    const payload = { name: operator.name, password: "ten letters", ...(totp !== undefined && { totp }) };
    return (await server.app.inject({ method: "POST", url: "/operator/v1/sign-in", headers, payload })).statusCode;
  };
  expect(await signIn()).toBe(401);
  server.clock.now += 30_000;
  expect(await signIn(codeNow())).toBe(200);
});

test("the list counts PCs, versions and the results of the day, and has the clinics first that need the operator", async () => {
  const [waiting, well] = [newFp("clinic"), newFp("clinic")];
  const [first, second] = [named(ours, "Çankaya"), named(theirs, "Moda")];
  const server = await startServer(first, second, named(waiting, "A queue"), named(well, "Well"));
  const operator = await makeOperator(server);
  const [silent, faulty] = [await agentOf(server, ours), await agentOf(server, theirs)];
  const [queued, good] = [await agentOf(server, waiting), await agentOf(server, well)];
  await beat(server, silent, heartbeat("0.1.0", { outbox: { depth: 1, oldest_at: "2026-11-21T08:00:00Z" } }));
  await server.push(silent, study(), study());
  server.clock.now += 3_600_000;
  const foreign = { id: "chem", foreign: { bytes: 3, protocol: null } };
  await beat(server, faulty, heartbeat("0.2.0", { devices: [foreign, { id: "hema" }] }));
  const since = (minutes: number) => new Date(server.clock.now - minutes * 60_000).toISOString();
  await beat(server, queued, heartbeat("0.2.0", { outbox: { depth: 1, oldest_at: since(30) } }));
  await beat(server, good, heartbeat("0.2.0", { outbox: { depth: 1, oldest_at: since(29) } }));
  const list = async (query = "") => (await operator.call<HostedClinics>("GET", `/clinics${query}`)).body;
  const all = await list();
  expect(all.clinics.map(({ name, state }) => [name, state])).toEqual([
    ["Çankaya", "silent"],
    ["Moda", "errors"],
    ["A queue", "waiting"],
    ["Well", "well"],
  ]);
  expect(all.clinics[0]).toMatchObject({
    pcs: { total: 1, connected: 0, behind: 0 },
    ...{ version: "0.1.0", results_today: 2, last_seen_at: new Date(noon).toISOString(), suspended_at: null },
    queue_oldest_at: "2026-11-21T08:00:00.000Z",
  });
  expect(all.sums).toMatchObject({ clinics: 4, pcs: 4, connected: 3, results_today: 2, updating: 0 });
  const none = { "over quota": 0, behind: 0, "no PC": 0, suspended: 0 };
  expect(all.sums.states).toEqual({ silent: 1, errors: 1, waiting: 1, well: 1, ...none });
  expect(all.sums).toMatchObject({
    last_backup: { at: "2026-11-20T03:00:00.000Z", bytes: 5_000_000 },
    backup_failed_at: "2026-11-21T03:00:00.000Z",
  });
  expect((await list("?search=nobody")).total).toBe(0);
  expect((await list("?search=cank")).clinics).toMatchObject([{ fp: ours }]);
  expect((await list("?state=errors")).clinics).toMatchObject([{ fp: theirs }]);
  expect(await list("?page=2")).toMatchObject({ clinics: [], total: 4, has_more: false });
  const page = (await operator.call<HostedClinicPage>("GET", `/clinics/${theirs}`)).body;
  expect(page.pcs).toMatchObject([{ version: "0.2.0", is: "running", devices: 2, devices_with_faults: 1, queue: 0 }]);
});

test("a new clinic has an admin, who signs in with the password that the operator got once", async () => {
  const server = await startServer();
  const operator = await makeOperator(server);
  const made = await operator.call<NewClinicAnswer>("POST", "/clinics", { name: " Moda Cat ", admin: "Ayşe" });
  expect(made).toMatchObject({ status: 200, body: { admin: "Ayşe" } });
  expect((await operator.call("POST", "/clinics", { name: "Other", admin: "ayşe" })).status).toBe(409);
  const payload = { name: "ayşe", password: made.body.password };
  const headers = { "sec-fetch-site": "same-origin" };
  const signedIn = await server.app.inject({ method: "POST", url: "/clinic/v1/sign-in", headers, payload });
  const cookie = signedIn.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const state = await server.app.inject({ url: "/clinic/v1/session", headers: { cookie } });
  expect(state.json()).toMatchObject({ clinics: [{ fp: made.body.fp, name: "Moda Cat", role: "admin" }] });
  expect((await operator.call<HostedClinics>("GET", "/clinics")).body).toMatchObject({
    clinics: [{ name: "Moda Cat", state: "no PC" }],
    total: 1,
  });
});

test("a suspended clinic keeps its data, its agent waits with its studies, and the clinic's audit names the operator", async () => {
  const dog = patient();
  const server = await startServer(clinic(ours), dog, connection(dog.fp, ours));
  const [operator, user, key] = [
    await makeOperator(server),
    await makeUser(server, "admin", ours),
    await agentOf(server, ours),
  ];
  const [before, during] = [study({ patient_fp: dog.fp }), study({ patient_fp: dog.fp })];
  await server.push(key, before);
  expect((await operator.call("POST", `/clinics/${ours}/suspend`, {})).status).toBe(200);
  expect((await user.call("GET", "/results")).status).toBe(403);
  expect(await server.push(key, during)).toMatchObject([{ outcome: "deferred", code: "CLINIC.SUSPENDED" }]);
  expect((await operator.call<HostedClinics>("GET", "/clinics")).body.clinics).toMatchObject([{ state: "suspended" }]);
  expect((await operator.call("POST", `/clinics/${ours}/resume`, {})).status).toBe(200);
  expect(await server.push(key, during)).toMatchObject([{ outcome: "filed" }]);
  for (const { fp } of [before, during]) expect((await user.call("GET", `/results/${fp}`)).status).toBe(200);
  const { entries } = (await user.call<{ entries: { method: string }[] }>("GET", "/audit?text=clinics")).body;
  // The requests of the user have the word too, once their rows are written.
  expect(entries.filter(({ method }) => method === "COMMAND")).toMatchObject([
    { route: "clinics resume", user: operator.name },
    { route: "clinics suspend", user: operator.name },
  ]);
  expect((await operator.call("POST", `/clinics/${theirs}/suspend`, {})).status).toBe(404);
});

test("a quota keeps studies beyond it with the agent, and the meters count studies, devices, calls and bytes", async () => {
  const server = await startServer(named(ours, "=Ours"), named(theirs, "Theirs"));
  const [operator, key] = [await makeOperator(server), await agentOf(server, ours)];
  await beat(server, key, heartbeat("0.1.0", { devices: [{ id: "chem" }, { id: "hema" }] }));
  expect((await operator.call("PUT", `/clinics/${ours}/quota`, { studies_max: 1 })).status).toBe(200);
  const [first, second] = [study(), study()];
  expect(await server.push(key, first)).toMatchObject([{ outcome: "unmatched" }]);
  expect(await server.push(key, second)).toMatchObject([{ outcome: "deferred", code: "CLINIC.FULL" }]);
  expect((await operator.call("PUT", `/clinics/${ours}/quota`, { studies_max: null })).status).toBe(200);
  expect(await server.push(key, second)).toMatchObject([{ outcome: "unmatched" }]);
  expect((await operator.call("PUT", `/clinics/${ours}/quota`, { studies_max: 0 })).status).toBe(400);
  const measured = async () => {
    while (await measureNext(server.store, server.clock.now));
  };
  await measured();
  const { text, headers } = await operator.call("GET", "/meters.csv");
  expect(headers["content-disposition"]).toBe('attachment; filename="meters-2026-11.csv"');
  const [head, row, other] = text.split("\r\n");
  expect(head).toBe(
    "fp,name,studies,studies_this_month,devices,api_calls_this_month,storage_bytes,studies_max," +
      "devices_quota,api_calls_this_month_quota,storage_bytes_quota,over_quota",
  );
  expect(row).toMatch(new RegExp(`^${ours},'=Ours,2,2,2,\\d+,[1-9]\\d*,,,,,$`));
  expect(other).toBe(`${theirs},Theirs,0,0,0,0,0,,,,,`);
});

test("a clinic over its quota needs the operator, its page and the CSV name the meter, and no result is refused", async () => {
  const server = await startServer(named(ours, "Ours"), named(theirs, "Theirs"));
  const [operator, key] = [await makeOperator(server), await agentOf(server, ours)];
  await beat(server, key, heartbeat("0.1.0", { devices: [{ id: "chem" }, { id: "hema" }] }));
  const set = (quotas: object) => operator.call("PUT", `/clinics/${ours}/quota`, { quotas });
  const quotas = { devices: 1, api_calls_this_month: null, storage_bytes: 1 };
  expect((await set({ devices: 1 })).status).toBe(400);
  expect((await set({ ...quotas, devices: 0 })).status).toBe(400);
  expect((await set(quotas)).status).toBe(200);
  const listed = async () => (await operator.call<HostedClinics>("GET", "/clinics")).body.clinics;
  expect(await listed()).toMatchObject([
    { fp: ours, state: "over quota", over_quota: ["devices"] },
    { fp: theirs, state: "no PC", over_quota: [] },
  ]);
  expect(await server.push(key, study())).toMatchObject([{ outcome: "unmatched" }]);
  expect(await measureNext(server.store, server.clock.now)).toBe(true);
  expect(await listed()).toMatchObject([{ over_quota: ["devices", "storage_bytes"] }, {}]);
  const { clinic: shown, meters } = (await operator.call<HostedClinicPage>("GET", `/clinics/${ours}`)).body;
  expect([shown.quotas, meters.devices]).toEqual([quotas, 2]);
  const { text } = await operator.call("GET", "/meters.csv");
  expect(text.split("\r\n")[1]).toMatch(/,,1,,1,devices storage_bytes$/);
  // A limit of studies alone leaves the others, and these leave it.
  expect((await operator.call("PUT", `/clinics/${ours}/quota`, { studies_max: 9 })).status).toBe(200);
  expect(await listed()).toMatchObject([{ studies_max: 9, over_quota: ["devices", "storage_bytes"] }, {}]);
  expect((await set({ devices: 2, api_calls_this_month: null, storage_bytes: null })).status).toBe(200);
  const well = { fp: ours, state: "well", over_quota: [], studies_max: 9 };
  expect(await listed()).toMatchObject([{ state: "no PC" }, well]);
  expect((await operator.call<OperatorAudit>("GET", "/audit")).body.commands.at(-1)).toMatchObject({
    command: "clinics quota devices 1, api_calls_this_month none, storage_bytes 1",
  });
});

test("each clinic is measured once a day, in steps, results and pictures", async () => {
  const server = await startServer(named(ours, "Ours"), named(theirs, "Theirs"));
  const key = await agentOf(server, ours);
  const studies = Array.from({ length: 1001 }, () => study({ results: [] }));
  for (let from = 0; from < studies.length; from += 100) await server.push(key, ...studies.slice(from, from + 100));
  const next = () => measureNext(server.store, server.clock.now);
  expect([await next(), await next(), await next()]).toEqual([true, true, false]);
  const bytes = async () => {
    const read = readMeters(server.store, { now: server.clock.now, clinicId: 1 });
    return (await read)?.storage_bytes;
  };
  // An empty list of results is two bytes.
  expect(await bytes()).toBe(2002);
  const png = encodePng({ width: 2, height: 2, channels: 1, pixels: new Uint8Array(4) });
  const pictured = study({ modality: "RADIOLOGY", results: [] });
  await server.push(key, pictured);
  const headers = { "x-api-key": key, "content-type": "image/png" };
  const url = previewPath(pictured.fp, 1);
  expect((await server.app.inject({ method: "PUT", url, headers, payload: Buffer.from(png) })).statusCode).toBe(200);
  expect([await next(), await bytes()]).toEqual([false, 2002]);
  server.clock.now += 86_400_001;
  expect(await next()).toBe(true);
  // Base64 fills up to three bytes.
  expect(Math.abs(((await bytes()) ?? 0) - 2004 - png.length)).toBeLessThan(3);
});

test("an operator reads a clinic for an hour and only with a reason, which the clinic's audit has", async () => {
  const server = await startServer(clinic(ours), clinic(theirs));
  const [operator, admin] = [await makeOperator(server), await makeUser(server, "admin", ours)];
  const support = (reason: unknown, fp = ours) => operator.call("POST", `/clinics/${fp}/support`, { reason });
  for (const reason of ["", "too short", " ".repeat(20), 5]) expect((await support(reason)).status).toBe(400);
  expect((await support("a clinic that is not here", newFp("clinic"))).status).toBe(404);
  const opened = await support("ticket 7: results do not arrive");
  expect(opened.status).toBe(200);
  const [cookie = ""] = String(opened.headers["set-cookie"]).split(";");
  expect(cookie).toMatch(/^vetwire=/);
  const look = async (path: string, method: "GET" | "POST" = "GET", fp = ours) => {
    const headers = { cookie, "sec-fetch-site": "same-origin" };
    const url = `/clinic/v1/clinics/${fp}${path}`;
    return (await server.app.inject({ method, url, headers, ...(method === "POST" && { payload: {} }) })).statusCode;
  };
  expect([await look("/results"), await look("/devices")]).toEqual([200, 200]);
  expect([await look("/patients", "POST"), await look("/keys"), await look("/audit")]).toEqual([403, 403, 403]);
  expect(await look("/results", "GET", theirs)).toBe(404);
  // The next request may come to a server whose clock is behind.
  server.clock.now -= 2000;
  expect(await look("/results")).toBe(200);
  server.clock.now += 2000;
  expect((await operator.call("GET", "/clinics")).status).toBe(200);
  const reason = "support: ticket 7: results do not arrive";
  const audited = async (text: string) =>
    (await admin.call<{ entries: object[] }>("GET", `/audit?text=${text}`)).body.entries;
  expect(await audited("support")).toMatchObject([{ route: reason, user: operator.name, fp: ours }]);
  await expect
    .poll(() => audited("results"))
    .toContainEqual(expect.objectContaining({ method: "GET", user: operator.name, status: 200 }));
  const page = (await operator.call<HostedClinicPage>("GET", `/clinics/${ours}`)).body;
  expect(page.looks).toMatchObject([{ by: operator.name, reason: "ticket 7: results do not arrive" }]);
  expect((await operator.call<OperatorAudit>("GET", "/audit")).body).toMatchObject({
    commands: [{ command: reason, by: operator.name, clinic: ours, count: null }],
    next: null,
  });
  server.clock.now += 3_600_000;
  expect(await look("/results")).toBe(404);
});

test("a look ends the session that the browser had at a dashboard, and the one at the console goes on", async () => {
  const server = await startServer(clinic(ours), clinic(theirs));
  const [operator, member] = [await makeOperator(server), await makeUser(server, "staff", theirs)];
  expect((await member.call("GET", "/results")).status).toBe(200);
  const opened = await server.app.inject({
    ...{ method: "POST", url: `/operator/v1/clinics/${ours}/support` },
    headers: { cookie: `${operator.cookie}; ${member.cookie}`, "sec-fetch-site": "same-origin" },
    payload: { reason: "ticket 7: results do not arrive" },
  });
  expect(opened.statusCode).toBe(200);
  expect((await member.call("GET", "/results")).status).toBe(401);
  expect((await operator.call("GET", "/clinics")).status).toBe(200);
});

test("the audit has fifty commands of operators a page, and none of a clinic's users", async () => {
  const server = await startServer(clinic(ours));
  const [operator, admin] = [await makeOperator(server), await makeUser(server, "admin", ours)];
  for (let max = 1; max <= 51; max += 1) await operator.call("PUT", `/clinics/${ours}/quota`, { studies_max: max });
  expect((await admin.call("POST", "/pairing-code", {})).status).toBe(200);
  const list = async (query = "") => (await operator.call<OperatorAudit>("GET", `/audit${query}`)).body;
  const { commands, next } = await list();
  expect([commands.length, commands[0], commands[49]]).toMatchObject([
    50,
    { command: "clinics quota 51", by: operator.name, clinic: ours, name: "A clinic" },
    { command: "clinics quota 2" },
  ]);
  expect(await list(`?before=${next}`)).toMatchObject({ commands: [{ command: "clinics quota 1" }], next: null });
});
