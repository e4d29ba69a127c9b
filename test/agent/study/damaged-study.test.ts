import path from "node:path";
import Database from "better-sqlite3";
import { beforeEach, expect, test } from "vitest";
import { recover } from "../../../agent/connection/recovery.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { genericHl7 } from "../../../agent/devices/generic-hl7.ts";
import { DAMAGED_STUDY, eventCheck } from "../../../agent/spool/queries/checks/row-checks.ts";
import { messageRow } from "../../../agent/spool/queries/messages/message-row.ts";
import { listOutbox } from "../../../agent/spool/queries/studies/outbox-list.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { FilingClinic, resultsOf } from "../../support/filing-clinic.ts";
import { noteFetched, useSpool } from "../../support/spool.ts";
import { patient } from "../../server/harness.ts";

// Goal: a row of the spool that the disk changed is never filed, stops no other, and can be made again from its messages.

const used = useSpool();
let clinic: FilingClinic;

beforeEach(async () => {
  await noteFetched(used.spool);
  clinic = new FilingClinic(used);
  clinic.devices.set("hema-1", { profile: genericHl7, timeZone: "UTC", model: null });
});

const single = (name: string, value: number, at: string, card = "4711") => [
  `MSH|^~\\&|LAB|V|||${at}||ORU^R01|${at}|P|2.3.1`,
  `PID|1||${card}`,
  `OBR|1|LAB-${card}||X|||${at}`,
  `OBX|1|NM|${name}||${value}|mg/dL|||||F|||${at}`,
];
const receive = (name: string, value: number, at: string, card?: string) =>
  clinic.receive("hema-1", single(name, value, at, card));
const states = () => clinic.listed().map(({ state, reason }) => [state, reason]);
const pushed = async () => (await clinic.push()).map((revision) => [revision.revision, ...resultsOf(revision)]);

function change(sql: string): void {
  const db = new Database(path.join(used.folder, "spool.db"));
  db.pragma("ignore_check_constraints = true");
  db.exec(sql);
  db.close();
}

test.each([
  "body = replace(body, '95', '35')",
  "body = substr(body, 2)",
  "snapshot = replace(snapshot, '95', '35')",
  "patient_fp = 'patient_01K9DEM0000000000000P00009'",
  "fp = 'cds_01K9DEM0000000000000P00009'",
  "revision = 65",
  "checksum = checksum + 1",
  "dedupe_key = 'other'",
])("a queued study with a changed %s is not sent, its message says so, and the next study is sent", async (changed) => {
  await receive("GLU", 95, "20261121100000");
  change(`UPDATE study SET ${changed}`);
  await receive("GLU", 80, "20261121100000", "4712");
  expect(readSpool(used.folder, (db) => listOutbox(db, 10)).depth).toBe(2);
  expect(await pushed()).toEqual([[1, "GLU 80 mg/dL no flag catalogue"]]);
  expect(states()).toEqual([
    ["quarantined", expect.stringContaining(DAMAGED_STUDY)],
    ["unmatched", expect.any(String)],
  ]);
  expect(await pushed()).toEqual([]);
});

test("a study in the queue whose state is changed is sent", async () => {
  await receive("GLU", 95, "20261121100000");
  const db = new Database(path.join(used.folder, "spool.db"));
  const root = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'study_queued'").pluck().get() as string;
  // The row changes and its index does not, as on a damaged disk.
  db.unsafeMode(true);
  db.pragma("writable_schema = ON");
  db.exec("UPDATE sqlite_schema SET sql = replace(sql, '''queued''', '''qudued''') WHERE name = 'study_queued'");
  db.close();
  const other = new Database(path.join(used.folder, "spool.db"));
  other.exec("UPDATE study SET state = 'quexed'");
  other.unsafeMode(true);
  other.pragma("writable_schema = ON");
  other.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'study_queued'").run(root);
  other.close();
  expect(await pushed()).toEqual([[1, "GLU 95 mg/dL no flag catalogue"]]);
});

test("a damaged study of two messages is not replaced by one of them, and reprocessing makes it again from both", async () => {
  await receive("GLU", 95, "20261121100000");
  await receive("CREA", 1.1, "20261121101000");
  expect((await pushed()).at(-1)).toEqual([2, "GLU 95 mg/dL no flag catalogue", "CREA 1.1 mg/dL no flag catalogue"]);
  change("UPDATE study SET body = replace(body, '95', '35') WHERE revision = 2");
  await receive("BUN", 7, "20261121102000");
  expect(await pushed()).toEqual([[1, "BUN 7 mg/dL no flag catalogue"]]);
  await receive("GLU", 96, "20261121100000");
  expect(states().at(-1)).toEqual(["quarantined", expect.stringContaining(DAMAGED_STUDY)]);
  await clinic.reprocess();
  const whole = (await clinic.push()).at(-1)!;
  expect(whole.revision).toBe(4);
  expect(resultsOf(whole).toSorted()).toEqual(["CREA 1.1 mg/dL no flag catalogue", "GLU 96 mg/dL no flag catalogue"]);
});

