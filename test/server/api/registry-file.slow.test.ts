import { pino } from "pino";
import { expect, test } from "vitest";
import type { ImportState, LastImport, UndoAnswer } from "../../../server/dashboard/types/file-import.ts";
import { ImportRunner } from "../../../server/import/jobs/import-runner.ts";
import { query } from "../../../server/database/query.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { RegistryOutcome } from "../../../shared/api/agent/registry.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { patiently, WAIT_MS } from "../../support/runner/patience.ts";
import { clinic, keyPermissions, startServer } from "../harness.ts";

// An agent brings a file of a watched folder. Runs on both engines.

const HEAD = "Hasta No;Hasta Adı;Tür;Doğum;Sahip\n";

async function start() {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinic(ours), clinic(theirs));
  const key = await server.makeKey(ours, keyPermissions);
  const staff = await makeUser(server, "staff", ours);
  const send = async (content: string | Buffer, name = "hastalar.csv", apiKey = key) => {
    const response = await server.app.inject({
      method: "POST",
      url: `/agent/v1/registry/file?name=${encodeURIComponent(name)}`,
      headers: { "x-api-key": apiKey, "content-type": "application/octet-stream" },
      payload: Buffer.from(content),
    });
    const [outcome] = response.statusCode === 200 ? response.json<{ outcomes: RegistryOutcome[] }>().outcomes : [];
    return { status: response.statusCode, outcome };
  };
  // A server that listens does it every two seconds.
  const runner = new ImportRunner({
    store: server.store,
    now: () => server.clock.now,
    logger: pino({ level: "silent" }),
    linesOfTurn: 100,
  });
  const folder = async (user = staff) => (await user.call<LastImport>("GET", "/imports")).body.folder;
  const phase = async (name: string, wanted: ImportState["phase"]): Promise<ImportState> => {
    await runner.check();
    const find = async () => (await folder()).find(({ file_name }) => file_name === name);
    await expect.poll(async () => (await find())?.phase, { timeout: WAIT_MS }).toBe(wanted);
    return (await find())!;
  };
  const animals = async () => (await server.store.all(names, {})).map(({ name }) => name);
  return { server, staff, ours, theirs, send, folder, phase, animals };
}

const names = query((db) => db.selectFrom("patient").select("name").orderBy("id"));

test(
  "a clinic with long and many files keeps the file of another one waiting for a turn alone",
  async () => {
    const { server, theirs, send, phase, animals } = await start();
    const other = await server.makeKey(theirs, keyPermissions);
    const long = Array.from({ length: 250 }, (_, index) => `${index};Pamuk ${index};Kedi;;Ada\n`).join("");
    await send(HEAD + long, "long.csv");
    await send(`${HEAD}1000;Boncuk;Köpek;;Ece\n`, "second.csv");
    await send(`${HEAD}1;Paşa;Kedi;;Ada\n`, "other.csv", other);
    expect((await phase("second.csv", "done")).result?.counts).toMatchObject({ new: 1 });
    const found = await animals();
    expect([found.length, found.indexOf("Paşa"), found.indexOf("Boncuk")]).toEqual([252, 100, 251]);
  },
  patiently(60_000),
);

test(
  "a file without a question is imported without a person, once, and a person undoes it",
  async () => {
    const { server, staff, theirs, send, folder, phase, animals } = await start();
    const file = `${HEAD}1;Pamuk;Kedi;29.02.2020;Ada\n2;Paşa;Zebra?;;Ada\n`;
    expect((await send(file)).outcome).toEqual({ id: 0, fp: null, outcome: "created", code: null, reason: null });
    const done = await phase("hastalar.csv", "done");
    expect(done.result?.counts).toEqual({ new: 1, changed: 0, unchanged: 0, refused: 1 });
    expect(done.by).not.toBe("");
    expect(await animals()).toEqual(["Pamuk"]);
    const audit = query((db) =>
      db.selectFrom("audit").select(["user_id", "api_key_id"]).where("route", "=", "sync: patient created"),
    );
    expect(await server.store.all(audit, {})).toEqual([{ user_id: null, api_key_id: expect.any(Number) as number }]);

    expect((await send(file)).outcome).toMatchObject({ outcome: "unchanged", code: "REGISTRY.FILE_KNOWN" });
    expect(await folder()).toHaveLength(1);
    // The same content under another name is another file, which changes nothing.
    expect((await send(file, "yeni.csv")).outcome).toMatchObject({ outcome: "created" });
    expect((await phase("yeni.csv", "done")).result?.counts).toMatchObject({ new: 0, unchanged: 1 });

    expect(await folder(await makeUser(server, "admin", theirs))).toEqual([]);
    const undone = await staff.call<UndoAnswer>("POST", `/imports/${done.id}/undo`, {});
    expect(undone.body.refusal).toBeNull();
    expect(await animals()).toEqual([]);
  },
  patiently(60_000),
);

