import { expect, test } from "vitest";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { listDeliveries } from "../../../../server/records/webhooks/webhooks.ts";
import { WAITING_MAX } from "../../../../server/records/patients/patient-connections.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { AuditAnswer } from "../../../../server/dashboard/types/settings/audit.ts";
import type { ConnectionList } from "../../../../server/dashboard/types/connections.ts";
import type { PatientList, PatientOverview } from "../../../../server/dashboard/types/patients.ts";
import type { ClinicOfUser } from "../../../../server/dashboard/types/settings/session.ts";
import type { TodayState } from "../../../../server/dashboard/types/results/today.ts";
import { makeUser, type TestUser } from "../../../dashboard/harness.ts";
import { clinic, connection, importEntities, keyPermissions, patient, startServer, study } from "../../harness.ts";
import { soap } from "../../records.ts";
import { addWebhook } from "../../webhooks.ts";

// A clinic requests the connection to a patient of others: what they see and decide, and what it reads before and after.

const DAY_MS = 86_400_000;

interface Refusal {
  error: { code: string; message: string };
}

/** Pamuk is a patient of `theirs`; `ours` requests her. */
async function world() {
  const [ours, theirs, third] = [newFp("clinic"), newFp("clinic"), newFp("clinic")];
  const pamuk = patient({ name: "Pamuk", species: "cat", external_ids: ["10022"] });
  const clinics = [ours, theirs, third].map((fp, index) => ({ ...clinic(fp), name: `Clinic ${"ABC"[index]}` }));
  const record = soap(pamuk.fp, theirs);
  const server = await startServer(clinics, pamuk, connection(pamuk.fp, theirs), record);
  const theirKey = await server.makeKey(theirs, keyPermissions);
  const filed = study({ patient_fp: pamuk.fp });
  await server.push(theirKey, filed);
  const asker = await makeUser(server, "staff", ours);
  const host = await makeUser(server, "staff", theirs);
  const ask = async (fp = pamuk.fp, user = asker) => {
    const { status, body } = await user.call<{ name: string | null }>("PUT", `/patients/${fp}/connection`, {
      consent: true,
    });
    return [status, body];
  };
  const answer = async (what: string, { by = host, clinicFp = ours } = {}) => {
    const { status } = await by.call("POST", `/patients/${pamuk.fp}/other-clinics/${clinicFp}/${what}`);
    return status;
  };
  const news = async (user = host) =>
    (await user.call<TodayState>("GET", "/today")).body.connections.map((one) => [
      one.clinic.name,
      one.patient.name,
      one.is_waiting,
    ]);
  const asked = async (user = asker) => (await user.call<ConnectionList>("GET", "/connections")).body.requests;
  const others = async (user = host) =>
    (await user.call<PatientOverview>("GET", `/patients/${pamuk.fp}`)).body.other_clinics;
  const commands = async (user: TestUser, fp = pamuk.fp) => {
    const rows = (await listRowsOf(server.store, fp)).filter(({ method }) => method === "COMMAND");
    const clinicFp = user === host ? theirs : ours;
    return rows.filter(({ clinic_fp }) => clinic_fp === clinicFp).map(({ route, address }) => [route, address]);
  };
  return { server, ours, theirs, third, pamuk, record, filed, asker, host, ask, answer, news, asked, others, commands };
}

type World = Awaited<ReturnType<typeof world>>;

async function setConfirms({ server, theirs }: World, confirms_connections: boolean): Promise<void> {
  const admin = await makeUser(server, "admin", theirs);
  const settings = { language: null, time_zone: null, confirms_connections };
  expect((await admin.call("PUT", "/settings/clinic", settings)).status).toBe(200);
}

