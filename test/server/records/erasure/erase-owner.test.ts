import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { parseStored } from "../../../../server/database/schema.ts";
import type { ErasurePlan, ErasureReport } from "../../../../server/dashboard/types/animals.ts";
import { ImportRunner } from "../../../../server/import/jobs/import-runner.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Outcome } from "../../../../shared/api/study.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { startDestination } from "../../destinations.ts";
import { WAIT_MS } from "../../../support/runner/patience.ts";
import {
  allStored,
  clinic,
  connectTo,
  connection,
  importEntities,
  keyPermissions,
  onPostgres,
  startServer,
  study,
  type TestServer,
} from "../../harness.ts";

// Erasing an owner. Method: a server whose owners have marker texts in every field, through every door. Runs on both engines.

const MARK = "qzxv";
const PHONE = "5559182736";

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];

const owners = query((db) =>
  db
    .selectFrom("customer")
    .leftJoin("patient", "patient.owner_customer_id", "customer.id")
    .select(["customer.fp", "customer.name", "customer.erased_at", "patient.fp as animal"])
    .orderBy("customer.id"),
);

async function start() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const agent = await server.makeKey(ours, keyPermissions);
  const sync = await server.makeKey(ours, ["clinic.sync.write"]);
  const admin = await makeUser(server, "admin", ours);
  let requests = 10;
  const post = async <T>(key: string, url: string, payload: object | Buffer) => {
    const type = Buffer.isBuffer(payload) ? "application/octet-stream" : "application/json";
    const headers = { "x-api-key": key, "content-type": type, "idempotency-key": `request-number-${++requests}` };
    const response = await server.app.inject({ method: "POST", url, headers, payload });
    if (response.statusCode !== 200) throw new Error(response.body);
    return response.json<T>();
  };
  const all = async () => server.store.all(owners, {});
  const erase = async (fp: string) => {
    const { body: plan } = await admin.call<ErasurePlan>("GET", `/owners/${fp}/erasure`);
    return admin.call<ErasureReport>("POST", `/owners/${fp}/erase`, { version: plan.version });
  };
  return { server, agent, sync, admin, post, all, erase };
}

type World = Awaited<ReturnType<typeof start>>;

/** Brings an owner through each door. @returns the fps of the owners */
async function fill({ server, agent, sync, admin, post, all }: World): Promise<string[]> {
  const facts = { phone: `+90 ${PHONE}`, email: `${MARK}@example.org` };
  const animal = { species: "dog", breed: null, sex: null, date_of_birth: null, weight_kg: null, identifiers: [] };
  const typed = { name: `${MARK} Typed`, ...facts, language: "tr", time_zone: "Europe/Istanbul" };
  await admin.call("POST", "/patients", { animal: { ...animal, name: "Pasa", owner: typed }, seen: [] });
  const owner = { external_id: `${MARK}-1`, name: `${MARK} Sync`, ...facts };
  const items = [{ external_id: "1", name: "Pamuk", species: "cat", owner }];
  await post(sync, "/sync/v1/patients", { source: "pims", mode: "partial", items });
  await post(sync, "/sync/v1/owners", { source: "pims", mode: "partial", items: [owner] });
  const item = { external_id: "2", name: "Boncuk", species: "448169003", owner: { name: `${MARK} Seven`, ...facts } };
  await post(agent, "/agent/v1/registry", { source: "HIS", changes: [{ id: 0, key: "1", kind: "patient", item }] });
  await bringFile(server, agent, post);
  const rows = await all();
  for (const { animal: fp, name } of rows) {
    const plain = { ...study().patient_hint, name: "Pasa" };
    const texts = [
      { field: "PID-11", text: `${MARK} street 1` },
      { field: "PID-13", text: `0216 555 00 11~0${PHONE}^PRN` },
    ];
    const hint = { ...plain, owner: name, other: texts };
    const filed = study({ patient_fp: fp, patient_hint: hint });
    await post<{ outcomes: Outcome[] }>(agent, "/agent/v1/studies", {
      studies: [filed, study({ patient_hint: hint })],
    });
    const link = { revision: 1, language: "tr", days: 7, zone: "Europe/Istanbul" };
    expect((await admin.call("POST", `/results/${filed.fp}/links`, link)).status).toBe(200);
    const corrected = { ...filed, revision: 2, results: [{ ...filed.results[0]!, value: 5.9 }] };
    const conflicting = { ...corrected, results: [{ ...filed.results[0]!, value: 4.9 }] };
    // The device named the owner at first only, and the phone alone.
    const mistaken = study({ patient_hint: hint });
    const fixed = { ...mistaken, revision: 2, results: corrected.results, patient_hint: plain };
    const contradiction = { ...fixed, results: conflicting.results, patient_hint: hint };
    const called = study({ patient_hint: { ...plain, other: texts.slice(1) } });
    const outcomes: string[] = [];
    for (const sent of [corrected, conflicting, mistaken, fixed, contradiction, called]) {
      const pushed = await post<{ outcomes: Outcome[] }>(agent, "/agent/v1/studies", { studies: [sent] });
      outcomes.push(...pushed.outcomes.map(({ outcome }) => outcome));
    }
    expect(outcomes).toEqual(["filed", "conflict", "unmatched", "unmatched", "conflict", "unmatched"]);
  }
  return [...new Set(rows.map(({ fp }) => fp))];
}

