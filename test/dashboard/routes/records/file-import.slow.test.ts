import { pino } from "pino";
import { expect, test } from "vitest";
import type { ImportState, LastImport, UndoAnswer } from "../../../../server/dashboard/types/file-import.ts";
import type { ItemDetail, ItemList, MovementList } from "../../../../server/dashboard/types/stock.ts";
import { exportEntities } from "../../../../server/import/export.ts";
import { claimImport } from "../../../../server/import/jobs/file-imports.ts";
import { ImportRunner } from "../../../../server/import/jobs/import-runner.ts";
import { query } from "../../../../server/database/query.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { patiently, WAIT_MS } from "../../../support/runner/patience.ts";
import { clinic, startServer, type TestServer } from "../../../server/harness.ts";
import { makeUser, type TestUser } from "../../harness.ts";

// The import of a file through the dashboard: upload, decisions, preview, import in the background, undo.

const HEAD = "Hasta No;Hasta Adı;Tür;Doğum;Sahip;Çip\n";
const FILE = `${HEAD}1;Pamuk;Kedi;3/4/2020;Ada;900085000123456\n2;Paşa;muhabbet k.;;=Ada;9,85E+14\n3;Boncuk;Köpek;;Ece;\n`;

async function start() {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const server = await startServer(clinic(ours), clinic(theirs));
  const staff = await makeUser(server, "staff", ours);
  return { server, staff, ours, theirs };
}

/** Uploads a file as the page does. */
async function upload(
  { app }: TestServer,
  { cookie }: TestUser,
  clinicFp: string,
  content: string | Buffer,
  name = "hastalar.csv",
) {
  const response = await app.inject({
    method: "POST",
    url: `/clinic/v1/clinics/${clinicFp}/imports?name=${encodeURIComponent(name)}`,
    headers: { cookie, "sec-fetch-site": "same-origin", "content-type": "application/octet-stream" },
    payload: typeof content === "string" ? Buffer.from(content) : content,
  });
  return { status: response.statusCode, body: response.json<ImportState>() };
}

const last = async (user: TestUser) => (await user.call<LastImport>("GET", "/imports")).body.last;

async function phase(user: TestUser, wanted: ImportState["phase"]): Promise<ImportState> {
  await expect.poll(async () => (await last(user))?.phase, { timeout: WAIT_MS }).toBe(wanted);
  const state = await last(user);
  if (state === null) throw new Error("the import is gone");
  return state;
}

async function stored({ store }: TestServer): Promise<string> {
  const lines = [];
  for await (const line of exportEntities(store)) lines.push(line);
  return JSON.stringify(lines);
}

test(
  "a file is read, corrected, previewed, imported and undone",
  async () => {
    const { server, staff, ours } = await start();
    const empty = await stored(server);
    const read = await upload(server, staff, ours, FILE, "C:\\fakepath\\../hastalar.csv");
    expect(read.body).toMatchObject({
      ...{
        file_name: "hastalar.csv",
        phase: "read",
        by: staff.name,
        fault: null,
        done: 0,
        result: null,
        undo_until: null,
      },
      reading: { kind: "animals", separator: ";", encoding: "utf-8", rows: 3, questions: ["date_order"] },
    });
    const { id } = read.body;
    expect((await staff.call("POST", `/imports/${id}/preview`, {})).status).toBe(409);
    const chosen = await staff.call<ImportState>("PUT", `/imports/${id}/choices`, { date_order: "dmy" });
    expect(chosen.body).toMatchObject({
      choices: { date_order: "dmy" },
      reading: { questions: [], date_order: "dmy" },
    });
    expect((await staff.call("POST", `/imports/${id}/start`, {})).status).toBe(409);

    await staff.call("POST", `/imports/${id}/preview`, {});
    const preview = await phase(staff, "previewed");
    expect(preview).toMatchObject({ done: 3, result: { counts: { new: 2, changed: 0, unchanged: 0, refused: 1 } } });
    expect(preview.result?.lines.refused).toEqual([
      {
        ...{ line: 3, name: "Paşa", changes: [] },
        faults: [
          { field: "microchip", code: "lost_digits", value: "9,85E+14" },
          { field: "species", code: "unknown_species", value: "muhabbet k." },
        ],
      },
    ]);
    expect(await stored(server)).toBe(empty);

    await staff.call("POST", `/imports/${id}/start`, {});
    const done = await phase(staff, "done");
    expect(done.result?.counts).toEqual({ new: 2, changed: 0, unchanged: 0, refused: 1 });
    expect(done.undo_until).not.toBeNull();
    expect(await stored(server)).toContain("Boncuk");
    const audit = query((db) => db.selectFrom("audit").select(["route", "user_id"]).where("route", "like", "sync:%"));
    const created = { route: "sync: patient created", user_id: staff.id };
    expect(await server.store.all(audit, {})).toEqual([created, created]);

    const csv = await staff.call("GET", `/imports/${id}/refused?language=en`);
    expect(csv.text).toBe(
      "\ufeffHasta No,Hasta Adı,Tür,Doğum,Sahip,Çip,Line,Why it stays out,What to do\r\n" +
        `2,Paşa,muhabbet k.,,'=Ada,"9,85E+14",3,` +
        "Microchip lost its digits in a spreadsheet: 9,85E+14; Species “muhabbet k.” is not known".replace(
          /^(.*)$/,
          '"$1"',
        ) +
        ',"Format the column as text in your practice software or spreadsheet, and export again. Write a word such as dog, cat, rabbit, bird, horse or exotic."\r\n',
    );

    const undone = await staff.call<UndoAnswer>("POST", `/imports/${id}/undo`, {});
    expect(undone.body).toMatchObject({ refusal: null, state: { phase: "undone", undo_until: null } });
    expect(await stored(server)).toBe(empty);
  },
  patiently(60_000),
);