/** Everything that the requesting clinic might read of the patient. */
async function reads({ server, ours, pamuk, record, filed, asker }: World): Promise<string[]> {
  const key = await server.makeKey(ours, [...keyPermissions, "clinic.soap.view", "clinic.lab.view"]);
  const answered: { url: string; text: string }[] = [];
  for (const url of [
    "/api/v1/patients",
    `/api/v1/patients/${pamuk.fp}`,
    `/api/v1/soap/${record.fp}`,
    `/api/v1/lab/diagnostics/${filed.fp}`,
    "/api/v1/lab/diagnostics",
    "/api/v1/changes?since=2020-01-01T00:00:00.000Z",
    "/agent/v1/identifiers",
  ]) {
    const { statusCode, body } = await server.app.inject({
      url,
      headers: { "x-api-key": key, authorization: `Bearer ${key}` },
    });
    if (statusCode === 200) answered.push({ url, text: body });
  }
  for (const path of [
    "/patients",
    `/patients/${pamuk.fp}`,
    `/patients/${pamuk.fp}/results`,
    "/results",
    "/results.csv",
    `/results/${filed.fp}`,
    "/records",
    `/records/${record.fp}`,
    "/today",
    "/patients?search=Pamuk",
    "/connections",
  ]) {
    const { status, text } = await asker.call("GET", path);
    if (status === 200) answered.push({ url: path, text });
  }
  // The requesting clinic has the fp alone.
  return answered.filter(({ text }) => /Pamuk|10022|Clinic B|soap_|cds_/.test(text)).map(({ url }) => url);
}

test("a clinic that is connected confirms the connection of another one, which reads nothing before", async () => {
  const made = await world();
  const { server, ours, pamuk, filed, ask, answer, news, asked, others, asker, host, commands } = made;
  const { clinicId } = await addWebhook(server.store, ours, { types: ["patient.changed", "study.filed"] });
  const webhook = { clinicId, id: `wh_${ours}`, page: 1, pageSize: 100 };
  const told = async () => (await listDeliveries(server.store, webhook)).deliveries.map(({ fp }) => fp).toSorted();
  expect(await ask()).toEqual([200, { name: null }]);
  expect(await reads(made)).toEqual([]);
  expect(await asked()).toMatchObject([{ patient_fp: pamuk.fp, state: "waiting", by: asker.name, clinic: null }]);
  expect(await news()).toEqual([["Clinic A", "Pamuk", true]]);
  expect(await others()).toMatchObject([{ clinic: { fp: ours, name: "Clinic A" }, state: "waiting", may: "answer" }]);
  // A study of its own for that patient waits for a person.
  const key = await server.makeKey(ours, keyPermissions);
  expect(await server.push(key, study({ patient_fp: pamuk.fp }))).toMatchObject([{ outcome: "unmatched" }]);
  // A repetition is the same request.
  expect(await ask()).toEqual([200, { name: null }]);
  expect(await others()).toHaveLength(1);
  expect(await told()).toEqual([]);

  server.clock.now += 60_000;
  expect(await answer("confirm")).toBe(200);
  expect((await reads(made)).length).toBeGreaterThan(12);
  expect(await told()).toEqual([filed.fp, pamuk.fp].toSorted());
  expect(await asked()).toEqual([]);
  expect(await news()).toEqual([]);
  const opened_at = new Date(server.clock.now).toISOString();
  expect(await others()).toMatchObject([{ state: "open", opened_at, by: host.name, may: "end" }]);
  expect(await commands(host)).toEqual([
    ["connection asked for", "Clinic A"],
    ["confirm connection", host.name],
    ["connection opened", "Clinic A"],
  ]);
  expect(await commands(asker)).toEqual([
    ["ask for connection", asker.name],
    ["open connection", "Clinic B"],
  ]);
});

test("a clinic that needs no confirmation is notified of the connection, and may end it", async () => {
  const made = await world();
  const { server, ours, pamuk, ask, answer, news, asked, others, host, commands } = made;
  await setConfirms(made, false);
  expect(await ask()).toEqual([200, { name: "Pamuk" }]);
  expect(await news()).toEqual([["Clinic A", "Pamuk", false]]);
  expect(await answer("seen")).toBe(200);
  expect(await news()).toEqual([]);
  expect(await others()).toMatchObject([{ state: "open", by: null, may: "end" }]);
  expect((await reads(made)).length).toBeGreaterThan(12);

  server.clock.now += 60_000;
  const since = new Date(server.clock.now).toISOString();
  expect(await answer("end")).toBe(200);
  const key = await server.makeKey(ours, keyPermissions);
  const { body } = await server.get(key, `/api/v1/changes?since=${since}`);
  expect(JSON.stringify(body)).toContain(pamuk.fp);
  const left = (await reads(made)).filter((url) => url !== "/connections" && !url.includes("changes"));
  expect(left).toEqual([]);
  expect(await asked()).toMatchObject([{ state: "ended", ended_at: since, clinic: "Clinic B" }]);
  expect(await others()).toMatchObject([{ state: "ended", ended_at: since, by: host.name, may: null }]);
  expect(await commands(host)).toEqual([
    ["connection opened", "Clinic A"],
    ["end connection", host.name],
  ]);
});

