import { expect, test } from "vitest";
import { type AuditRow, insertRows } from "../../../../server/records/audit/audit.ts";
import { type AuditSearch, searchAudit, searchWholeAudit } from "../../../../server/records/users/audit-search.ts";
import { findClinic, listKeys } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { makeUser } from "../../../dashboard/harness.ts";
import { clinic, noon, startServer } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

async function startAudit() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const { store } = server;
  const idOf = async (fp: string) => (await findClinic(store, fp))?.id ?? 0;
  const [clinicId, otherId] = [await idOf(ours), await idOf(theirs)];
  const row: AuditRow = {
    at: noon,
    request_id: "01A",
    api_key_id: null,
    user_id: null,
    clinic_id: null,
    method: "GET",
    route: "/api/v1/patients",
    fp: null,
    count: null,
    status: 200,
    address: "192.0.2.7",
    times: 1,
  };
  const insert = (rows: Partial<AuditRow>[]) =>
    store.transaction((session) =>
      insertRows(
        session,
        rows.map((changes) => ({ ...row, ...changes })),
      ),
    );
  const all: AuditSearch = { clinicId, since: 0, until: noon * 2, user: "", key: "", text: "", fp: "" };
  const routes = async (search: Partial<AuditSearch>) =>
    (await searchAudit(store, { ...all, ...search })).rows.map(({ route }) => route);
  return { server, store, clinicId, otherId, insert, all, routes };
}

test("a clinic finds the requests with its keys and of its users, the newest first, and no others", async () => {
  const { server, clinicId, otherId, insert, routes } = await startAudit();
  await server.makeFreshKey(ours, ["clinic.lab.view"]);
  await server.makeFreshKey(theirs, ["clinic.lab.view"]);
  await insert([
    { api_key_id: 1, route: "/our-key" },
    { api_key_id: 2, route: "/their-key" },
    { user_id: 1, clinic_id: clinicId, route: "/our-user" },
    { user_id: 1, clinic_id: otherId, route: "/their-user" },
    { route: "/nobody" },
  ]);
  expect(await routes({})).toEqual(["/our-user", "/our-key"]);
  expect(await routes({ clinicId: otherId })).toEqual(["/their-user", "/their-key"]);
});

test("rows are found by time, part of the user's name, key, part of the route, and record", async () => {
  const { server, store, clinicId, insert, routes } = await startAudit();
  await server.makeFreshKey(ours, ["clinic.lab.view"]);
  const key = (await listKeys(store, clinicId))[0]?.id ?? "";
  const { id: userId, name } = await makeUser(server, "admin", ours);
  const fp = newFp("patient");
  await insert([
    { clinic_id: clinicId, user_id: userId, route: "/a_1" },
    { clinic_id: clinicId, user_id: null, method: "COMMAND", route: "keys revoke", fp: key, at: noon + 1000 },
    { api_key_id: 1, method: "POST", route: "/B", fp, at: noon + 2000 },
  ]);
  expect(await routes({ since: noon + 1000 })).toEqual(["/B", "keys revoke"]);
  expect(await routes({ until: noon + 1000 })).toEqual(["/a_1"]);
  expect(await routes({ user: name.slice(2).toUpperCase() })).toEqual(["/a_1"]);
  expect(await routes({ user: "%" })).toEqual([]);
  expect(await routes({ key })).toEqual(["/B", "keys revoke"]);
  expect(await routes({ text: "post /b" })).toEqual(["/B"]);
  expect(await routes({ text: "a_1" })).toEqual(["/a_1"]);
  expect(await routes({ text: "a%1" })).toEqual([]);
  expect(await routes({ fp })).toEqual(["/B"]);
  expect(await routes({ fp: "' or 1=1 --" })).toEqual([]);
});

test("a long audit is read page by page without a gap, and a search goes through it in slices", async () => {
  const { store, clinicId, insert, all } = await startAudit();
  const count = 41_000;
  // One row in a hundred is ours, so that a page spans several slices.
  await insert(
    Array.from({ length: count }, (_, index) => ({
      at: noon + index * 1000,
      ...(index % 100 === 0 && { clinic_id: clinicId }),
    })),
  );
  const expected = Array.from({ length: count / 100 }, (_, index) => noon + (count - 100 - index * 100) * 1000);
  const found: number[] = [];
  for await (const { at } of searchWholeAudit(store, all)) found.push(Date.parse(at));
  expect(found).toEqual(expected);
  // Rows of before noon are found after a slice that is completely too new.
  const early = await searchAudit(store, { ...all, until: noon + 1000 });
  expect(early).toMatchObject({ rows: [{ at: new Date(noon).toISOString() }] });
  // The search ends where rows get too old.
  const late = await searchAudit(store, { ...all, since: noon + 40_990_000 });
  expect(late).toEqual({ rows: [], next: null });
});