test(
  "a file that returns to an earlier content after another one is imported again",
  async () => {
    const { send, phase, animals } = await start();
    for (const name of ["Pamuk", "Paşa", "Pamuk"]) {
      expect((await send(`${HEAD}1;${name};Kedi;;Ada\n`)).outcome).toMatchObject({ outcome: "created" });
      await phase("hastalar.csv", "done");
      expect(await animals()).toEqual([name]);
      expect((await send(`${HEAD}1;${name};Kedi;;Ada\n`)).outcome).toMatchObject({ code: "REGISTRY.FILE_KNOWN" });
    }
  },
  patiently(60_000),
);

test(
  "a file with an open question waits for a person, who answers and imports it",
  async () => {
    const { server, staff, send, folder, phase, animals } = await start();
    const file = `${HEAD}1;Pamuk;Kedi;3/4/2020;Ada\n`;
    for (let time = 0; time < 2; time += 1) {
      expect((await send(file)).outcome).toEqual({
        ...{ id: 0, fp: null, outcome: "rejected", code: "REGISTRY.FILE_QUESTION" },
        reason:
          "The file waits at the dashboard, Patients, Import a list. 3/4/2020 has two meanings, and no date of the file decides: choose the order there.",
      });
    }
    const [waiting, ...others] = await folder();
    expect(others).toEqual([]);
    expect(waiting).toMatchObject({ phase: "read", reading: { questions: ["date_order"] } });
    expect((await send(`${HEAD}1;"Pamuk;Kedi;;Ada\n`, "broken.csv")).outcome).toMatchObject({
      code: "REGISTRY.FILE_FAULT",
      reason:
        "line 2: A quote opens and never closes. Double each quote inside a text, or export the file again as .xlsx.",
    });
    expect(await animals()).toEqual([]);

    // A user's own file neither replaces it nor is replaced.
    server.clock.now += 2 * 86_400_000;
    await staff.call("PUT", `/imports/${waiting?.id}/choices`, { date_order: "dmy" });
    await staff.call("POST", `/imports/${waiting?.id}/preview`, {});
    await phase("hastalar.csv", "previewed");
    await staff.call("POST", `/imports/${waiting?.id}/start`, {});
    expect(await phase("hastalar.csv", "done")).toMatchObject({ by: staff.name, result: { counts: { new: 1 } } });
    expect(await animals()).toEqual(["Pamuk"]);
    expect((await send(file)).outcome).toMatchObject({ code: "REGISTRY.FILE_KNOWN" });
  },
  patiently(60_000),
);

test("a file needs a name, the key of an agent and at most 16 MB", async () => {
  const { server, ours, send } = await start();
  const reader = await server.makeKey(ours, ["clinic.patient.view"]);
  expect((await send(`${HEAD}1;Pamuk;Kedi;;Ada\n`, "a.csv", reader)).status).toBe(403);
  expect((await send(Buffer.alloc(16 * 1024 * 1024 + 1, "a"))).status).toBe(413);
  const nameless = await server.app.inject({
    method: "POST",
    url: "/agent/v1/registry/file",
    headers: { "x-api-key": await server.makeKey(ours, keyPermissions), "content-type": "application/octet-stream" },
    payload: Buffer.from("a"),
  });
  expect(nameless.statusCode).toBe(400);
});