test("a damaged study stays as it is while a message of it is damaged too", async () => {
  await receive("GLU", 95, "20261121100000");
  await receive("CREA", 1.1, "20261121101000");
  change("UPDATE study SET body = replace(body, '95', '35')");
  change("UPDATE message SET bytes = CAST(replace(bytes, '95', '35') AS BLOB) WHERE id = 'M0'");
  await clinic.push();
  await clinic.reprocess();
  expect(await pushed()).toEqual([]);
  expect(states().map(([state]) => state)).toEqual(["quarantined", "quarantined"]);
});

test("a damaged chunk of a session without end is a quarantined message, and hides no message behind it", async () => {
  const [first, second, third] = [1, 2, 3].map((number) =>
    single("GLU", 90 + number, "20261121100000", `471${number}`),
  );
  const stored = { device: "hema-1", profile: "generic-hl7", receivedAt: 1, incomplete: null, session: 1 };
  for (const [ordinal, lines] of [first!, second!].entries()) {
    const message = { ...stored, id: `M${ordinal}`, ordinal, bytes: Buffer.from(`${lines.join("\r")}\r`) };
    await used.spool.call("addMessages", [messageRow(message, `${ordinal}`)]);
  }
  const db = new Database(path.join(used.folder, "spool.db"));
  db.exec(
    "INSERT INTO session (id, device, profile, first_event, opened_at) VALUES (1, 'hema-1', 'generic-hl7', 1, 1)",
  );
  const insert = db.prepare(
    "INSERT INTO event (id, session, kind, at, bytes, checksum) VALUES (?, 1, 'chunk', 1, ?, ?)",
  );
  for (const [index, lines] of [first!, second!, third!].entries()) {
    const event = {
      id: index + 1,
      session: 1,
      kind: "chunk",
      at: 1,
      bytes: Buffer.from(`\v${lines.join("\r")}\r\x1c\r`),
    };
    insert.run(event.id, event.bytes, eventCheck.of(event) + (index === 0 ? 1 : 0));
  }
  db.close();
  await recover(used.spool, profileById);
  await recover(used.spool, profileById);
  await clinic.filing.acceptStored();
  await clinic.filing.idle();
  expect(states().filter(([state]) => state === "quarantined")).toEqual([
    ["quarantined", expect.stringContaining("its stored bytes are damaged")],
  ]);
  expect((await pushed()).map(([, result]) => result).toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual(
    [91, 92, 93].map((value) => `GLU ${value} mg/dL no flag catalogue`),
  );
});

test("a resend of a damaged message is stored as a message of its own", async () => {
  const content = { device: "hema-1", profile: "generic-hl7", receivedAt: 1, incomplete: null, session: 1 };
  const row = (id: string, ordinal: number) =>
    messageRow({ ...content, id, ordinal, bytes: Buffer.from("MSH|GLU 95") }, "key");
  expect(await used.spool.call("addMessages", [row("A", 0), row("B", 1)])).toEqual(["A", "A"]);
  change("UPDATE message SET bytes = CAST(replace(bytes, '95', '35') AS BLOB)");
  expect(await used.spool.call("addMessages", [row("C", 2), row("D", 3)])).toEqual(["C", "C"]);
});

test.each([
  "patient SET body = replace(body, 'dog', 'cat')",
  "identifier SET identifier = '4712'",
  "identifier SET patient_fp = (SELECT MAX(fp) FROM patient)",
  "test_order SET accession = '4712'",
  "test_order SET patient_fp = (SELECT MAX(fp) FROM patient)",
])("a damaged row names no patient, and the patients are fetched again (%s)", async (changed) => {
  const [dog, cat] = [patient({ species: "dog" }), patient({ species: "dog" })].toSorted((a, b) =>
    a.fp < b.fp ? -1 : 1,
  );
  await clinic.know(dog!, "4711");
  await clinic.know(cat!);
  await clinic.order({ accession: "A1", device: "hema-1", patientFp: dog!.fp, tests: [] });
  const asked = { accessions: ["A1", "4712"], fps: [], identifiers: ["4711", "4712"] };
  const named = async () => {
    const { orders, patients } = await used.spool.call("resolveReferences", asked);
    return [
      ...orders.map(({ patientFp }) => patientFp),
      ...patients.map((body) => (JSON.parse(body) as { fp: string }).fp),
    ];
  };
  expect(new Set(await named())).toEqual(new Set([dog!.fp]));
  change(`UPDATE ${changed}${changed.startsWith("patient") ? ` WHERE fp = '${dog!.fp}'` : ""}`);
  expect(await named()).not.toContain(cat!.fp);
  const isPatient = !changed.startsWith("test_order");
  expect(await used.spool.call("removeDamagedPatients")).toBe(isPatient ? 1 : 0);
  expect((await used.spool.call("getMeta", "directory")) === null).toBe(isPatient);
});

test("a changed value of the agent's own is null, as if it had never been stored", async () => {
  await used.spool.call("setMeta", "ranges", '{"version":"1"}');
  change(`UPDATE meta SET value = '{"version":"3"}' WHERE key = 'ranges'`);
  expect(await used.spool.call("getMeta", "ranges")).toBeNull();
});