async function bringFile(server: TestServer, agent: string, post: World["post"]): Promise<void> {
  const head = "Hasta No;Hasta Adı;Tür;Doğum;Sahip;Telefon;E-posta\n";
  const file = `${head}7;Tekir;Kedi;;${MARK} File;+90 ${PHONE};${MARK}@example.org\n8;X;Zebra?;;${MARK} Other;;\n`;
  await post(agent, `/agent/v1/registry/file?name=${MARK}.csv`, Buffer.from(file));
  const { store, clock } = server;
  const runner = new ImportRunner({ store, now: () => clock.now, logger: pino({ level: "silent" }) });
  await runner.check();
  const phases = query((db) => db.selectFrom("file_import").select("phase"));
  await expect.poll(async () => (await store.all(phases, {}))[0]?.phase, { timeout: WAIT_MS }).toBe("done");
}

/** Reads the database and the other files of the data folder. */
async function everything({ database, folder }: TestServer): Promise<string> {
  if (!onPostgres()) {
    const connected = await connectTo(database);
    await connected.run("pragma wal_checkpoint(truncate)");
    await connected.close();
  }
  const files = readdirSync(folder).filter((name) => !name.startsWith("vetwire.db") && name.includes("."));
  return [allStored(database), ...files.map((name) => readFileSync(join(folder, name), "latin1"))].join("\n");
}

const count = (text: string, mark: string) => text.toLowerCase().split(mark).length - 1;

test("after owners with marker texts through every door are erased, no table and no file holds a marker", async () => {
  const world = await start();
  const { server, erase, all } = world;
  const fps = await fill(world);
  expect(fps.length).toBeGreaterThanOrEqual(4);
  const before = await everything(server);
  expect([count(before, MARK) > 20, count(before, PHONE) > 3]).toEqual([true, true]);
  const kinds: Record<string, number> = {};
  for (const fp of fps) {
    const { status, body } = await erase(fp);
    expect(status).toBe(200);
    for (const [kind, erased] of Object.entries(body.erased)) kinds[kind] = (kinds[kind] ?? 0) + erased;
  }
  const after = await everything(server);
  const at = after.toLowerCase().indexOf(MARK);
  expect(at < 0 ? "" : JSON.stringify(after.slice(Math.max(0, at - 200), at + 100))).toBe("");
  expect(count(after, PHONE)).toBe(0);
  expect(Object.entries(kinds).filter(([kind, erased]) => erased === 0 && kind !== "messages")).toEqual([]);
  // Compressed files show no marker: none stays.
  const parts = query((db) => db.selectFrom("file_import_part").select("import_id"));
  expect(await server.store.all(parts, {})).toEqual([]);
  expect((await all()).every(({ name, animal }) => name === null && animal !== null)).toBe(true);
  expect(server.log.join("\n")).not.toContain(MARK);
});