test(
  "an import that changed nothing has no undo, and one whose animal changed since is refused",
  async () => {
    const { server, staff, ours } = await start();
    const run = async (content: string) => {
      const { id } = (await upload(server, staff, ours, content)).body;
      await staff.call("POST", `/imports/${id}/preview`, {});
      await phase(staff, "previewed");
      await staff.call("POST", `/imports/${id}/start`, {});
      return phase(staff, "done");
    };
    const content = `${HEAD}1;Pamuk;Kedi;;Ada;\n`;
    const first = await run(content);
    await server.store.transaction((session) => session.all(rename, {}));
    const refused = await staff.call<UndoAnswer>("POST", `/imports/${first.id}/undo`, {});
    expect(refused.body).toMatchObject({ refusal: { code: "changed", total: 1 }, state: { phase: "done" } });
    await run(content);
    expect(await run(content)).toMatchObject({ undo_until: null, result: { counts: { unchanged: 1 } } });
  },
  patiently(60_000),
);

test(
  "a list of stock is previewed, imported with its lots and undone, and a second import changes no quantity",
  async () => {
    const { server, staff, ours } = await start();
    const empty = await stored(server);
    const run = async (content: string) => {
      server.clock.now += 1000;
      const { id } = (await upload(server, staff, ours, content, "stok.csv")).body;
      await staff.call("POST", `/imports/${id}/preview`, {});
      const preview = await phase(staff, "previewed");
      await staff.call("POST", `/imports/${id}/start`, {});
      return { preview, done: await phase(staff, "done") };
    };
    const file = (category: string, rest = "") =>
      "Stok Kodu;Ürün Adı;Kategori;Birim;Miktar;Parti;SKT\n" +
      `A;Nobivac;${category};flakon;10;L1;30.06.2027\nA;Nobivac;${category};flakon;4;L2;30.07.2027\n${rest}`;
    const first = await run(file("Aşı", "B;Gazlı bez;Bez;;5;;\n"));
    for (const { result } of [first.preview, first.done]) {
      expect(result?.counts).toEqual({ new: 2, changed: 0, unchanged: 0, refused: 1 });
    }
    expect(first.done.result?.lines.refused).toEqual([
      {
        ...{ line: 4, name: "Gazlı bez", changes: [] },
        faults: [{ field: "category", code: "unknown_category", value: "Bez" }],
      },
    ]);
    const list = async () => (await staff.call<ItemList>("GET", "/stock")).body.items;
    const [item] = await list();
    expect(item).toMatchObject({
      name: "Nobivac",
      sku: "A",
      category: "VACCINE",
      unit: "flakon",
      quantity_on_hand: 14,
    });
    const detail = await staff.call<ItemDetail>("GET", `/stock/${item?.fp}`);
    expect(detail.body.batches.map(({ lot, quantity, expiry_date }) => [lot, quantity, expiry_date])).toEqual([
      ["L1", 10, "2027-06-30"],
      ["L2", 4, "2027-07-30"],
    ]);
    const audit = query((db) => db.selectFrom("audit").select(["fp", "user_id"]).where("route", "=", "stock item add"));
    expect(await server.store.all(audit, {})).toEqual([{ fp: item?.fp, user_id: staff.id }]);

    const undone = await staff.call<UndoAnswer>("POST", `/imports/${first.done.id}/undo`, {});
    expect(undone.body.refusal).toBeNull();
    expect(await stored(server)).toBe(empty);

    const again = await run(file("Aşı", "D;Muayene;Hizmet;;;;\n"));
    const kept = (await list()).find(({ sku }) => sku === "A");
    // What happened and was undone is kept too, although the quantities are as they were.
    await staff.call("POST", `/stock/${kept?.fp}/consume`, { quantity: 1 });
    const [taken] = (await staff.call<MovementList>("GET", `/stock/${kept?.fp}/movements`)).body.items;
    await staff.call("POST", `/stock/${kept?.fp}/movements/${taken?.id}/undo`, {});
    const restored = await staff.call<UndoAnswer>("POST", `/imports/${again.done.id}/undo`, {});
    expect(restored.body.refusal).toEqual({ code: "changed", total: 1 });
    await staff.call("POST", `/stock/${kept?.fp}/consume`, { quantity: 3 });
    const used = await staff.call<UndoAnswer>("POST", `/imports/${again.done.id}/undo`, {});
    expect(used.body.refusal).toEqual({ code: "changed", total: 1 });
    const changed = await run(file("İlaç", "D;Muayene;Aşı;;;;\nD2;Muayene;Hizmet;;;;\n"));
    expect(changed.done.result).toMatchObject({
      counts: { new: 0, changed: 1, unchanged: 1, refused: 2 },
      lines: { changed: [{ line: 2, changes: ["category"] }] },
    });
    expect(changed.done.result?.lines.refused.flatMap(({ faults }) => faults.map(({ code }) => code))).toEqual([
      "service_or_stock",
      "name_taken",
    ]);
    const ofVaccine = async () => (await list()).filter(({ sku }) => sku === "A");
    expect(await ofVaccine()).toMatchObject([{ category: "MEDICATION", quantity_on_hand: 11 }]);
    await staff.call("POST", `/imports/${changed.done.id}/undo`, {});
    expect(await ofVaccine()).toMatchObject([{ category: "VACCINE", quantity_on_hand: 11 }]);
  },
  patiently(60_000),
);

