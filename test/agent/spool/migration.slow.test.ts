import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { readSpool, writeSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { messageRow } from "../../../agent/spool/queries/messages/message-row.ts";
import { readStatus } from "../../../agent/spool/queries/status.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { serverOutcome, settlement } from "../../support/spool-operations.ts";
import { temporaryFolder } from "../../support/processes.ts";
import { studyDraft } from "../../support/study.ts";

// Goal: an update of the agent loses nothing that the version before stored. Method: the spool of schema-16.sql is opened,
// every table is read through the operations, and pending work continues.

const AT = Date.parse("2026-11-20T08:00:00Z");
const DOG = "patient_01K9TEST000000000000000001";
const CAT = "patient_01K9TEST000000000000000002";
const HL7 = "MSH|^~\\&|Tester|||||ORU^R01|1|P|2.5\rOBX|1|NM|GLU||5.5|mmol/L\r";
const [M1, M2, M3, M4, M5, M6, M7] = Array.from({ length: 7 }, (_, index) => `01KAFMIGRATED000000000000${index + 1}`);

const text = (bytes: Uint8Array | null) => Buffer.from(bytes ?? []).toString("latin1");
const study = (number: number) => `cds_01K9TEST00000000000000000${number}`;

/** Returns a data folder with the spool that the agent of schema 16 wrote. */
function folderOfSchema16(): string {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const db = new Database(path.join(folder, "spool.db"));
  db.exec(fs.readFileSync(path.join(import.meta.dirname, "schema-16.sql"), "utf8"));
  db.close();
  return folder;
}

async function openMigrated(): Promise<{ folder: string; spool: Spool }> {
  const folder = folderOfSchema16();
  const spool = await Spool.open(folder);
  onTestFinished(() => spool.close());
  return { folder, spool };
}

test("a second opening migrates nothing", async () => {
  const folder = folderOfSchema16();
  const versions = () => {
    const db = new Database(path.join(folder, "spool.db"), { readonly: true });
    const pragmas = ["user_version", "schema_version"].map((name) => Number(db.pragma(name, { simple: true })));
    db.close();
    return pragmas;
  };
  const [, before] = versions();
  await (await Spool.open(folder)).close();
  const migrated = versions();
  expect(migrated[1]).toBeGreaterThan(before!);
  await (await Spool.open(folder)).close();
  expect(versions()).toEqual(migrated);
});

test("a command refuses a spool of another version until the agent has migrated it", async () => {
  const folder = folderOfSchema16();
  expect(() => readSpool(folder, listMessages)).toThrow(/schema of another version: start this version's agent first/);
  expect(() => writeSpool(folder, (spool) => spool.getMeta("clock"))).toThrow(/schema of another version/);
  await (await Spool.open(folder)).close();
  expect(readSpool(folder, listMessages)).toHaveLength(7);
});

test("sessions, events and messages read back, and an unprocessed message is filed", async () => {
  const { folder, spool } = await openMigrated();
  const sessions = await spool.call("unfinishedSessions");
  expect(sessions.map(({ id, device, profile }) => [id, device, profile])).toEqual([
    [2, "hl7-1", "generic-hl7"],
    [3, "chem-1", "generic-astm"],
  ]);
  expect(sessions.flatMap(({ events }) => events.map(({ id, kind }) => [id, kind]))).toEqual([
    [3, "chunk"],
    [4, "chunk"],
    [5, "chunk"],
    [6, "chunk"],
  ]);
  expect(sessions[0]!.events.map(({ bytes }) => text(bytes)).join("")).toBe(`\x0b${HL7}\x1c\r`);
  expect(await spool.call("nextIds")).toEqual({ session: 4, event: 7 });

  expect([...(await spool.call("backlog"))]).toEqual([
    ["chem-1", [2]],
    ["hl7-1", [5]],
    ["dx-1", [6]],
  ]);
  const [unprocessed] = await spool.call("unprocessedMessages", "hl7-1", [5]);
  expect({ ...unprocessed, bytes: text(unprocessed!.bytes) }).toMatchObject({
    id: M5,
    device: "hl7-1",
    profile: "generic-hl7",
    receivedAt: AT + 4,
    bytes: HL7,
    incomplete: null,
  });
  expect(await spool.call("devicesWithIncompleteMessages")).toEqual(["chem-1"]);
  const incomplete = await spool.call("incompleteMessages", "chem-1", M1!, 100);
  expect(incomplete.map((message) => [message.id, message.incomplete, text(message.bytes)])).toEqual([
    [M3, "the line fell silent", "H|\\^&\rP|1\r"],
    [M2, "no L record", "H|\\^&\r"],
  ]);
  expect(readSpool(folder, listMessages).map(({ id, state, reason }) => [id, state, reason])).toEqual([
    [M1, "filed", null],
    [M2, "filed", `incomplete, completed by ${M1}`],
    [M3, "pending", null],
    [M4, "unmatched", "no patient has this identifier"],
    [M5, "pending", null],
    [M6, "pending", null],
    [M7, "quarantined", "no modality"],
  ]);

  const resend = { id: "01KNEW", session: 4, ordinal: 0, device: "hl7-1", profile: "generic-hl7", receivedAt: AT };
  const row = messageRow({ ...resend, bytes: Buffer.from(HL7), incomplete: null }, "Tester 1");
  expect(await spool.saveMessage(() => row)).toBe(M5);
  const [fp] = await spool.call("settle", settlement(M5!, { studies: [studyDraft({ dedupe_key: "hl7-1:1" })] }));
  await spool.call("settleStudies", [serverOutcome(fp!, "filed")], AT);
  expect(readSpool(folder, listMessages).find(({ id }) => id === M5)!.state).toBe("filed");
});

test("studies read back, and the queued one is sent again", async () => {
  const { folder, spool } = await openMigrated();
  expect(await spool.call("latestStudy", "chem-1:01")).toMatchObject({
    body: { patient_fp: DOG, dedupe_key: "chem-1:01", source: { message_id: M1 }, results: [{ value: 50 }] },
    isUnmatched: false,
  });
  expect(await spool.call("latestStudy", "chem-1:02")).toMatchObject({ body: { patient_fp: null }, isUnmatched: true });
  expect(await spool.call("outbox")).toEqual({ depth: 1, oldestAt: AT + 100, reason: null });
  const { batch } = await spool.call("takeQueued", 10, 1_000_000, AT + 900);
  expect(batch.map(({ fp, revision, patientFp }) => [fp, revision, patientFp])).toEqual([[study(3), 1, DOG]]);
  expect(
    readSpool(folder, (db) => db.prepare("SELECT send_attempts, last_sent_at FROM study ORDER BY fp").raw().all()),
  ).toEqual([
    [2, AT + 300],
    [1, AT + 500],
    [2, AT + 900],
  ]);
  await spool.call("settleStudies", [serverOutcome(study(3), "filed")], AT + 901);
  expect(readSpool(folder, listMessages).find(({ id }) => id === M3)!.state).toBe("filed");
});

test("the directory reads back, the next full sync continues, and an unmatched message finds its patient", async () => {
  const { spool } = await openMigrated();
  const { orders, patients, version } = await spool.call("resolveReferences", {
    accessions: ["VABC123"],
    fps: [],
    identifiers: ["276001"],
  });
  const order = { accession: "VABC123", device: "chem-1", patientFp: DOG, tests: ["ALT", "GLU"], createdAt: AT };
  expect(orders).toEqual([{ ...order, state: "placed" }]);
  expect(patients.map((body) => (JSON.parse(body) as { name: string }).name)).toEqual(["Rex", "Mia"]);
  expect(version).toBe(5);
  expect(JSON.parse((await spool.call("getMeta", "directory"))!)).toMatchObject({ syncedAt: AT, fullSyncAt: AT });
  expect(await spool.call("appointedFps", AT, AT + 86_400_000)).toEqual([DOG]);

  const body = (await spool.call("patientByFp", DOG))!;
  expect(await spool.call("upsertPatients", [{ fp: DOG, body }], AT + 1)).toBe(0);
  await spool.call("setIdentifiers", [{ patientFp: DOG, identifiers: ["4711", "4712"] }], AT + 1);
  await spool.call("endFullSync", AT + 1, "{}", false);
  expect(await spool.call("patientByFp", DOG)).toBe(body);
  expect(await spool.call("patientByFp", CAT)).toBeNull();
  expect((await spool.call("dueMessages", ["chem-1"], 10)).map(({ id }) => id)).toEqual([M4]);
});

test("devices, their reports, commands and noise read back", async () => {
  const { folder, spool } = await openMigrated();
  const status = readSpool(folder, (db) => readStatus(db, folder));
  expect(status.devices.map(({ id, connected, state }) => [id, connected, state])).toEqual(
    ["chem-1", "dx-1", "hl7-1", "poc-1"].map((id) => [id, true, "connected"]),
  );
  expect(status.devices[0]).toMatchObject({
    last_warning: { at: new Date(AT).toISOString(), reason: "checksum 7B, computed 7C" },
    counters: { bytes: 40, messages: 2, warnings: 1, noise_bytes: 5 },
  });
  expect(status.devices[3]!.instruments).toMatchObject([
    { name: "ISTAT 1", status: { lock: "unlocked" }, events: [{ note: "battery low" }] },
  ]);
  expect(status.server).toMatchObject({ state: "reached" });
  expect([status.clock, status.directory.fetched_at]).toEqual([{ offset_s: 3 }, new Date(AT).toISOString()]);
  expect(await spool.call("deviceCommandOf", "poc-1")).toEqual({
    device: "poc-1",
    command: "lock",
    at: AT,
    state: "waiting",
    reason: null,
  });
  expect(readSpool(folder, (db) => db.prepare("SELECT * FROM noise").all())).toEqual([
    { device: "chem-1", first_event: 6, last_event: 6, session: 3, bytes: 4101 },
  ]);
});

test("images read back, and queued forwards, commitments and procedure steps continue", async () => {
  const { spool } = await openMigrated();
  const file = { sopClass: "1.2.840.10008.5.1.4.1.1.1", sopInstance: "1.2.3.6", transferSyntax: "1.2.840.10008.1.2.1" };
  const held = { message: M6, ...file, sha256: "ab".repeat(32) };
  expect(await spool.call("instancesOf", "1.2.3")).toEqual([
    {
      ...held,
      device: "dx-1",
      receivedAt: AT + 6,
      state: "pending",
      headerBytes: 300,
      header: '{"study":"1.2.3"}',
      hasTwin: 0,
    },
  ]);
  const [instance] = await spool.call("instanceFiles", "1.2.3.6");
  expect({ ...instance, head: text(instance!.head) }).toEqual({ ...held, fileBytes: 5006, head: "DICM" });
  expect(await spool.call("nextImageStudy", AT, [])).toEqual({ studyUid: "1.2.3", dueAt: AT + 30_000 });
  expect(await spool.call("lastRemoved", 10)).toEqual([M7]);

  for (const archive of ["cloud", "pacs"]) {
    expect((await spool.call("queuedForwards", archive, 10)).map((queued) => queued.message)).toEqual([M6]);
    await spool.call("settleForward", archive, M6!, "sent", null, AT);
    expect(await spool.call("queuedForwards", archive, 10)).toEqual([]);
  }
  await spool.call("endImageStudy", "1.2.3", AT + 30_000);
  await spool.call("settle", settlement(M6!, { state: "not-for-patients" }));
  const [candidate] = await spool.call("retentionCandidates", { storedAt: 0, message: "" }, AT * 2, 10);
  expect(candidate).toEqual({ message: M6, storedAt: AT + 6, fileBytes: 5006, status: "forwarded" });

  expect(await spool.call("dueCommitments", "dx-1", AT + 5_000, 3_600_000)).toEqual([
    {
      id: 1,
      transaction: "2.25.1",
      device: "dx-1",
      callingAe: "DX1",
      at: AT,
      attempts: 1,
      references: [{ sopClass: file.sopClass, sopInstance: "1.2.3.6" }],
    },
  ]);
  const update = { sopInstance: "1.2.5", device: "dx-1", state: "COMPLETED", attributes: {}, at: AT } as const;
  expect(await spool.call("updateStep", update)).toEqual({ Modality: ["DX"] });
  expect(await spool.call("updateStep", update)).toBe("ended");
});