test("an owner is erased once, a second time erases nothing, and the audit has the counts", async () => {
  const world = await start();
  const { admin, erase, all, post, sync, server } = world;
  const owner = { external_id: "3001", name: "Ada Örnek", phone: "+90 555 000 00 00", email: null };
  const send = (name: string) =>
    post(sync, "/sync/v1/patients", {
      ...{ source: "pims", mode: "partial" },
      items: [{ external_id: "1", name: "Pamuk", species: "cat", owner: { ...owner, name } }],
    });
  await send("Ada Örnek");
  const [{ fp, animal } = { fp: "", animal: "" }] = await all();
  const { body: plan } = await admin.call<ErasurePlan>("GET", `/owners/${fp}/erasure`);
  expect(plan).toMatchObject({ name: "Ada Örnek", animals: 1, studies: 0, other_clinics: 0, oldest_backup: null });
  const stale = await admin.call("POST", `/owners/${fp}/erase`, { version: "0" });
  expect(stale).toMatchObject({ status: 409, body: { error: { details: { code: "OWNER.CHANGED" } } } });
  const first = await erase(fp);
  expect(first.body.erased).toMatchObject({ facts: 2, softwareNames: 1, undo: 1, answers: 0 });
  expect(JSON.stringify(first.body)).not.toContain("Ada");
  expect(Object.values((await erase(fp)).body.erased).filter((erased) => erased > 0)).toEqual([]);
  const counts = query((db) =>
    db.selectFrom("audit").select(["route", "count"]).where("route", "like", "owner erase%").orderBy("id").limit(3),
  );
  expect(await server.store.all(counts, {})).toEqual([
    { route: "owner erase", count: null },
    { route: "owner erase: facts", count: 2 },
    { route: "owner erase: softwareNames", count: 1 },
  ]);
  // What the software sends later is another owner.
  expect((await all()).map(({ name, animal: of }) => ({ name, of }))).toEqual([{ name: null, of: animal }]);
  const headers = { "x-api-key": sync, "idempotency-key": "another-request-1" };
  const items = [{ external_id: "1", name: "Pamuk", species: "cat", owner }];
  const payload = { source: "pims", mode: "partial", items };
  await server.app.inject({ method: "POST", url: "/sync/v1/patients", headers, payload });
  const rows = await all();
  expect(rows.map(({ name, animal: of }) => ({ name, of }))).toEqual([
    { name: null, of: null },
    { name: "Ada Örnek", of: animal },
  ]);
});

test("an HL7 message about an animal of an erased owner makes another owner, and the erased one stays empty", async () => {
  const { agent, post, erase, all } = await start();
  let key = 0;
  const send = (item: object) =>
    post(agent, "/agent/v1/registry", {
      ...{ source: "HIS", changes: [{ id: 0, key: String(++key), kind: "patient", item }] },
    });
  const animal = { external_id: "2", name: "Boncuk", species: "448169003" };
  await send({ ...animal, owner: { name: "Ada Örnek" } });
  const [{ fp } = { fp: "" }] = await all();
  await erase(fp);
  await send({ ...animal, owner: { name: "Ada Örnek" } });
  const rows = await all();
  expect(rows.map(({ name, erased_at: at, animal: of }) => ({ name, erased: at !== null, has: of !== null }))).toEqual([
    { name: null, erased: true, has: false },
    { name: "Ada Örnek", erased: false, has: true },
  ]);
});

test("an owner of two clinics is erased in both, and the audit of each names it", async () => {
  const { server, sync, post, all, erase } = await start();
  const owner = { external_id: "3001", name: "Ada Örnek", phone: null, email: null };
  const items = [{ external_id: "1", name: "Pamuk", species: "cat", owner }];
  await post(sync, "/sync/v1/patients", { source: "pims", mode: "partial", items });
  const [{ fp, animal } = { fp: "", animal: null }] = await all();

  await importEntities(server.store, connection(animal ?? "", theirs));
  const stranger = await makeUser(server, "admin", theirs);
  expect((await erase(fp)).body).toMatchObject({ other_clinics: 1, animals: 1 });
  const seen = await stranger.call<{ owner: { name: string | null } }>("GET", `/patients/${animal}`);
  expect(seen.body.owner.name).toBeNull();
  const routes = query((db) =>
    db
      .selectFrom("audit")
      .innerJoin("clinic", "clinic.id", "audit.clinic_id")
      .select(["audit.route", "audit.fp"])
      .where("clinic.fp", "=", theirs)
      .where("audit.route", "like", "owner%"),
  );
  expect(await server.store.all(routes, {})).toEqual([{ route: "owner erase: by another clinic", fp }]);
});

