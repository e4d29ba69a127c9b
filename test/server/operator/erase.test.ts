import { sql } from "kysely";
import { expect, test } from "vitest";
import type {
  ClinicErasure,
  HostedClinicPage,
  HostedClinics,
  OperatorAudit,
} from "../../../server/dashboard/types/operator.ts";
import { query, uncachedWrite } from "../../../server/database/query.ts";
import type { Store } from "../../../server/database/store.ts";
import { insertRow } from "../../../server/records/audit/audit.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { lastRows, ownRows } from "../../../server/records/hosting/erased-rows.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { givePassword, makeOperator, makeUser } from "../../dashboard/harness.ts";
import { clinic, connection, onPostgres, patient, startServer, study, type TestServer } from "../harness.ts";
import { soap } from "../records.ts";
import { startTwoClinics } from "../security/two-clinics.ts";

// A clinic that leaves: what goes, what stays, and what its PCs and users hear.

interface Column {
  readonly table: string;
  readonly column: string;
}

const columns = query((db) =>
  db
    .selectFrom(
      (onPostgres()
        ? sql<Column>`(select table_name as "table", column_name as "column" from information_schema.columns
            where table_schema = current_schema())`
        : sql<Column>`(select tables.name as "table", columns.name as "column" from sqlite_schema as tables
            join pragma_table_info(tables.name) as columns where tables.type = 'table' and tables.name not like 'sqlite_%')`
      ).as("found"),
    )
    .select(["found.table", "found.column"]),
);

/** @returns the rows of each table */
async function storedIn(store: Store): Promise<Map<string, string>> {
  const tables = new Set((await store.all(columns, {})).map(({ table }) => table));
  const stored = new Map<string, string>();
  for (const table of tables) {
    const rows = await store.all(
      query((db) => db.selectFrom(sql<object>`${sql.table(table)}`.as("found")).selectAll()),
      {},
    );
    stored.set(table, rows.map((row) => JSON.stringify(row)).join("\n"));
  }
  return stored;
}

const tablesWith = (stored: ReadonlyMap<string, string>, text: string) =>
  [...stored].flatMap(([table, rows]) => (rows.toLowerCase().includes(text.toLowerCase()) ? [table] : []));

type Operator = Awaited<ReturnType<typeof makeOperator>>;

/** Erases a clinic in as many requests as it takes. */
async function eraseAll(operator: Operator, fp: string, name: string): Promise<ClinicErasure> {
  expect((await operator.call("POST", `/clinics/${fp}/suspend`, {})).status).toBe(200);
  for (let requests = 0; requests < 100; requests += 1) {
    const { body, status, text } = await operator.call<ClinicErasure>("POST", `/clinics/${fp}/erase`, { name });
    expect(`${status} ${text}`).toMatch(/^200 /);
    if (body.ended_at !== null) return body;
  }
  throw new Error("the erasure does not end");
}

const pushAs = async ({ app }: TestServer, key: string, ...studies: object[]) =>
  app.inject({ method: "POST", url: "/agent/v1/studies", headers: { "x-api-key": key }, payload: { studies } });

test("an erased clinic leaves no text of it and no row but numbers, and the other clinic stays as it was", async () => {
  const { server, ours, theirs } = await startTwoClinics();
  const { operator } = ours;
  const member = [...ours.users.values()][0];
  if (member !== undefined) await givePassword(server, member.id, "ten letters");
  const before = await storedIn(server.store);
  expect(tablesWith(before, ours.marker).length).toBeGreaterThan(20);
  const ofTheirs = tablesWith(before, theirs.marker);
  const { counts, ended_at } = await eraseAll(operator, ours.fp, `${ours.marker} clinic`);
  expect(ended_at).not.toBeNull();
  expect(counts).toMatchObject({ animals: 3, owners: 3, studies: 4, records: 1, items: 1, orders: 1, controls: 2 });
  expect([counts.users, counts.keys, counts.events > 0]).toEqual([ours.users.size + 1, 3, true]);
  const after = await storedIn(server.store);
  expect(tablesWith(after, ours.marker)).toEqual([]);
  for (const { name } of ours.users.values()) expect(tablesWith(after, name)).toEqual([]);
  expect(tablesWith(after, theirs.marker)).toEqual(ofTheirs);
  // The clinic is a number, which the list leaves out.
  const list = (await operator.call<HostedClinics>("GET", "/clinics")).body;
  expect(list.clinics.map(({ fp }) => fp)).toEqual([theirs.fp]);
  expect((await operator.call("GET", `/clinics/${ours.fp}`)).status).toBe(404);
  const { commands } = (await operator.call<OperatorAudit>("GET", "/audit")).body;
  const report = { by: operator.name, clinic: ours.fp, name: null, count: counts.animals };
  expect(commands).toContainEqual(expect.objectContaining({ ...report, command: "clinics erase: animals" }));
  expect((await pushAs(server, ours.agentKey, study())).statusCode).toBe(401);
  expect((await pushAs(server, theirs.agentKey, study())).statusCode).toBe(200);
});

const leave = uncachedWrite((db, p: { userId: number; clinicId: number }) =>
  db.deleteFrom("dashboard_user_clinic").where("user_id", "=", p.userId).where("clinic_id", "=", p.clinicId),
);

const routesOf = query((db, p: { userId: number }) =>
  db.selectFrom("audit").select("route").where("user_id", "=", p.userId),
);