const rename = query(
  (db) => db.updateTable("patient").set({ name: "Pamuk II" }),
  () => ({}),
);

test(
  "a server goes on with the import of one that was killed, and stores each line once",
  async () => {
    const { server, staff, ours } = await start();
    const lines = Array.from({ length: 450 }, (_, index) => `${index};Pamuk ${index};Kedi;;Ada ${index};`);
    const { id } = (await upload(server, staff, ours, HEAD + lines.join("\n"))).body;
    await staff.call("POST", `/imports/${id}/preview`, {});
    await phase(staff, "previewed");

    // The first server ends after some lines, as a killed one does: its lease stays.
    const { store, clock } = server;
    await store.transaction((session) => session.all(setRunning, {}));
    let commits = 0;
    const killed = {
      ...store,
      transaction: (async (work, options) => {
        commits += 1;
        if (commits > 3) throw new Error("killed");
        return store.transaction(work, options);
      }) as typeof store.transaction,
    };
    const logger = pino({ level: "silent" });
    await new ImportRunner({ store: killed, now: () => clock.now, logger }).check();
    expect(await last(staff)).toMatchObject({ phase: "running", done: 200 });

    const next = new ImportRunner({ store, now: () => clock.now, logger });
    await next.check();
    expect(await last(staff)).toMatchObject({ phase: "running", done: 200 });
    clock.now += 61_000;
    await next.check();
    expect(await last(staff)).toMatchObject({ phase: "done", done: 450, result: { counts: { new: 450, refused: 0 } } });
    const count = query((db) => db.selectFrom("patient").select(({ fn }) => fn.countAll<number>().as("count")));
    expect(await store.first(count, {})).toEqual({ count: 450 });
    const undone = await staff.call<UndoAnswer>("POST", `/imports/${id}/undo`, {});
    expect(undone.body.refusal).toBeNull();
  },
  patiently(90_000),
);

test(
  "an import that a killed server took while its clock was years ahead goes on after the clock was set right",
  async () => {
    const { server, staff, ours } = await start();
    const { store, clock } = server;
    const { id } = (await upload(server, staff, ours, `${HEAD}1;Pamuk;Kedi;;Ada;`)).body;
    await staff.call("POST", `/imports/${id}/preview`, {});
    await phase(staff, "previewed");
    await store.transaction((session) => session.all(setRunning, {}));
    const turn = { leaseMs: 60_000, lastClinicId: 0 };
    const ahead = clock.now + 3 * 365 * 86_400_000;
    expect(await claimImport(store, { now: ahead, ...turn })).toMatchObject({ publicId: id });
    // One of a clock that differs a little is under way.
    expect(await claimImport(store, { now: ahead - 60_000, ...turn })).toBeUndefined();
    await new ImportRunner({ store, now: () => clock.now, logger: pino({ level: "silent" }) }).check();
    expect(await last(staff)).toMatchObject({ phase: "done", result: { counts: { new: 1 } } });
  },
  patiently(30_000),
);