test("a refusal is shown to the requesting clinic, with its date", async () => {
  const made = await world();
  const { server, ours, theirs, ask, answer, asked, others, news, host, asker, commands } = made;
  await ask();
  server.clock.now += 60_000;
  expect(await answer("refuse")).toBe(200);
  const ended_at = new Date(server.clock.now).toISOString();
  expect(await asked()).toMatchObject([{ state: "refused", ended_at, clinic: "Clinic B" }]);
  expect(await others()).toMatchObject([{ state: "refused", by: host.name, may: null }]);
  expect(await answer("confirm")).toBe(404);
  expect((await reads(made)).filter((url) => url !== "/connections")).toEqual([]);
  expect(await commands(asker)).toContainEqual(["connection refused", "Clinic B"]);
  // The owner may have called meanwhile.
  expect(await ask()).toEqual([200, { name: null }]);
  expect((await asked()).map(({ state }) => state)).toEqual(["waiting"]);
  server.clock.now += 31 * DAY_MS;
  const [laterAsker, laterHost] = [await makeUser(server, "staff", ours), await makeUser(server, "staff", theirs)];
  expect([await asked(laterAsker), await news(laterHost)]).toEqual([[], []]);
  expect(await answer("confirm", { by: laterHost })).toBe(404);
});

test("the requesting clinic withdraws its request, or closes its connection", async () => {
  const made = await world();
  const { pamuk, ask, answer, asked, news, others, asker } = made;
  const url = `/patients/${pamuk.fp}/connection`;
  await ask();
  expect((await asker.call("DELETE", url)).body).toEqual({ name: null });
  expect([await asked(), await news()]).toEqual([[], []]);
  expect(await answer("confirm")).toBe(404);
  expect((await asker.call("DELETE", url)).status).toBe(404);
  await ask();
  await answer("confirm");
  expect((await asker.call("DELETE", url)).body).toEqual({ name: "Pamuk" });
  expect((await others()).map(({ state }) => state)).toEqual(["closed", "withdrawn"]);
  // A closed connection was confirmed once, and is requested again.
  expect(await ask()).toEqual([200, { name: null }]);
});

test("an unknown fp waits like one that another clinic must confirm, until its end", async () => {
  const { server, asker, ask, asked, host, pamuk, commands } = await world();
  const absent = newFp("patient");
  const hide = (text: string) => text.replaceAll(absent, "FP").replaceAll(pamuk.fp, "FP");
  const each = async (work: (fp: string) => Promise<unknown>) => {
    const [one, other] = [await work(absent), await work(pamuk.fp)];
    expect(hide(JSON.stringify(one))).toBe(hide(JSON.stringify(other)));
  };
  const raw = async (method: "GET" | "PUT" | "DELETE", url: string) => {
    const { status, text } = await asker.call(method, url, method === "PUT" ? { consent: true } : undefined);
    return [status, text];
  };
  await each((fp) => raw("GET", `/patients/${fp}`));
  await each((fp) => raw("DELETE", `/patients/${fp}/connection`));
  await each((fp) => raw("PUT", `/patients/${fp}/connection`));
  await each((fp) => raw("PUT", `/patients/${fp}/connection`));
  const [known, unknown] = await asked();
  expect(hide(JSON.stringify(known))).toBe(hide(JSON.stringify(unknown)));
  await each((fp) => commands(asker, fp));
  await each((fp) => raw("GET", `/patients/${fp}`));
  await each((fp) => raw("DELETE", `/patients/${fp}/connection`));
  await each((fp) => raw("DELETE", `/patients/${fp}/connection`));
  expect(await asked()).toEqual([]);
  // A deleted patient belongs to nobody.
  await importEntities(server.store, { ...pamuk, deleted_at: "2026-11-21T10:00:00.000Z" });
  expect(await ask()).toEqual([200, { name: null }]);
  expect((await host.call<TodayState>("GET", "/today")).body.connections).toEqual([]);
});

