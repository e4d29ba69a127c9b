import { readFileSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { EventStore } from "../../../agent/spool/thread/event-store.ts";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "../../../agent/spool/queries/events/event-log.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { type Operations, operationsOn } from "../../../agent/spool/queries/operations.ts";
import { readStatus } from "../../../agent/spool/queries/status.ts";
import { listOutbox } from "../../../agent/spool/queries/studies/outbox-list.ts";
import type { StudyDraft } from "../../../agent/spool/queries/studies/revisions.ts";
import { listSeenCodes } from "../../../agent/spool/queries/studies/seen-codes.ts";
import { Reserve } from "../../../agent/spool/thread/reserve.ts";
import { Room } from "../../../agent/spool/thread/room.ts";
import { migrate } from "../../../agent/spool/thread/schema.ts";
import { EventPacker } from "../../../agent/spool/thread/wire-format.ts";
import { lockFolder } from "../../../shared/files/folder-lock.ts";
import { serverOutcome, settlement } from "../spool-operations.ts";
import { studyDraft } from "../clinic/study.ts";

// The spool of a release: rows of every table that the operations of the agent write, and what its queries read from them.
// Every value is invented and fixed, so that each run writes the same bytes.

const AT = Date.parse("2026-11-20T08:00:00Z");
const [DOG, CAT] = ["patient_01K9TEST000000000000000001", "patient_01K9TEST000000000000000002"];
const FIXTURES = path.resolve(import.meta.dirname, "../../../fixtures");
const [XRAY, SYNTAX] = ["1.2.840.10008.5.1.4.1.1.1", "1.2.840.10008.1.2.1"];

const messageId = (number: number) => `01KAVRE1EASE00000000000${String(number).padStart(3, "0")}`;
const studyFp = (number: number) => `cds_01KAVRE1EASE0000000000${String(number).padStart(4, "0")}`;

/** The devices, one for each protocol, with the file of a message in the wire's own bytes. */
const LINES = [
  { device: "chem-1", profile: "abaxis-vetscan-vs2", file: "abaxis-vetscan-vs2/dog.astm" },
  { device: "hl7-1", profile: "generic-hl7", file: "generic-hl7/oru-r01.hl7" },
  { device: "poc-1", profile: "generic-poct1a", file: "generic-poct1a/dog.poct1" },
  { device: "text-1", profile: "arkray-pu4010", file: "arkray-pu4010/strip.astm" },
] as const;

/** The outcomes of each line's messages, in order. */
const OUTCOMES = ["filed", "pending", "unmatched", "not-for-patients", "quarantined", "unprocessed"] as const;

/** Writes the spool of a release into an empty folder. */
export function writeReleaseSpool(folder: string): void {
  const db = new Database(path.join(folder, "spool.db"));
  try {
    migrate(db);
    const operations = operationsOn(db);
    db.transaction(() => {
      addEvents(db, folder);
      addDirectory(operations);
      for (const [index, line] of LINES.entries()) addMessages(operations, line, index);
      addRevision(operations);
      addRegistryChanges(operations);
      addImages(operations);
      addDevices(operations);
      addMeta(operations);
    })();
  } finally {
    db.close();
  }
}

/** Session n of each line: session 1 to 4 are finished, 5 has events that no link has read to the end. */
function addEvents(db: Database.Database, folder: string): void {
  const events = new EventStore(db, new Room(db, 1e9), new Reserve(folder));
  const opened = LINES.map(({ device, profile }, index) => ({ id: index + 1, device, profile, firstEvent: index + 1 }));
  const packer = new EventPacker(1);
  for (const [index, { file }] of LINES.entries()) {
    packer.add(index + 1, "chunk", AT + index, readFileSync(path.join(FIXTURES, file)));
  }
  for (const kind of ["chunk", "send", "timeout", "gap"] as const) {
    packer.add(5, kind, AT + 10, kind === "chunk" || kind === "send" ? Buffer.from("\x05") : null);
  }
  const unfinished = { id: 5, device: "chem-1", profile: "abaxis-vetscan-vs2", firstEvent: 5 };
  const batch = {
    opened: [...opened, unfinished].map((session) => ({ ...session, at: AT })),
    events: packer.pack(),
    ...{ durable: true, messages: [], calls: [] },
  };
  events.open([batch]);
  events.committed(events.store([batch]));
  const operations = operationsOn(db);
  operations.noteNoise("chem-1", { session: 5, firstEvent: 7, lastEvent: 8, bytes: 4100 });
  operations.finishSessions([1, 2, 3, 4], AT + 20);
}

function addDirectory(operations: Operations): void {
  const patients = [
    { fp: DOG, name: "Zeytin", species: "dog" },
    { fp: CAT, name: "Lokum", species: "cat" },
  ].map((patient) => ({ fp: patient.fp, body: JSON.stringify(patient) }));
  operations.upsertPatients(patients, AT);
  operations.setIdentifiers(
    [
      { patientFp: DOG, identifiers: ["4711", "276001"] },
      { patientFp: CAT, identifiers: ["4712"] },
    ],
    AT,
  );
  const cursor = { at: AT, seenAt: AT };
  const progress = { patients: cursor, removed: cursor, fullSyncAt: AT, syncedAt: AT };
  operations.endFullSync(AT, JSON.stringify(progress), true);
  operations.setAppointments([{ fp: "calevt_01K9TEST000000000000000001", patientFp: DOG, startAt: AT + 3_600_000 }]);
  const order = { device: "chem-1", patientFp: DOG, tests: ["ALT", "GLU"], createdAt: AT };
  for (const state of ["placed", "sent", "resulted"] as const) {
    operations.placeOrder({ accession: `V${state.toUpperCase()}`, ...order, state });
  }
  operations.scheduledSteps({ device: "dx-1", from: AT, to: AT + 86_400_000, openFrom: AT - 86_400_000, now: AT });
}

/** Adds a message for each outcome. The first one has its bytes in the event log. */
function addMessages(operations: Operations, line: (typeof LINES)[number], index: number): void {
  const { device, profile, file } = line;
  const bytes = readFileSync(path.join(FIXTURES, file));
  const range = { firstEvent: index + 1, lastEvent: index + 1, start: 0, length: bytes.length };
  for (const [ordinal, outcome] of OUTCOMES.entries()) {
    const number = index * 10 + ordinal;
    const [id, at] = [messageId(number), AT + number];
    const message = { id, session: index + 1, ordinal, device, profile, receivedAt: at, incomplete: null };
    operations.addMessage({ ...message, bytes, range: ordinal === 0 ? range : null }, `${device} ${ordinal}`);
    const draft = draftOf(number, device, outcome === "unmatched" ? null : DOG);
    if (outcome === "filed") {
      operations.settle(settlement(id, { studies: [draft], at }));
      operations.takeQueued(10, 1_000_000, at);
      operations.settleStudies([serverOutcome(studyFp(number), "filed")], at);
    } else if (outcome === "pending") {
      operations.settle(settlement(id, { studies: [draft], at }));
    } else if (outcome === "unmatched") {
      const waiting = { keys: ["4799"], version: 1 };
      operations.settle(
        settlement(id, { state: "unmatched", reason: "no patient has 4799", waiting, studies: [draft], at }),
      );
      operations.takeQueued(10, 1_000_000, at);
      operations.settleStudies([{ ...serverOutcome(studyFp(number), "unmatched"), matched: false }], at);
    } else if (outcome === "not-for-patients") {
      operations.settle(settlement(id, { state: "not-for-patients", reason: "quality control", at }));
    } else if (outcome === "quarantined") {
      operations.settle(settlement(id, { state: "quarantined", reason: "no L record", at }));
    }
  }
  const cut = { id: messageId(index * 10 + 8), session: index + 1, ordinal: 8, device, profile, receivedAt: AT + 200 };
  operations.addMessage({ ...cut, bytes: bytes.subarray(0, 20), incomplete: "the line fell silent" });
  operations.settle(settlement(cut.id, { state: "quarantined", reason: "incomplete", at: AT + 201 }));
}

function draftOf(number: number, device: string, patient: string | undefined | null): StudyDraft {
  const unknown = {
    analyte: "XYZ",
    value: 1,
    unit: null,
    reference_range: null,
    flag: null,
    code_source: "device" as const,
  };
  const draft = studyDraft({
    patient_fp: patient ?? null,
    dedupe_key: `${device}:${number}`,
    source: { device_id: device, message_id: messageId(number) },
  });
  const results = [...draft.body.results, unknown];
  return { ...draft, freshFp: studyFp(number), body: { ...draft.body, results } };
}

/** A corrected result of the first study, which the server refused, and a conflict. */
function addRevision(operations: Operations): void {
  const id = messageId(90);
  const message = { id, session: 1, ordinal: 90, device: "chem-1", profile: "abaxis-vetscan-vs2", receivedAt: AT + 90 };
  operations.addMessage({ ...message, bytes: Buffer.from("H|\\^&\rL|1|N\r"), incomplete: null });
  const draft = draftOf(0, "chem-1", DOG);
  const results = draft.body.results.map((row) => (row.analyte === "ALT" ? { ...row, value: 61 } : row));
  operations.settle(settlement(id, { studies: [{ ...draft, body: { ...draft.body, results } }], at: AT + 91 }));
  const answer = { fp: studyFp(0), revision: 2, outcome: "conflict", reason: "another body", matched: true } as const;
  operations.settleStudies([answer], AT + 92);
}

/** Messages of practice software: one that waits for the server, one that it has, one that it refused. */
function addRegistryChanges(operations: Operations): void {
  for (const [index, name] of ["Pamuk", "Boncuk", "Duman"].entries()) {
    const id = messageId(95 + index);
    const message = { id, session: 1, ordinal: 95 + index, device: "pims", profile: "practice-system" };
    operations.addMessage({ ...message, receivedAt: AT + 95, bytes: Buffer.from("MSH|"), incomplete: null });
    const body = JSON.stringify({ item: { external_id: String(index), name, species: "cat" } });
    const changes = [{ source: "PIMS", kind: "patient", body }];
    operations.settle({ ...settlement(id, { at: AT + 96 }), changes });
  }
  const [, done, refused] = operations.queuedChanges("PIMS", 10, 1_000_000).batch;
  const stored = { state: "done", reason: null, code: null } as const;
  const unknown = { state: "refused", reason: "species is missing", code: "REGISTRY.MISSING" } as const;
  operations.settleChanges(
    [
      { id: done!.id, ...stored },
      { id: refused!.id, ...unknown },
    ],
    AT + 97,
  );
}

function addImages(operations: Operations): void {
  operations.setDestinations(["pacs", "cloud"]);
  for (const number of [1, 2, 3]) {
    const id = messageId(100 + number);
    operations.addInstance({
      ...{ message: id, device: "dx-1", receivedAt: AT + number, quietMs: 30_000, head: Buffer.from("DICM") },
      ...{ study: number === 3 ? "1.2.4" : "1.2.3", sopClass: XRAY, sopInstance: `1.2.3.${number}` },
      ...{
        transferSyntax: SYNTAX,
        callingAe: "DX1",
        sha256: `${number}b`.repeat(32),
        fileBytes: 5000,
        headerBytes: 300,
      },
    });
    operations.noteHeader(id, JSON.stringify({ study: "1.2.3", number }));
    operations.settleForward("pacs", id, number === 1 ? "sent" : "refused", number === 1 ? null : "refused", AT + 50);
  }
  operations.delayForward("cloud", messageId(101), { reason: "the archive does not answer" });
  const draft = draftOf(101, "dx-1", DOG);
  operations.settle(settlement(messageId(101), { studies: [draft], at: AT + 60 }));
  operations.takeQueued(10, 1_000_000, AT + 60);
  operations.settleStudies([serverOutcome(studyFp(101), "filed")], AT + 61);
  operations.endImageStudy("1.2.4", AT + 30_003);
  const references = [{ sopClass: XRAY, sopInstance: "1.2.3.1" }];
  for (const transaction of ["2.25.1", "2.25.2"]) {
    operations.addCommitment({ transaction, device: "dx-1", callingAe: "DX1", references, at: AT });
  }
  operations.endCommitment(1, "reported", AT + 70);
  operations.markCommitted(["1.2.3.1"]);
  const step = { device: "dx-1", state: "IN PROGRESS", attributes: { Modality: ["DX"] }, at: AT } as const;
  for (const sopInstance of ["1.2.5", "1.2.6"]) operations.createStep({ ...step, sopInstance });
  operations.updateStep({ ...step, sopInstance: "1.2.6", state: "COMPLETED", at: AT + 1 });
}

function addDevices(operations: Operations): void {
  const counters = { bytes: 40, messages: 2, warnings: 1, noiseBytes: 5 };
  for (const { device: id, profile } of [...LINES, { device: "dx-1", profile: "dicom" }]) {
    operations.setDevice({
      ...{ id, profile, connected: true, is: "connected", reason: null, mayBeOff: false, since: AT },
      ...{ lastMessageAt: AT, lastBytesAt: AT, lastWarning: { at: AT, reason: "checksum 7B, computed 7C" }, counters },
    });
  }
  const report = (topic: "status" | "event" | "operators", content: object) =>
    operations.storeDeviceReport("poc-1", { device: "ISTAT 1", topic, content: JSON.stringify(content) }, AT);
  report("status", { lock: "unlocked" });
  report("event", { note: "battery low" });
  report("operators", { operators: ["A1"] });
  operations.placeDeviceCommand({ device: "poc-1", command: "LOCK", at: AT, state: "waiting", reason: null });
}

/** The heartbeat's responses: state of the server, clock, and the configuration that the dashboard sent. */
function addMeta(operations: Operations): void {
  operations.setMeta("server", JSON.stringify({ is: "reached", reason: null, since: AT }));
  operations.setMeta("clock", "3");
  operations.setMeta("configuration", JSON.stringify({ version: 7, problems: [] }));
  operations.setMeta("codes", JSON.stringify([{ device_id: "chem-1", code: "XYZ", analyte: "ALT" }]));
  operations.setMeta("ranges", JSON.stringify({ version: "1", low_quality: false, rows: [] }));
}

/** Reads a spool with the queries of the agent. @returns plain JSON */
export function readReleaseSpool(folder: string): unknown {
  // `status` shows the state of devices only while an agent runs.
  const unlock = lockFolder(folder, "the spool of a release is in use");
  const db = new Database(path.join(folder, "spool.db"));
  try {
    const read = db.transaction(() => ({
      messages: listMessages(db),
      ...readMessages(db),
      status: { ...readStatus(db, folder), running: null },
      outbox: listOutbox(db, 100),
      codes: listSeenCodes(db),
      ...readQueues(operationsOn(db)),
    }));
    return JSON.parse(JSON.stringify(read(), asText)) as unknown;
  } finally {
    db.close();
    unlock();
  }
}

function readMessages(db: Database.Database): object {
  const reader = messageReader(db);
  const rows = db.prepare(`SELECT id, ${BYTES_COLUMNS} FROM message ORDER BY id`).all();
  const operations = operationsOn(db);
  const messages = rows.map((row) => reader<{ id: string }>(row as StoredMessageRow<{ id: string }>));
  const [numbers] = [[0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]];
  return {
    bytes: messages,
    studies: numbers.map((number) => operations.latestStudy(`${LINES[Math.floor(number / 10)]?.device}:${number}`)),
    sessions: operations.unfinishedSessions(),
    ids: operations.nextIds(),
  };
}

function readQueues(operations: Operations): object {
  const devices = [...LINES.map(({ device }) => device), "dx-1"];
  const day = { from: AT, to: AT + 86_400_000 };
  return {
    backlog: [...operations.backlog()],
    incomplete: devices.map((device) => operations.incompleteMessages(device, "none", 100)),
    counts: operations.countMessagesSince(0),
    queued: operations.outbox(),
    directory: operations.resolveReferences({
      ...{ accessions: ["VPLACED", "VSENT", "VRESULTED"], fps: [CAT], identifiers: ["4711", "276001"] },
    }),
    appointed: operations.appointedFps(day.from, day.to),
    orders: operations.openOrders({ device: "chem-1", patientFp: null, from: 0, to: AT * 2 }),
    images: ["1.2.3", "1.2.4"].map((study) => operations.instancesOf(study)),
    files: [1, 2, 3].map((number) => operations.instanceFiles(`1.2.3.${number}`)),
    imageStudy: operations.nextImageStudy(AT, []),
    forwards: operations.countForwards(),
    forwardsQueued: ["pacs", "cloud"].map((id) => operations.queuedForwards(id, 10)),
    candidates: operations.retentionCandidates({ storedAt: 0, message: "" }, AT * 2, 10),
    preview: operations.nextPreview(),
    commitments: operations.dueCommitments("dx-1", AT + 100_000, 3_600_000),
    reports: (["status", "event", "operators"] as const).map((topic) => operations.deviceReports(topic)),
    command: operations.deviceCommandOf("poc-1"),
    meta: ["directory", "server", "clock", "configuration", "codes", "ranges"].map((key) => operations.getMeta(key)),
  };
}

/** Writes bytes as text of one character a byte. */
function asText(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  const isBuffer = typeof value === "object" && value !== null && "type" in value && value.type === "Buffer";
  return isBuffer && "data" in value ? Buffer.from(value.data as number[]).toString("latin1") : value;
}