test(
  "a server that hung goes on with nothing that another one has done or undone meanwhile",
  async () => {
    const { server, staff, ours } = await start();
    const { store, clock } = server;
    const lines = Array.from({ length: 350 }, (_, index) => `${index};Pamuk ${index};Kedi;;Ada ${index};`);
    const { id } = (await upload(server, staff, ours, HEAD + lines.join("\n"))).body;
    await staff.call("POST", `/imports/${id}/preview`, {});
    await phase(staff, "previewed");
    await store.transaction((session) => session.all(setRunning, {}));
    const logger = pino({ level: "silent" });
    /** A server whose transactions from a number on wait for `release`, or end it. */
    const runner = (from: number, then: () => Promise<void>) => {
      let commits = 0;
      const transaction = (async (work, options) => {
        commits += 1;
        if (commits >= from) await then();
        return store.transaction(work, options);
      }) as typeof store.transaction;
      return new ImportRunner({ store: { ...store, transaction }, now: () => clock.now, logger });
    };
    const killed = async () => {
      throw new Error("killed");
    };
    const hang = () => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      return { release, work: runner(3, () => released).check() };
    };

    const first = hang();
    await expect.poll(async () => (await last(staff))?.done, { timeout: WAIT_MS }).toBe(100);
    clock.now += 61_000;
    await runner(4, killed).check();
    expect(await last(staff)).toMatchObject({ done: 300 });
    first.release();
    await first.work;
    expect(await last(staff)).toMatchObject({ phase: "running", done: 300, result: { counts: { new: 300 } } });

    clock.now += 61_000;
    const second = hang();
    await runner(99, killed).check();
    clock.now += 61_000;
    await runner(99, killed).check();
    second.release();
    await second.work;
    const done = await phase(staff, "done");
    expect(done.result?.counts).toEqual({ new: 350, changed: 0, unchanged: 0, refused: 0 });
    const batches = query((db) => db.selectFrom("batch").select("created"));
    expect(await store.all(batches, {})).toEqual([{ created: 350 }]);
  },
  patiently(90_000),
);

test(
  "a server that hung stores no line of an import that was undone",
  async () => {
    const { server, staff, ours } = await start();
    const { store, clock } = server;
    const empty = await stored(server);
    const { id } = (await upload(server, staff, ours, `${HEAD}1;Pamuk;Kedi;;Ada;\n`)).body;
    await staff.call("POST", `/imports/${id}/preview`, {});
    await phase(staff, "previewed");
    await store.transaction((session) => session.all(setRunning, {}));
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let commits = 0;
    const transaction = (async (work, options) => {
      commits += 1;
      if (commits === 2) await released;
      return store.transaction(work, options);
    }) as typeof store.transaction;
    const logger = pino({ level: "silent" });
    const work = new ImportRunner({ store: { ...store, transaction }, now: () => clock.now, logger }).check();
    await expect.poll(() => commits, { timeout: WAIT_MS }).toBe(2);
    clock.now += 61_000;
    await new ImportRunner({ store, now: () => clock.now, logger }).check();
    expect((await staff.call<UndoAnswer>("POST", `/imports/${id}/undo`, {})).body.refusal).toBeNull();
    release();
    await work;
    expect(await stored(server)).toBe(empty);
  },
  patiently(60_000),
);

const setRunning = query(
  (db) => db.updateTable("file_import").set({ phase: "running", done: 0, result: null, lease_until: 0 }),
  () => ({}),
);

test(
  "a reader and another clinic see nothing of a file, and a file that is no table has its reason",
  async () => {
    const { server, staff, ours, theirs } = await start();
    const reader = await makeUser(server, "reader", ours);
    const stranger = await makeUser(server, "admin", theirs);
    expect((await upload(server, reader, ours, FILE)).status).toBe(403);
    expect((await upload(server, stranger, ours, FILE)).status).toBe(404);
    const { id } = (await upload(server, staff, ours, FILE)).body;
    expect((await reader.call("GET", "/imports")).status).toBe(403);
    expect((await stranger.call("GET", `/imports/${id}/refused`)).status).toBe(404);
    expect((await stranger.call("POST", `/imports/${id}/preview`, {})).status).toBe(404);
    expect(await last(stranger)).toBeNull();

    const broken = await upload(server, staff, ours, `${HEAD}1;"Pamuk;Kedi;;Ada;\n`);
    expect(broken.body).toMatchObject({ reading: null, fault: { code: "quote_open", line: 2 }, phase: "read" });
    expect((await staff.call("POST", `/imports/${broken.body.id}/preview`, {})).status).toBe(409);
    expect((await staff.call("DELETE", `/imports/${id}`)).status).toBe(404);
    expect((await staff.call<LastImport>("DELETE", `/imports/${broken.body.id}`)).body).toEqual({ last: null });
    const left = query((db) => db.selectFrom("file_import_part").selectAll());
    expect(await server.store.all(left, {})).toEqual([]);
  },
  patiently(60_000),
);