test("a clinic confirms the connections of others until an admin chooses otherwise, which an older page leaves as it is", async () => {
  const { server, theirs } = await world();
  const admin = await makeUser(server, "admin", theirs);
  const chosen = async () => {
    const { body } = await admin.call<{ clinics: ClinicOfUser[] }>("GET", "/clinic/v1/session");
    return body.clinics.map(({ confirms_connections }) => confirms_connections);
  };
  const save = (more: object) => admin.call("PUT", "/settings/clinic", { language: "tr", time_zone: null, ...more });
  expect(await chosen()).toEqual([true]);
  await save({});
  expect(await chosen()).toEqual([true]);
  await save({ confirms_connections: false });
  await save({});
  expect(await chosen()).toEqual([false]);
  const { body: audit } = await admin.call<AuditAnswer>("GET", "/audit?text=confirmation");
  expect(audit.entries.map(({ route }) => route)).toEqual(["connections need no confirmation"]);
});

test("on a server whose other clinics confirm nothing, an fp that nobody has is unknown", async () => {
  const { server, theirs, third, ask } = await world();
  for (const fp of [theirs, third]) {
    const admin = await makeUser(server, "admin", fp);
    await admin.call("PUT", "/settings/clinic", { language: null, time_zone: null, confirms_connections: false });
  }
  const [status] = await ask(newFp("patient"));
  expect(status).toBe(404);
});

test("the requests of a clinic that wait are bounded", async () => {
  const { asker, ask } = await world();
  for (let count = 0; count < WAITING_MAX; count += 1) await ask(newFp("patient"));
  const { status, body } = await asker.call<Refusal>("PUT", `/patients/${newFp("patient")}/connection`, {
    consent: true,
  });
  expect([status, body.error.message]).toEqual([409, "100 requests of this clinic wait already: withdraw one first."]);
});

test("each connected clinic that confirms must do so, and none may end a connection older than its own", async () => {
  const made = await world();
  const { server, ours, theirs, third, pamuk, ask, answer, news, host } = made;
  const late = await makeUser(server, "staff", third);
  const lateAsker = await makeUser(server, "staff", ours);
  await ask(pamuk.fp, late);
  expect(await answer("confirm", { clinicFp: third })).toBe(200);
  expect(await answer("end", { by: late, clinicFp: theirs })).toBe(404);
  await ask(pamuk.fp, lateAsker);
  expect(await answer("confirm")).toBe(200);
  expect(await answer("confirm")).toBe(409);
  expect((await reads(made)).filter((url) => url !== "/connections")).toEqual([]);
  expect([await news(host), await news(late)]).toEqual([[], [["Clinic A", "Pamuk", true]]]);
  // A clinic that is connected no more need not confirm.
  expect((await late.call("DELETE", `/patients/${pamuk.fp}/connection`)).status).toBe(200);
  expect(await answer("confirm", { by: late })).toBe(404);
  expect(await ask(pamuk.fp, lateAsker)).toEqual([200, { name: "Pamuk" }]);
});

test("a clinic without a part in a request can neither see nor decide it", async () => {
  const { server, third, ours, pamuk, ask, answer, news } = await world();
  await ask();
  const stranger = await makeUser(server, "admin", third);
  for (const what of ["confirm", "refuse", "end", "seen"]) expect(await answer(what, { by: stranger })).toBe(404);
  expect(await news(stranger)).toEqual([]);
  const asker = await makeUser(server, "admin", ours);
  for (const what of ["confirm", "refuse", "end"]) expect(await answer(what, { by: asker })).toBe(404);
  const reader = await makeUser(server, "reader", ours);
  expect(await answer("confirm", { by: reader })).toBe(403);
  expect((await stranger.call<PatientList>("GET", "/patients")).body.total).toBe(0);
  expect((await stranger.call("GET", `/patients/${pamuk.fp}`)).status).toBe(404);
});

test("a connection that an import opened and closed is requested again", async () => {
  const { server, ours, pamuk, ask, answer, asked } = await world();
  await ask();
  await answer("confirm");
  await importEntities(server.store, connection(pamuk.fp, ours, false));
  expect(await ask()).toEqual([200, { name: null }]);
  await importEntities(server.store, connection(pamuk.fp, ours));
  expect(await ask()).toEqual([200, { name: "Pamuk" }]);
  expect(await asked()).toEqual([]);
});