test("messages lose their bytes also if their study was moved to an animal of another owner", async () => {
  const world = await startDestination();
  const { store, own, pamuk, boncuk, key, receiver } = world;
  const admin = await makeUser(world, "admin", own);
  const named = {
    type: "customer" as const,
    fp: pamuk.owner_customer_fp,
    name: `Ada ${MARK}`,
    phone: null,
    email: null,
  };
  await importEntities(store, named);
  const filed = study({ patient_fp: pamuk.fp });
  await world.push(key, filed);
  expect((await receiver.take()).join("\n")).toContain(MARK);
  // A corrected study of another owner's animal, whose messages stay.
  const other = study({ patient_fp: boncuk.fp });
  await world.push(key, other);
  await world.push(key, { ...other, revision: 2, results: [{ ...other.results[0]!, value: 5.9 }] });
  await receiver.take();
  const moved = { patient_fp: boncuk.fp, revision: 1, reason: "the other cat" };
  expect((await admin.call("POST", `/results/${filed.fp}/move`, moved)).status).toBe(200);
  const payloads = query((db) => db.selectFrom("destination_delivery").select("payload").orderBy("id"));
  const kept = query((db) =>
    db
      .selectFrom("destination_delivery")
      .select("id")
      .where("study_fp", "=", other.fp)
      .where("payload", "is not", null),
  );
  const withMark = async () =>
    (await store.all(payloads, {})).filter(({ payload }) =>
      Buffer.from(payload ?? "", "base64")
        .toString()
        .includes(MARK),
    ).length;
  expect(await withMark()).toBeGreaterThan(0);
  const path = `/owners/${pamuk.owner_customer_fp}`;
  const { body: plan } = await admin.call<ErasurePlan>("GET", `${path}/erasure`);
  expect((await admin.call("POST", `${path}/erase`, { version: plan.version })).status).toBe(200);
  expect(await withMark()).toBe(0);
  expect((await store.all(kept, {})).length).toBeGreaterThan(0);
});

test("the texts of a waiting study lead to an owner by the complete name or the e-mail, but no street and no first name does", async () => {
  const { server, agent, admin, post, all, erase } = await start();
  const animal = { species: "dog", breed: null, sex: null, date_of_birth: null, weight_kg: null, identifiers: [] };
  const none = { phone: null, email: null, language: null, time_zone: null };
  for (const typed of [
    { ...none, name: "Mehmet Akif", email: "akif@example.org" },
    { ...none, name: "Ada" },
  ])
    await admin.call("POST", "/patients", { animal: { ...animal, name: "Pasa", owner: typed }, seen: [] });
  const waiting = (field: string, text: string) => {
    const hint = { ...study().patient_hint, name: "Tekir", owner: "Derya", other: [{ field, text }] };
    return study({ patient_hint: hint });
  };
  const studies = [
    waiting("PID-11", "Mehmet Akif Ersoy Cad. 7"),
    waiting("PV1-8", "Ada"),
    waiting("PV1-8", "Akif, Mehmet"),
    waiting("PV1-8", "AKIF@example.org"),
  ];
  await post(agent, "/agent/v1/studies", { studies });
  for (const { fp } of await all()) expect((await erase(fp)).status).toBe(200);
  const hints = query((db) => db.selectFrom("study").select("patient_hint").orderBy("id"));
  const kept = (await server.store.all(hints, {})).map(({ patient_hint }) => parseStored(patient_hint)?.owner);
  expect(kept).toEqual(["Derya", "Derya", null, null]);
});
