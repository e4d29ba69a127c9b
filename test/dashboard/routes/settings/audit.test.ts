import { expect, test } from "vitest";
import type { AuditAnswer } from "../../../../server/dashboard/types/settings/audit.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { insertRow } from "../../../../server/records/audit/audit.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { clinic, noon, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

const row = {
  at: noon,
  request_id: "01A",
  api_key_id: null,
  user_id: null,
  method: "COMMAND",
  route: "study undo",
  fp: newFp("cds"),
  count: null,
  status: null,
  address: "=HYPERLINK(1)",
  times: 1,
};

async function startAudit() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const { store } = server;
  for (const fp of [ours, theirs]) {
    const clinic_id = (await findClinic(store, fp))?.id ?? 0;
    await store.transaction((session) => insertRow(session, { ...row, clinic_id }));
  }
  return server;
}

test("an admin reads the entries of the own clinic, filtered, and never those of another", async () => {
  const server = await startAudit();
  const admin = await makeUser(server, "admin", ours);
  const { body } = await admin.call<AuditAnswer>("GET", "/audit");
  const { request_id: _id, api_key_id: _key, user_id: _user, at: _at, ...entry } = row;
  const shown = { ...entry, at: new Date(noon).toISOString(), user: null, key: null };
  expect(body).toEqual({ entries: [shown], next: null });
  const count = async (query: string) =>
    (await admin.call<AuditAnswer>("GET", `/audit?${query}`)).body.entries.filter(({ fp }) => fp === row.fp).length;
  expect(await count("since=2026-11-21T12:00:00Z&until=2026-11-21T12:00:00.001Z&text=undo")).toBe(1);
  expect(await count("since=2026-11-21T12:00:00.001Z")).toBe(0);
  expect(await count(`fp=${row.fp}`)).toBe(1);
  expect(await count("fp=cds_x")).toBe(0);
  expect((await admin.call("GET", "/audit?since=yesterday")).status).toBe(400);
  expect((await admin.call("GET", "/audit?before=0")).status).toBe(400);
});

test("the CSV of the audit holds the same entries, without formulas", async () => {
  const admin = await makeUser(await startAudit(), "admin", ours);
  const { status, text } = await admin.call("GET", "/audit.csv?text=undo");
  expect(status).toBe(200);
  expect(text.split("\r\n")).toEqual([
    "at,user,key,method,route,fp,count,status,address,request_id,times",
    `2026-11-21T12:00:00.000Z,,,COMMAND,study undo,${row.fp},,,'=HYPERLINK(1),01A,1`,
    "",
  ]);
});
