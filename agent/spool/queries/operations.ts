import type Database from "better-sqlite3";
import type { Outcome } from "../../../shared/api/study.ts";
import type { DeviceReport } from "../../report/device-report.ts";
import type { DeviceState, Standing } from "../../states/device-state.ts";
import { directiveOperationsOn } from "./device-commands.ts";
import { imagingOperationsOn, type InstanceContent } from "./imaging.ts";
import { noiseOperationsOn } from "./noise.ts";
import { BYTES_COLUMNS, type EventKind, messageReader, type Place, type Unread } from "./event-log.ts";
import type { Collection } from "../../report/report.ts";
import { type HeldStudy, isWithdrawal, type StudyBody, succeed } from "../../report/revision.ts";
import { roomOperationsOn, ROW_BYTES, type SessionSizes } from "./room.ts";
import { type Waiting, waitingOn } from "./waiting.ts";

// What the spool can be asked, besides storing events. Each operation runs inside the group's transaction.

/** Where a message ended; pending: on its way. */
export const MESSAGE_STATES = ["pending", "filed", "unmatched", "not-for-patients", "quarantined"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export interface StoredMessage {
  readonly id: string;
  readonly device: string;
  readonly profile: string;
  readonly receivedAt: number;
  readonly bytes: Uint8Array;
  readonly incomplete: string | null;
}

export interface NewMessage extends StoredMessage {
  readonly session: number;
  readonly ordinal: number;
  /** Where its bytes stand in the record already, so that `bytes` is empty; absent or null: nowhere. */
  readonly place?: Place | null;
}

/**
 * The same as a row: arrays of words and numbers pass from thread to thread in a fraction of an object's time. `bytes` null: they
 * stand in the record.
 */
export type MessageRow = readonly [
  id: string,
  session: number,
  ordinal: number,
  device: string,
  profile: string,
  receivedAt: number,
  incomplete: string | null,
  fingerprint: string | null,
  bytes: Uint8Array | null,
  firstEvent: number | null,
  lastEvent: number | null,
  start: number | null,
  length: number | null,
];

/** `fingerprint`: the same for a message and for that message sent again; null: nothing tells. */
export function messageRow(message: NewMessage, fingerprint: string | null): MessageRow {
  const { id, session, ordinal, device, profile, receivedAt, incomplete, bytes, place } = message;
  const { firstEvent, lastEvent, start, length } = place ?? NO_PLACE;
  const own = firstEvent === null ? bytes : null;
  return [
    ...([id, session, ordinal, device, profile, receivedAt, incomplete, fingerprint] as const),
    ...([own, firstEvent, lastEvent, start, length] as const),
  ];
}

/** A study as stage 4 made it; the fp is used when its dedupe key is new. */
export interface StudyDraft extends StudyBody {
  readonly freshFp: string;
  /** What else may be the same study; absent or null: nothing. */
  readonly collect?: Collection | null;
}

export interface Settlement {
  readonly message: string;
  readonly state: Exclude<MessageState, "filed">;
  readonly reason: string | null;
  readonly studies: readonly StudyDraft[];
  /** Incomplete messages whose content this message holds. */
  readonly completes: readonly string[];
  /** Absent or null: no patient would match it. */
  readonly waiting?: Waiting | null;
  /** It is assessed again for its patient alone: what later messages said of its studies stands. */
  readonly rematch?: boolean;
  readonly at: number;
}

export interface QueuedStudy {
  readonly fp: string;
  readonly revision: number;
  readonly patientFp: string | null;
  readonly body: string;
  readonly snapshot: string;
}

export interface UnfinishedSession {
  readonly id: number;
  readonly device: string;
  readonly profile: string;
  readonly events: readonly {
    readonly id: number;
    readonly kind: EventKind;
    readonly at: number;
    readonly bytes: Uint8Array | null;
  }[];
}

export interface PatientRow {
  readonly fp: string;
  readonly body: string;
}

/** A patient who was deleted, or whose connection was closed, and when: milliseconds since 1970. */
export interface RemovedPatient {
  readonly fp: string;
  readonly at: number;
}

/** A DICOM instance, whose file is on the disk. */
export interface NewInstance {
  readonly message: string;
  readonly device: string;
  readonly receivedAt: number;
  /** Its study is whole when nothing came of it for so long. */
  readonly quietMs: number;
  /** What its file begins with, up to the dataset. */
  readonly head: Uint8Array;
  readonly study: string;
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly transferSyntax: string;
  readonly callingAe: string;
  /** Of the dataset. */
  readonly sha256: string;
  readonly fileBytes: number;
  /** Of the file, before the pixels. */
  readonly headerBytes: number;
}

/** A study of images, and when it is held to be whole. */
export interface DueStudy {
  readonly study: string;
  readonly dueAt: number;
}

export interface StoredInstance {
  readonly message: string;
  readonly device: string;
  readonly receivedAt: number;
  readonly state: MessageState;
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly transferSyntax: string;
  readonly sha256: string;
  readonly headerBytes: number;
  /** As noted by noteHeader(); null: not read yet. */
  readonly header: string | null;
  /** Not 0: there is an instance of the same name with other content. */
  readonly hasTwin: number;
}

/** placed: the device has not had it yet; sent: it has; resulted: a result came that carries its accession. */
export type OrderState = "placed" | "sent" | "resulted";

export interface TestOrder {
  readonly accession: string;
  readonly device: string;
  readonly patientFp: string;
  readonly tests: readonly string[];
  readonly createdAt: number;
  readonly state: OrderState;
}

/** What a message names its animal by. */
export interface Names {
  readonly accessions: readonly string[];
  readonly fps: readonly string[];
  readonly identifier: string | null;
}

/** Orders without a result that were placed within [from, to), milliseconds; `patientFp` null: everybody's. */
export interface OpenOrders {
  readonly device: string;
  readonly patientFp: string | null;
  readonly from: number;
  readonly to: number;
}

export interface AppointmentRow {
  readonly fp: string;
  readonly patientFp: string;
  readonly startAt: number;
}

export type Operations = ReturnType<typeof operationsOn>;

/** How many incomplete messages of a device are looked at when a complete one arrives. */
const INCOMPLETE_MAX = 20;
const STUDIES_KEPT_LONGER_MS = 365 * 24 * 60 * 60_000;
/** Orders and animals in a worklist; a device's memory for one is smaller. */
const WORKLIST_MAX = 200;
const ORDER_COLUMNS = "accession, device, patient_fp AS patientFp, tests, created_at AS createdAt, state";
/** Of messages that are files: no events made them, and their studies are made when they are whole. */
const NO_SESSION = 0;
const NO_PLACE = { firstEvent: null, lastEvent: null, start: null, length: null } as const;
const MESSAGE_COLUMNS = `id, device, profile, received_at AS receivedAt, incomplete, ${BYTES_COLUMNS}`;

/** The next id as the commit mark has it, for rows that are missing or were pruned. */
function marked(kind: "session" | "event"): string {
  return `COALESCE((SELECT json_extract(value, '$.next.${kind}') FROM meta WHERE key = 'mark'), 1)`;
}

/** `sizes`: the stored bytes of the sessions that this process opened. */
export function operationsOn(db: Database.Database, sizes: SessionSizes = new Map()) {
  const sql = {
    nextSession: db
      .prepare(
        `SELECT MAX((SELECT COALESCE(MAX(id), 0) FROM session) + 1, (SELECT COALESCE(MAX(session), 0) FROM message) + 1,
           ${marked("session")})`,
      )
      .pluck(),
    unfinished: db.prepare(
      "SELECT id, device, profile, first_event FROM session WHERE finished_at IS NULL ORDER BY id",
    ),
    nextEvent: db.prepare(`SELECT MAX(COALESCE(MAX(id), 0) + 1, ${marked("event")}) FROM event`).pluck(),
    eventsOf: db.prepare("SELECT id, kind, at, bytes FROM event WHERE id >= ? AND session = ? ORDER BY id"),
    insertMessage: db.prepare(
      `INSERT INTO message (id, session, ordinal, device, profile, received_at, incomplete, fingerprint, state,
         bytes, first_event, last_event, start, length)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', COALESCE(?, x''), ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    readAgain: db
      .prepare(
        `UPDATE message SET processed_at = NULL WHERE device = ? AND fingerprint = ? AND NOT EXISTS
           (SELECT 1 FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision > l.revision WHERE l.message = message.id)
         RETURNING id`,
      )
      .pluck(),
    backlog: db.prepare(
      "SELECT device, MAX(rowid) AS lastRow FROM message WHERE processed_at IS NULL GROUP BY device ORDER BY device",
    ),
    unprocessed: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE device = ? AND processed_at IS NULL AND rowid <= ?
         AND session <> ${NO_SESSION} ORDER BY rowid LIMIT ?`,
    ),
    due: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id IN (SELECT message FROM waiting WHERE due = 1)
         AND session <> ${NO_SESSION} AND device IN (SELECT value FROM json_each(?)) ORDER BY rowid LIMIT ?`,
    ),
    awaitDue: db.prepare(
      `INSERT INTO image_study (study, due_at) SELECT DISTINCT i.study, @at FROM instance i JOIN message m ON m.id = i.message
       WHERE i.message IN (SELECT message FROM waiting WHERE due = 1)
         AND m.device IN (SELECT value FROM json_each(@devices)) ON CONFLICT DO NOTHING`,
    ),
    cutShort: db.prepare("SELECT DISTINCT device FROM message WHERE incomplete IS NOT NULL").pluck(),
    incompletes: db.prepare(
      `SELECT ${MESSAGE_COLUMNS} FROM message WHERE id IN (
         SELECT * FROM (SELECT id FROM message WHERE device = ? AND incomplete IS NOT NULL AND completed_by IS NULL
           ORDER BY rowid DESC LIMIT ${INCOMPLETE_MAX})
         UNION ALL SELECT id FROM message WHERE completed_by = ?)
       ORDER BY rowid DESC LIMIT ${INCOMPLETE_MAX}`,
    ),
    settleMessage: db.prepare(
      "UPDATE message SET state = @state, reason = @reason, processed_at = @at WHERE id = @message",
    ),
    complete: db.prepare("UPDATE message SET completed_by = ? WHERE id = ?"),
    latestByKey: db.prepare(
      "SELECT fp, revision, body, snapshot, state FROM study WHERE dedupe_key = ? ORDER BY revision DESC LIMIT 1",
    ),
    keysFrom: db.prepare(
      "SELECT dedupe_key, json_extract(body, '$.acquired_at') AS acquired_at FROM study WHERE revision = 1 AND dedupe_key >= ? AND dedupe_key < ?",
    ),
    insertStudy: db.prepare(
      `INSERT INTO study (fp, revision, dedupe_key, patient_fp, body, snapshot, state, created_at)
       VALUES (@fp, @revision, @dedupeKey, @patientFp, @body, @snapshot, 'queued', @at)`,
    ),
    ownRevision: db.prepare("SELECT MAX(revision) FROM message_study WHERE message = ? AND fp = ?").pluck(),
    linkAlso: db.prepare(
      `INSERT INTO message_study (message, fp, revision)
       SELECT message, fp, @to FROM message_study WHERE fp = @fp AND revision = @from ON CONFLICT DO NOTHING`,
    ),
    queueAgain: db.prepare(
      "UPDATE study SET state = 'queued', reason = NULL, settled_at = NULL WHERE fp = ? AND revision = ?",
    ),
    link: db.prepare("INSERT INTO message_study (message, fp, revision) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
    queued: db.prepare(
      "SELECT fp, revision, patient_fp AS patientFp, body, snapshot FROM study WHERE state = 'queued' ORDER BY rowid LIMIT ?",
    ),
    noteSend: db.prepare("UPDATE study SET sends = sends + 1, sent_at = ? WHERE fp = ? AND revision = ?"),
    outbox: db.prepare(
      `SELECT COUNT(*) AS depth, (SELECT created_at FROM study WHERE state = 'queued' ORDER BY rowid LIMIT 1) AS oldestAt
       FROM study WHERE state = 'queued'`,
    ),
    settleStudy: db.prepare(
      "UPDATE study SET state = ?, reason = ?, existing_fp = ?, settled_at = ? WHERE fp = ? AND revision = ? AND state = 'queued'",
    ),
    messagesOf: db.prepare("SELECT message FROM message_study WHERE fp = ? AND revision = ?"),
    // Read again, a message may have made a later revision of the same study: then that one counts.
    statesOf: db.prepare(
      `SELECT s.state, s.reason FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision = l.revision
       WHERE l.message = ? AND l.revision = (SELECT MAX(revision) FROM message_study WHERE message = l.message AND fp = l.fp)`,
    ),
    reasonOf: db.prepare("SELECT reason FROM message WHERE id = ?").pluck(),
    concludeMessage: db.prepare("UPDATE message SET state = ?, reason = COALESCE(?, reason) WHERE id = ?"),
    countMessages: db.prepare("SELECT state, COUNT(*) AS count FROM message GROUP BY state"),
    upsertPatient: db.prepare(
      "INSERT INTO patient (fp, body, walk) VALUES (@fp, @body, @walk) ON CONFLICT (fp) DO UPDATE SET body = @body, walk = @walk",
    ),
    meetPatient: db.prepare("UPDATE patient SET walk = ? WHERE fp = ?"),
    dropPatient: db.prepare("DELETE FROM patient WHERE fp = ?"),
    identifiersOf: db.prepare("SELECT identifier FROM identifier WHERE patient_fp = ?").pluck(),
    meetIdentifiers: db.prepare("UPDATE identifier SET walk = ? WHERE patient_fp = ?"),
    dropIdentifiers: db.prepare("DELETE FROM identifier WHERE patient_fp = ?"),
    insertIdentifier: db.prepare(
      "INSERT INTO identifier (identifier, patient_fp, walk) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    patientByFp: db.prepare("SELECT body FROM patient WHERE fp = ?").pluck(),
    patientsByIdentifier: db
      .prepare(
        "SELECT p.body FROM identifier i JOIN patient p ON p.fp = i.patient_fp WHERE i.identifier = ? ORDER BY p.fp LIMIT 10",
      )
      .pluck(),
    unmet: db.prepare("SELECT fp FROM patient WHERE walk < ?").pluck(),
    sweepIdentifiers: db.prepare("DELETE FROM identifier WHERE walk < ?"),
    insertOrder: db.prepare(
      `INSERT INTO test_order (accession, device, patient_fp, tests, created_at, state)
       SELECT @accession, @device, @patientFp, @tests, @createdAt, @state
       WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE identifier = @accession) ON CONFLICT DO NOTHING`,
    ),
    orderByAccession: db.prepare(`SELECT ${ORDER_COLUMNS} FROM test_order WHERE accession = ?`),
    openOrders: db.prepare(
      `SELECT ${ORDER_COLUMNS} FROM test_order
       WHERE device = @device AND state <> 'resulted' AND created_at >= @from AND created_at < @to
         AND patient_fp = COALESCE(@patientFp, patient_fp)
       ORDER BY created_at, accession LIMIT ${WORKLIST_MAX}`,
    ),
    noteOrder: db.prepare("UPDATE test_order SET state = ? WHERE accession = ? AND state <> 'resulted'"),
    dropAppointments: db.prepare("DELETE FROM appointment"),
    insertAppointment: db.prepare(
      "INSERT INTO appointment (fp, patient_fp, start_at) VALUES (@fp, @patientFp, @startAt) ON CONFLICT DO NOTHING",
    ),
    appointed: db.prepare(
      `SELECT p.body FROM appointment a JOIN patient p ON p.fp = a.patient_fp WHERE a.start_at >= ? AND a.start_at < ?
       GROUP BY p.fp ORDER BY MIN(a.start_at), p.fp LIMIT ${WORKLIST_MAX}`,
    ),
    sameInstance: db.prepare(
      `SELECT i.message, m.bytes AS head, i.sha256 FROM instance i JOIN message m ON m.id = i.message
       WHERE i.sop_instance = @sopInstance AND i.sha256 = @sha256 AND i.transfer_syntax = @transferSyntax`,
    ),
    insertImageMessage: db.prepare(
      `INSERT INTO message (id, session, ordinal, device, profile, received_at, bytes, state)
       VALUES (@message, ${NO_SESSION}, (SELECT COALESCE(MAX(ordinal), 0) + 1 FROM message WHERE session = ${NO_SESSION}),
         @device, 'dicom', @receivedAt, @head, 'pending')`,
    ),
    insertInstance: db.prepare(
      `INSERT INTO instance (message, study, sop_class, sop_instance, transfer_syntax, calling_ae, sha256, file_bytes, header_bytes, stored_at)
       VALUES (@message, @study, @sopClass, @sopInstance, @transferSyntax, @callingAe, @sha256, @fileBytes, @headerBytes, @receivedAt)`,
    ),
    hasInstance: db.prepare("SELECT 1 FROM instance WHERE message = ?").pluck(),
    awaitStudy: db.prepare(
      `INSERT INTO image_study (study, due_at, quiet_ms) VALUES (@study, @dueAt, @quietMs)
       ON CONFLICT (study) DO UPDATE SET due_at = MAX(due_at, @dueAt), quiet_ms = MAX(quiet_ms, @quietMs)`,
    ),
    // A clock that was set back leaves times far ahead: none is due later than its quiet time from now.
    boundStudies: db.prepare("UPDATE image_study SET due_at = @now + quiet_ms WHERE due_at > @now + quiet_ms"),
    nextStudy: db.prepare(
      `SELECT study, due_at AS dueAt FROM image_study WHERE study NOT IN (SELECT value FROM json_each(?))
       ORDER BY due_at LIMIT 1`,
    ),
    endStudy: db.prepare("DELETE FROM image_study WHERE study = ? AND due_at = ?"),
    instancesOf: db.prepare(
      `SELECT i.message, m.device, m.received_at AS receivedAt, m.state, i.sop_class AS sopClass, i.sop_instance AS sopInstance,
         i.transfer_syntax AS transferSyntax, i.sha256, i.header_bytes AS headerBytes, i.header,
         EXISTS (SELECT 1 FROM instance o WHERE o.sop_instance = i.sop_instance AND o.message <> i.message) AS hasTwin
       FROM instance i JOIN message m ON m.id = i.message WHERE i.study = ? ORDER BY i.message`,
    ),
    noteHeader: db.prepare("UPDATE instance SET header = ? WHERE message = ?"),
    patientsAfter: db.prepare("SELECT body FROM patient WHERE fp > ? ORDER BY fp LIMIT ?").pluck(),
    appointedFps: db
      .prepare("SELECT DISTINCT patient_fp FROM appointment WHERE start_at >= ? AND start_at < ?")
      .pluck(),
    getMeta: db.prepare("SELECT value FROM meta WHERE key = ?").pluck(),
    setMeta: db.prepare(
      "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    ),
    upsertDevice: db.prepare(
      `INSERT INTO device (id, profile, connected, last_message_at, last_bytes_at, standing)
       VALUES (@id, @profile, @connected, @lastMessageAt, @lastBytesAt, @standing)
       ON CONFLICT (id) DO UPDATE SET profile = @profile, connected = @connected, standing = @standing,
         last_message_at = COALESCE(@lastMessageAt, last_message_at), last_bytes_at = COALESCE(@lastBytesAt, last_bytes_at)`,
    ),
    noteMessage: db.prepare(
      "UPDATE device SET last_message_at = @receivedAt, stored_bytes = stored_bytes + @bytes WHERE id = @device",
    ),
    dropNews: db.prepare("DELETE FROM news WHERE device = ? AND name = ? AND topic = ?"),
    insertNews: db.prepare(
      "INSERT INTO news (device, name, topic, content, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    newsOf: db.prepare("SELECT device, name, content FROM news WHERE topic = ?"),
    pruneNews: db.prepare("DELETE FROM news WHERE topic = 'event' AND at < ?"),
    disconnectAll: db.prepare("UPDATE device SET connected = 0, standing = NULL"),
    oldestKept: db.prepare("SELECT id AS session, first_event AS event FROM session ORDER BY id LIMIT 1"),
    nthEvent: db.prepare("SELECT id FROM event ORDER BY id LIMIT 1 OFFSET ?").pluck(),
    withPlaceBefore: db.prepare(
      `SELECT id, ${BYTES_COLUMNS} FROM message WHERE session < @session AND first_event < @event`,
    ),
    keepBytes: db
      .prepare(
        `UPDATE message SET bytes = @bytes, first_event = NULL, last_event = NULL, start = NULL, length = NULL
         WHERE id = @id RETURNING device`,
      )
      .pluck(),
    pruneEvents: db.prepare("DELETE FROM event WHERE id < ?"),
    pruneNoise: db.prepare("DELETE FROM noise WHERE last_event < ?"),
    oldMessages: db
      .prepare(
        `SELECT id FROM message WHERE session > ${NO_SESSION} AND session < @session AND received_at < @before
           AND state IN ('filed', 'not-for-patients') LIMIT @limit`,
      )
      .pluck(),
    deleteMessage: db.prepare(
      `DELETE FROM message WHERE id = ? RETURNING device, length(bytes) + ${ROW_BYTES.message} AS bytes`,
    ),
    deleteLinks: db.prepare("DELETE FROM message_study WHERE message = ?"),
    // A study outlives its messages: what is sent again within that time keeps its fp. Later the server's dedupe key does.
    pruneStudies: db.prepare(
      `DELETE FROM study WHERE settled_at < ?
       RETURNING json_extract(body, '$.source.device_id') AS device, length(body) + length(snapshot) + ${ROW_BYTES.study} AS bytes`,
    ),
  };

  /** A message is what the worst of its studies became, as soon as none of them is on its way. */
  function conclude(message: string): void {
    const studies = sql.statesOf.all(message) as { state: string; reason: string | null }[];
    if (studies.length === 0 || studies.some((study) => study.state === "queued")) return;
    const refused = studies.find((study) => study.state === "conflict" || study.state === "rejected");
    const unmatched = studies.find((study) => study.state === "unmatched");
    if (refused !== undefined) {
      sql.concludeMessage.run(
        "quarantined",
        `the server answered ${refused.state}: ${refused.reason ?? "no reason given"}`,
        message,
      );
    } else if (unmatched !== undefined) {
      // Our own reason says more ("no patient has this identifier"); the server's stands where we had none.
      const own = sql.reasonOf.get(message) as string | null;
      sql.concludeMessage.run("unmatched", own ?? unmatched.reason, message);
    } else {
      sql.concludeMessage.run("filed", null, message);
    }
  }

  const imaging = imagingOperationsOn(db);
  const waits = waitingOn(db);
  const directives = directiveOperationsOn(db);
  const room = roomOperationsOn(db, sizes);
  const noise = noiseOperationsOn(db, room);
  const asMessage = messageReader(db);
  const nextIds = () => ({ session: sql.nextSession.get() as number, event: sql.nextEvent.get() as number });
  /** The key of the nearest study in time that collects, if it is near enough. */
  function collectingKey(collect: Collection | null, acquired_at: string): string | null {
    if (collect === null) return null;
    const { prefix, withinMs } = collect;
    const studies = sql.keysFrom.all(prefix, `${prefix}~`) as { dedupe_key: string; acquired_at: string }[];
    const distance = (time: string) => Math.abs(Date.parse(time) - Date.parse(acquired_at));
    const near = studies
      .filter((study) => distance(study.acquired_at) <= withinMs)
      .toSorted((one, other) => distance(one.acquired_at) - distance(other.acquired_at));
    return near[0]?.dedupe_key ?? null;
  }

  /**
   * Stores messages; one whose session and ordinal are known already is left as it is. Answers of each the id by which it is to
   * be read: of one that its device sent before, by its fingerprint, that of the first, whose patient may be known by now.
   * Null: a later message has changed what it said, and it must not change that back.
   */
  function addMessages(rows: readonly MessageRow[]): (string | null)[] {
    const heard = new Map<string, { receivedAt: number; bytes: number }>();
    const ids = rows.map((row) => {
      const [id, , , device, , receivedAt, , fingerprint, own] = row;
      const isNew = sql.insertMessage.run(row).changes > 0;
      const stored = isNew ? (own?.length ?? 0) + ROW_BYTES.message : 0;
      heard.set(device, { receivedAt, bytes: (heard.get(device)?.bytes ?? 0) + stored });
      if (isNew || fingerprint === null) return id;
      return (sql.readAgain.get(device, fingerprint) as string | undefined) ?? null;
    });
    for (const [device, { receivedAt, bytes }] of heard) sql.noteMessage.run({ device, receivedAt, bytes });
    return ids;
  }

  const ownRevision = (message: string, fp: string) => (sql.ownRevision.get(message, fp) as number | null) ?? 0;
  const patientOf = (fp: string) => (sql.patientByFp.get(fp) as string | undefined) ?? null;
  const forget = (fp: string) => {
    waits.patientChanged(fp);
    sql.dropIdentifiers.run(fp);
    sql.dropPatient.run(fp);
  };
  const ordersOf = (texts: readonly string[]) =>
    texts.flatMap((text) => sql.orderByAccession.all(text) as OrderRow[]).map(asOrder);

  return {
    ...imaging,
    ...directives,
    ...noise,

    nextIds,

    /** Sessions that an earlier process left open, with all that happened in them. */
    unfinishedSessions(): UnfinishedSession[] {
      const rows = sql.unfinished.all() as { id: number; device: string; profile: string; first_event: number }[];
      return rows.map(({ id, device, profile, first_event }) => ({
        id,
        device,
        profile,
        events: sql.eventsOf.all(first_event, id) as UnfinishedSession["events"],
      }));
    },

    finishSessions(ids: readonly number[], at: number): void {
      room.finish(ids, at);
    },

    addMessage(message: NewMessage, fingerprint: string | null = null): string | null {
      return addMessages([messageRow(message, fingerprint)])[0]!;
    },

    addMessages,

    /** The devices of unprocessed messages and images, each with the row of its last one. */
    backlog(): { device: string; lastRow: number }[] {
      return sql.backlog.all() as { device: string; lastRow: number }[];
    },

    /** The oldest unprocessed messages of a device up to a row. Images are processed elsewhere. */
    unprocessedMessages(device: string, lastRow: number, limit: number): StoredMessage[] {
      return (sql.unprocessed.all(device, lastRow, limit) as Unread<StoredMessage>[]).map(asMessage);
    },

    /** The oldest messages of these devices that waited for a patient who came or changed. Images have a way of their own. */
    dueMessages(devices: readonly string[], limit: number): StoredMessage[] {
      return (sql.due.all(JSON.stringify(devices), limit) as Unread<StoredMessage>[]).map(asMessage);
    },

    /** Has the studies of images assessed again that waited for such a patient. Returns whether there are any. */
    awaitDueStudies(devices: readonly string[], at: number): boolean {
      return sql.awaitDue.run({ devices: JSON.stringify(devices), at }).changes > 0;
    },

    /** Of which devices there are messages that were cut short, completed or not. */
    devicesCutShort(): string[] {
      return sql.cutShort.all() as string[];
    },

    /** Those that no message has completed but, when it is read again, this one; the latest first. */
    incompleteMessages(device: string, completedBy: string): StoredMessage[] {
      return (sql.incompletes.all(device, completedBy) as Unread<StoredMessage>[]).map(asMessage);
    },

    /** Stores what a message came to. A known dedupe key keeps its fp: news raise the revision, a resend changes nothing. */
    settle(settlement: Settlement): string[] {
      const { message, state, reason, studies, completes, waiting = null, rematch = false, at } = settlement;
      for (const incomplete of completes) sql.complete.run(message, incomplete);
      const fps = studies.flatMap(({ freshFp, collect, body, ...rest }) => {
        const dedupe_key = collectingKey(collect ?? null, body.acquired_at) ?? body.dedupe_key;
        const draft = { body: { ...body, dedupe_key }, ...rest };
        const held = sql.latestByKey.get(dedupe_key) as StudyRow | undefined;
        if (held === undefined && isWithdrawal(draft)) return [];
        const fp = held?.fp ?? freshFp;
        const isReplaced = rematch && held !== undefined && held.revision > ownRevision(message, fp);
        const next = held === undefined ? draft : isReplaced ? null : succeed(asHeld(held), draft);
        const isNew = next !== null && next !== "again";
        const revision = (held?.revision ?? 0) + (isNew ? 1 : 0);
        if (next === "again") sql.queueAgain.run(fp, revision);
        if (isNew) {
          const row = { fp, revision, dedupeKey: dedupe_key, patientFp: next.body.patient_fp, at };
          const [text, snapshot] = [JSON.stringify(next.body), JSON.stringify(next.snapshot)];
          sql.insertStudy.run({ ...row, body: text, snapshot });
          room.add(next.body.source.device_id, text.length + snapshot.length + ROW_BYTES.study);
          // The earlier messages of the study are filed with it.
          if (rematch && held !== undefined) sql.linkAlso.run({ fp, from: held.revision, to: revision });
        }
        sql.link.run(message, fp, revision);
        return [fp];
      });
      waits.set(message, fps.length > 0 ? waiting : null);
      sql.settleMessage.run({ message, state: fps.length > 0 ? "pending" : state, reason, at });
      conclude(message);
      return fps;
    },

    /** The latest revision under a dedupe key. */
    latestStudy(dedupeKey: string): HeldStudy | null {
      const held = sql.latestByKey.get(dedupeKey) as StudyRow | undefined;
      return held === undefined ? null : asHeld(held);
    },

    /**
     * The oldest studies that wait for the server, noted as sent, and whether more wait. At most `limit` of them, and no more
     * than `letters` of text unless the first alone has more.
     */
    takeQueued(limit: number, letters: number, at: number): { batch: QueuedStudy[]; more: boolean } {
      const queued = sql.queued.all(limit + 1) as QueuedStudy[];
      let total = 0;
      const batch = queued.slice(0, limit).filter(({ body, snapshot }, index) => {
        total += body.length + snapshot.length;
        return index === 0 || total <= letters;
      });
      for (const { fp, revision } of batch) sql.noteSend.run(at, fp, revision);
      return { batch, more: batch.length < queued.length };
    },

    outbox(): { depth: number; oldestAt: number | null } {
      return sql.outbox.get() as { depth: number; oldestAt: number | null };
    },

    /** Stores the server's answers; `unchanged` is filed, unless there was no patient to file it to. */
    settleStudies(answers: readonly (Outcome & { revision: number; matched: boolean })[], at: number): void {
      for (const { fp, revision, outcome, reason, existing_fp, matched } of answers) {
        const filed = outcome === "filed" || (outcome === "unchanged" && (matched || existing_fp !== undefined));
        const state = filed ? "filed" : outcome === "unchanged" ? "unmatched" : outcome;
        sql.settleStudy.run(state, reason, existing_fp ?? null, at, fp, revision);
        if (state === "unmatched") waits.studyRefused(fp, revision);
        for (const { message } of sql.messagesOf.all(fp, revision) as { message: string }[]) conclude(message);
      }
    },

    countMessages(): { state: MessageState; count: number }[] {
      return sql.countMessages.all() as { state: MessageState; count: number }[];
    },

    /**
     * Stores patients and returns how many are new or changed; the others are not written. `walk`: the full walk that met
     * them, in milliseconds; null: an incremental sync.
     */
    upsertPatients(patients: readonly PatientRow[], walk: number | null): number {
      let changed = 0;
      for (const { fp, body } of patients) {
        if (patientOf(fp) === body) {
          if (walk !== null) sql.meetPatient.run(walk, fp);
          continue;
        }
        sql.upsertPatient.run({ fp, body, walk: walk ?? 0 });
        waits.patientChanged(fp);
        changed += 1;
      }
      return changed;
    },

    /** Stores all identifiers of each patient, as upsertPatients() does. */
    setIdentifiers(rows: readonly { patientFp: string; identifiers: readonly string[] }[], walk: number | null): void {
      for (const { patientFp, identifiers } of rows) {
        const known = sql.identifiersOf.all(patientFp) as string[];
        const taken = known.filter((identifier) => !identifiers.includes(identifier));
        const given = identifiers.filter((identifier) => !known.includes(identifier));
        const changed = [...taken, ...given];
        if (changed.length === 0) {
          if (walk !== null) sql.meetIdentifiers.run(walk, patientFp);
          continue;
        }
        sql.dropIdentifiers.run(patientFp);
        for (const identifier of identifiers) sql.insertIdentifier.run(identifier, patientFp, walk ?? 0);
        waits.identifiersChanged(changed);
      }
    },

    /** Forgets patients, except those who changed after they were removed. Returns how many. */
    forgetPatients(removed: readonly RemovedPatient[]): number {
      const gone = removed.filter(({ fp, at }) => {
        const body = patientOf(fp);
        return body !== null && Date.parse((JSON.parse(body) as { updated_at: string }).updated_at) <= at;
      });
      for (const { fp } of gone) forget(fp);
      return gone.length;
    },

    /** Ends a full walk: forgets the patients that it did not meet, and stores how far the directory is. */
    endWalk(walk: number, progress: string, isFirst: boolean): void {
      for (const fp of sql.unmet.all(walk) as string[]) forget(fp);
      sql.sweepIdentifiers.run(walk);
      sql.setMeta.run("directory", progress);
      if (isFirst) waits.listArrived();
    },

    patientByFp: patientOf,

    /**
     * The orders that these texts are accessions of, and the bodies of the patients whom those are for, who have these fps, or
     * this identifier; one may be there twice. In one operation, for each costs the way to the thread and back. `version`
     * is the directory's.
     */
    named({ accessions, fps, identifier }: Names): { orders: TestOrder[]; patients: string[]; version: number } {
      const orders = ordersOf(accessions);
      const known = [...new Set([...orders.map(({ patientFp }) => patientFp), ...fps])].map(patientOf);
      const identified = identifier === null ? [] : (sql.patientsByIdentifier.all(identifier) as string[]);
      const patients = [...known.filter((body) => body !== null), ...identified];
      return { orders, patients, version: waits.version() };
    },

    /** Stores an order; false: its accession is taken, as one or as a patient's number. */
    placeOrder(order: TestOrder): boolean {
      return sql.insertOrder.run({ ...order, tests: JSON.stringify(order.tests) }).changes > 0;
    },

    /** The orders that these texts are accessions of. */
    ordersByAccession: ordersOf,

    openOrders(wanted: OpenOrders): TestOrder[] {
      return (sql.openOrders.all(wanted) as OrderRow[]).map(asOrder);
    },

    /** What has a result has been sent, whenever we hear of that. */
    noteOrders(accessions: readonly string[], state: OrderState): void {
      for (const accession of accessions) sql.noteOrder.run(state, accession);
    },

    setAppointments(rows: readonly AppointmentRow[]): void {
      sql.dropAppointments.run();
      for (const row of rows) sql.insertAppointment.run(row);
    },

    /** The patients with an appointment that begins within [from, to), the earliest first. */
    appointedPatients(from: number, to: number): string[] {
      return (sql.appointed.all(from, to) as { body: string }[]).map((row) => row.body);
    },

    /**
     * Stores an instance and returns null. If a row has the same dataset already, returns that row and stores nothing.
     * Another dataset under the same SOP Instance UID gets a row beside the first.
     */
    addInstance({ quietMs, ...instance }: NewInstance): InstanceContent | null {
      const same = sql.sameInstance.get(instance) as InstanceContent | undefined;
      if (same !== undefined) return same;
      sql.insertImageMessage.run(instance);
      sql.insertInstance.run(instance);
      imaging.queueForwards(instance.message);
      sql.noteMessage.run({ ...instance, bytes: instance.head.length + ROW_BYTES.message });
      sql.awaitStudy.run({ study: instance.study, dueAt: instance.receivedAt + quietMs, quietMs });
      return null;
    },

    hasInstance(message: string): boolean {
      return sql.hasInstance.get(message) !== undefined;
    },

    /** The study of images that is held to be whole first, besides the ones under way; null: none is waited for. */
    nextImageStudy(now: number, underWay: readonly string[]): DueStudy | null {
      sql.boundStudies.run({ now });
      return (sql.nextStudy.get(JSON.stringify(underWay)) as DueStudy | undefined) ?? null;
    },

    instancesOf(study: string): StoredInstance[] {
      return sql.instancesOf.all(study) as StoredInstance[];
    },

    noteHeader(message: string, header: string): void {
      sql.noteHeader.run(header, message);
    },

    /** All of it is settled, unless something came meanwhile. */
    endImageStudy(study: string, dueAt: number): void {
      sql.endStudy.run(study, dueAt);
    },

    /** All patients, a page at a time, in the order of their fps. */
    patientsAfter(fp: string, limit: number): string[] {
      return sql.patientsAfter.all(fp, limit) as string[];
    },

    appointedFps(from: number, to: number): string[] {
      return sql.appointedFps.all(from, to) as string[];
    },

    getMeta(key: string): string | null {
      return (sql.getMeta.get(key) as string | undefined) ?? null;
    },

    setMeta(key: string, value: string): void {
      sql.setMeta.run(key, value);
    },

    setDevice({ id, profile, connected, lastMessageAt, lastBytesAt, ...standing }: DeviceState): void {
      const row = { id, profile, connected: connected ? 1 : 0, lastMessageAt, lastBytesAt };
      sql.upsertDevice.run({ ...row, standing: JSON.stringify(standing satisfies Standing) });
    },

    noteNews(device: string, { device: name, topic, content }: DeviceReport, at: number): void {
      if (topic !== "event") sql.dropNews.run(device, name, topic);
      sql.insertNews.run(device, name, topic, content, at);
    },

    newsOf(topic: DeviceReport["topic"]): { device: string; name: string; content: string }[] {
      return sql.newsOf.all(topic) as { device: string; name: string; content: string }[];
    },

    disconnectAll(): void {
      sql.disconnectAll.run();
    },

    /** For the test that holds promise P1: the journal, and how the commit of this group is brought to the disk (2: FULL). */
    durability(): { journal: unknown; synchronous: unknown } {
      return {
        journal: db.pragma("journal_mode", { simple: true }),
        synchronous: db.pragma("synchronous", { simple: true }),
      };
    },

    /** Deletes at most `limit` old rows of each kind; answers whether there may be more. What nobody has settled is kept. */
    prune(before: number, limit: number): boolean {
      room.pruneSessions(before);
      sql.pruneNews.run(before);
      const studies = sql.pruneStudies.all(before - STUDIES_KEPT_LONGER_MS) as { device: string; bytes: number }[];
      for (const { device, bytes } of studies) room.add(device, -bytes);
      // With the sessions that are kept, all that came behind the first of them is.
      const kept = (sql.oldestKept.get() as { session: number; event: number } | undefined) ?? nextIds();
      const messages = sql.oldMessages.all({ session: kept.session, before, limit }) as string[];
      for (const id of messages) {
        const { device, bytes } = sql.deleteMessage.get(id) as { device: string; bytes: number };
        room.add(device, -bytes);
        sql.deleteLinks.run(id);
        waits.set(id, null);
      }
      const end = Math.min(kept.event, (sql.nthEvent.get(limit) as number | undefined) ?? kept.event);
      const behind = sql.withPlaceBefore.all({ ...kept, event: end }) as Unread<{ id: string; bytes: Uint8Array }>[];
      for (const row of behind) {
        const message = asMessage(row);
        room.add(sql.keepBytes.get(message) as string, message.bytes.length);
      }
      const events = sql.pruneEvents.run(end).changes;
      sql.pruneNoise.run(end);
      return Math.max(events, messages.length) >= limit;
    },
  };
}

type OrderRow = Omit<TestOrder, "tests"> & { readonly tests: string };

function asOrder({ tests, ...row }: OrderRow): TestOrder {
  return { ...row, tests: JSON.parse(tests) as string[] };
}

interface StudyRow {
  readonly fp: string;
  readonly revision: number;
  readonly body: string;
  readonly snapshot: string;
  readonly state: string;
}

function asHeld({ body, snapshot, state }: StudyRow): HeldStudy {
  return {
    body: JSON.parse(body) as StudyBody["body"],
    snapshot: JSON.parse(snapshot) as StudyBody["snapshot"],
    isUnmatched: state === "unmatched",
    isRejected: state === "rejected",
  };
}
