import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { WRITES_MAX } from "../../../../server/records/audit/done-writes.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { MadeKey } from "../../../../server/dashboard/types/settings/keys.ts";
import type { RecordDetail, RecordList } from "../../../../server/dashboard/types/records.ts";
import type { Consumed } from "../../../../server/dashboard/types/stock.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { allStored, clinic, connection, patient, startServer } from "../../harness.ts";
import { item, soap } from "../../records.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

const newId = () => randomBytes(16).toString("base64url");

async function startClinic() {
  const dog = patient();
  const signed = soap(dog.fp, ours, { status: "SIGNED", signed_at: "2026-11-01T10:00:00.000Z" });
  const vial = item(ours, { quantity_on_hand: 12 });
  const server = await startServer(clinic(ours), clinic(theirs), dog, connection(dog.fp, ours), signed, vial);
  const admin = await makeUser(server, "admin", ours);
  const consume = (user: typeof admin, quantity: number, id: string) =>
    user.call<Consumed & { error: { code: string } }>("POST", `/stock/${vial.fp}/consume`, { quantity }, id);
  return { server, admin, dog, signed, vial, consume };
}

test("three simultaneous amendments with one id make one, and each gets its response", async () => {
  const { server, admin, signed } = await startClinic();
  const id = newId();
  const amend = () => admin.call<RecordDetail>("POST", `/records/${signed.fp}/amend`, {}, id);
  const answers = await Promise.all([amend(), amend(), amend()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const { body } = await admin.call<RecordList>("GET", "/records");
  expect(body.total).toBe(2);
  const headers = { cookie: admin.cookie, "sec-fetch-site": "same-origin", "idempotency-key": `"${id}"` };
  const url = `/clinic/v1/clinics/${ours}/records/${signed.fp}/amend`;
  const repeated = await server.app.inject({ method: "POST", url, headers, payload: {} });
  expect([repeated.headers["idempotency-replayed"], repeated.body]).toEqual(["true", answers[0]?.text]);
});

test("an id belongs to one user and one request, for a day", async () => {
  const { server, admin, consume } = await startClinic();
  const other = await makeUser(server, "staff", ours);
  const id = newId();
  const left = async (user: typeof admin, quantity = 1) => {
    const { status, body } = await consume(user, quantity, id);
    return status === 200 ? body.item.quantity_on_hand : [status, body.error.code];
  };
  expect(await left(admin)).toBe(11);
  expect(await left(other)).toBe(10);
  expect(await left(admin)).toBe(11);
  expect(await left(admin, 2)).toEqual([422, "REQUEST.ID_REUSED"]);
  server.clock.now += 24 * 3_600_000;
  expect(await left(admin)).toBe(9);
});

test("a refused write leaves nothing, so that its repetition runs", async () => {
  const { admin, vial, consume } = await startClinic();
  const id = newId();
  expect((await consume(admin, 20, id)).status).toBe(409);
  const delivery = { quantity: 30, lot: null, expiry_date: null };
  await admin.call("POST", `/stock/${vial.fp}/receive`, delivery);
  expect((await consume(admin, 20, id)).body.item.quantity_on_hand).toBe(22);
});

test("a repetition is refused once the user lost the role", async () => {
  const { server, admin, consume } = await startClinic();
  const staff = await makeUser(server, "staff", ours);
  const id = newId();
  expect((await consume(staff, 1, id)).status).toBe(200);
  const { body } = await admin.call<{ users: { id: string; name: string }[] }>("GET", "/users");
  const user = body.users.find(({ name }) => name === staff.name)?.id ?? "";
  await admin.call("PATCH", `/users/${user}`, { role: "reader" });
  expect((await consume(staff, 1, id)).status).toBe(403);
});

test("a repetition shows a new key's text again, and a copy of the database shows neither it nor the id", async () => {
  const { server, admin } = await startClinic();
  const id = newId();
  const wanted = { name: "key", type: "integration", permissions: ["clinic.patient.view"], expires_in_days: null };
  const make = () => admin.call<MadeKey>("POST", "/keys", wanted, id);
  const { key } = (await make()).body;
  expect((await make()).body).toEqual({ key });
  expect((await server.get(key, "/api/v1/patients")).status).toBe(200);
  expect((await admin.call<{ keys: unknown[] }>("GET", "/keys")).body.keys).toHaveLength(1);
  const stored = allStored(server.database);
  expect(stored).toContain("key_");
  for (const secret of [key, key.slice(12), id]) expect(stored).not.toContain(secret);
  expect(server.log.join("")).not.toContain(id);
});

test("an id that can be guessed is refused, and a write without one runs each time", async () => {
  const { server, admin, vial, consume } = await startClinic();
  for (const id of ["1", "consume", "x".repeat(65), "x".repeat(30) + " "]) {
    expect((await consume(admin, 1, id)).status).toBe(400);
  }
  const url = `/clinic/v1/clinics/${ours}/stock/${vial.fp}/consume`;
  const headers = { cookie: admin.cookie, "sec-fetch-site": "same-origin" };
  const answers = [];
  for (let time = 0; time < 2; time += 1) {
    answers.push(await server.app.inject({ method: "POST", url, headers, payload: { quantity: 1 } }));
  }
  expect(answers.map((answer) => answer.json<Consumed>().item.quantity_on_hand)).toEqual([11, 10]);
});

test("a long response is not kept, and its repetition is not done again", async () => {
  const { admin, dog } = await startClinic();
  const id = newId();
  const record = {
    patient_fp: dog.fp,
    soap_type: "EXAMINATION",
    subjective: "x".repeat(99_999),
    objective: "",
    assessment: "",
    plan: "",
  };
  const write = () => admin.call<{ error: { message: string } }>("POST", "/records", record, id);
  expect((await write()).status).toBe(200);
  const { status, body } = await write();
  expect([status, body.error.message]).toEqual([409, "This is done already: load the page again."]);
  expect((await admin.call<RecordList>("GET", "/records")).body.total).toBe(2);
});

test("the server keeps a bounded number of writes of a user", async () => {
  const { server, admin, consume, vial } = await startClinic();
  await admin.call("POST", `/stock/${vial.fp}/receive`, { quantity: 1000, lot: null, expiry_date: null });
  const first = newId();
  await consume(admin, 1, first);
  for (let number = 0; number <= WRITES_MAX; number += 1) {
    server.clock.now += 1;
    await consume(admin, 1, newId());
  }
  const counted = await server.store.first(
    query((db) => db.selectFrom("done_write").select((select) => select.fn.countAll<number>().as("total"))),
    {},
  );
  expect(counted?.total).toBe(WRITES_MAX);
});