test("what another clinic has too stays there, and the users of both", async () => {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const [own, shared] = [patient(), patient()];
  const record = { ...soap(shared.fp, ours), status: "SIGNED" as const, signed_at: "2026-11-20T10:00:00.000Z" };
  const gone = { ...soap(own.fp, ours), status: "SIGNED" as const, signed_at: "2026-11-20T10:00:00.000Z" };
  const server = await startServer(
    ...[{ type: "clinic" as const, fp: ours, name: "Ours" }, clinic(theirs), own, shared],
    ...[connection(own.fp, ours), connection(shared.fp, ours), connection(shared.fp, theirs), record, gone],
  );
  const [operator, both] = [await makeOperator(server), await makeUser(server, "admin", theirs, ours)];
  const key = await server.makeFreshKey(ours, ["clinic.lab.ingest"], { type: "device" });
  const [filed, mine] = [study({ patient_fp: shared.fp }), study({ patient_fp: own.fp })];
  await server.push(key, filed, mine, study());
  // A user of the clinic, who was one of the other clinic before.
  const former = await makeUser(server, "admin", ours, theirs);
  const theirId = (await findClinic(server.store, theirs))?.id ?? 0;
  await server.store.transaction(async (session) => {
    const read = { ...{ at: 1, request_id: null, api_key_id: null, method: "GET", fp: null, count: 1, status: 200 } };
    const by = { address: null, times: 1, user_id: former.id };
    await insertRow(session, { ...read, ...by, route: "read there", clinic_id: theirId });
    await insertRow(session, { ...read, ...by, route: "signed in", clinic_id: null });
    await session.all(leave, { userId: former.id, clinicId: theirId });
  });
  const page = (await operator.call<HostedClinicPage>("GET", `/clinics/${ours}`)).body;
  expect(page.holdings).toEqual({ animals: 1, shared_animals: 1, users: 2, keys: 1 });
  const erase = (name: string) => operator.call<ClinicErasure>("POST", `/clinics/${ours}/erase`, { name });
  expect((await erase("Ours")).text).toContain("CLINIC.IS_SERVED");
  await operator.call("POST", `/clinics/${ours}/suspend`, {});
  expect((await erase("Theirs")).text).toContain("CLINIC.OTHER_NAME");
  const { counts } = await eraseAll(operator, ours, "Ours");
  expect(counts).toMatchObject({ animals: 1, owners: 1, studies: 2, records: 1, users: 1, keys: 1 });
  expect((await server.store.all(routesOf, { userId: former.id })).map(({ route }) => route)).toEqual(["read there"]);
  expect((await both.call("GET", `/clinic/v1/clinics/${theirs}/results/${filed.fp}`)).status).toBe(200);
  expect((await both.call("GET", `/clinic/v1/clinics/${theirs}/records/${record.fp}`)).status).toBe(200);
  expect((await both.call("GET", `/clinic/v1/clinics/${theirs}/results/${mine.fp}`)).status).toBe(404);
  expect((await both.call("GET", `/clinic/v1/clinics/${ours}/results`)).status).toBe(404);
});

test("a clinic with more than one request erases goes on with the next one, and is not served again meanwhile", async () => {
  const fp = newFp("clinic");
  const animals = Array.from({ length: 51 }, () => patient());
  const server = await startServer(
    { type: "clinic", fp, name: "Ours" },
    animals,
    animals.map((animal) => connection(animal.fp, fp)),
  );
  const operator = await makeOperator(server);
  const post = (command: string, body: object = {}) =>
    operator.call<ClinicErasure>("POST", `/clinics/${fp}/${command}`, body);
  await post("suspend");
  const first = (await post("erase", { name: "Ours" })).body;
  expect(first).toMatchObject({ ended_at: null, counts: { animals: 50 } });
  expect((await post("resume")).text).toContain("CLINIC.IS_ERASED");
  expect((await operator.call<HostedClinicPage>("GET", `/clinics/${fp}`)).body.erasure).toEqual(first);
  const last = (await post("erase", { name: "Ours" })).body;
  expect(last).toMatchObject({ began_at: first.began_at, counts: { animals: 51, owners: 51 } });
  expect(last.ended_at).not.toBeNull();
});

test("a clinic that is served again at the moment of its erasure keeps its data, or is not served", async () => {
  const clinics = Array.from({ length: 8 }, () => newFp("clinic"));
  const server = await startServer(clinics.map((fp) => ({ type: "clinic", fp, name: "Ours" })));
  const operator = await makeOperator(server);
  const post = async (fp: string, command: string, body: object = {}) =>
    (await operator.call("POST", `/clinics/${fp}/${command}`, body)).status;
  for (const fp of clinics) {
    expect(await post(fp, "suspend")).toBe(200);
    const both = await Promise.all([post(fp, "resume"), post(fp, "erase", { name: "Ours" })]);
    expect(both.filter((status) => status === 200)).toHaveLength(1);
  }
});

test("a clinic is erased by its name as the page shows it, where spaces in a row are one", async () => {
  const fp = newFp("clinic");
  const server = await startServer({ type: "clinic", fp, name: "O\u0308zgu\u0308r  Klinik" });
  const operator = await makeOperator(server);
  expect((await eraseAll(operator, fp, "Özgür Klinik")).ended_at).not.toBeNull();
});

/** Tables with a clinic that the list of rows leaves to the code: animals and studies, and what stays as a number. */
const ELSEWHERE = ["study", "soap", "api_key", "audit", "dashboard_user_clinic", "customer_source"];

test("each table with a clinic is in the list of what goes", async () => {
  const { store } = await startServer();
  const ofClinics = (await store.all(columns, {})).flatMap(({ table, column }) =>
    column === "clinic_id" ? [table] : [],
  );
  const listed = new Set<string>([...ownRows, ...lastRows].map(({ table }) => table));
  expect(ofClinics.filter((table) => !listed.has(table) && !ELSEWHERE.includes(table))).toEqual([]);
});
