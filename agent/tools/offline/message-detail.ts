import type Database from "better-sqlite3";
import type { LocalBytes, LocalMessage, LocalReading } from "../../page/types/messages.ts";
import { wireText } from "../../protocols/transcript.ts";
import { describe, type Reading, type Report } from "../../report/report.ts";
import type { StudyBody } from "../../report/revision.ts";
import { listClinicCodes } from "../../spool/queries/clinic-codes.ts";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "../../spool/queries/events/event-log.ts";
import { qualityRecordsOf } from "../../spool/queries/devices/quality-records.ts";
import type { StoredMessage } from "../../spool/queries/messages/message-row.ts";
import { documentOf } from "../../spool/queries/studies/document-list.ts";
import { readContext } from "../../study/assess.ts";
import { read, readable } from "../../study/read.ts";
import { type DeviceLookup, explain } from "./explain.ts";
import { hexLines } from "./hex-lines.ts";
import { localResults } from "./local-results.ts";
import { qualityIn } from "./quality-text.ts";
import { shownReason } from "../../page/types/message-codes.ts";

// A message in three panes: its bytes, what the agent reads in them, and the studies as they are filed.

/** Bytes of the raw pane. A longer message is in its recording. */
const SHOWN_BYTES = 32 * 1024;

/** Returns a message with what became of it; null if the spool has no such message. */
export async function messageDetail(
  db: Database.Database,
  id: string,
  deviceById: DeviceLookup,
): Promise<LocalMessage | null> {
  const row = db
    .prepare(
      `SELECT m.id, m.device, m.profile, m.received_at AS receivedAt, m.truncation_reason AS incomplete, m.state, m.reason, m.code,
         EXISTS (SELECT 1 FROM instance i WHERE i.message = m.id) AS isImage, ${BYTES_COLUMNS} FROM message m WHERE m.id = ?`,
    )
    .get(id);
  if (row === undefined) return null;
  const message = messageReader(db)<DetailRow>(row as StoredMessageRow<DetailRow>);
  const { device, profile, receivedAt, state, reason, code, bytes, isImage } = message;
  const document = documentOf(db, id);
  const reading = isImage === 1 ? null : await readingOf(db, message, deviceById);
  const keys = reading === null ? [] : qualityIn(reading).map(({ dedupe_key }) => dedupe_key);
  return {
    id,
    device,
    profile,
    received_at: new Date(receivedAt).toISOString(),
    state,
    ...shownReason({ code, reason }),
    raw: bytesOf(bytes),
    report: reportsOf(reading),
    document: document === null ? null : { name: document.name, text: document.text },
    studies: studiesOf(db, id),
    quality: qualityRecordsOf(db, id, keys).map(({ record, ...sent }) => ({
      record,
      state: sent.state,
      reason: sent.reason,
    })),
    time_line: await explain(db, id, deviceById),
    is_image: isImage === 1,
  };
}

type DetailRow = StoredMessage & {
  readonly state: string;
  readonly reason: string | null;
  readonly code: string | null;
  readonly isImage: 0 | 1;
};

function bytesOf(bytes: Uint8Array): LocalBytes {
  const shown = bytes.subarray(0, SHOWN_BYTES);
  return { length: bytes.length, shown: shown.length, text: textLines(shown), hex: hexLines(shown) };
}

/** Returns the text of a device, a line for each CR, LF or both. The control characters stay visible by their names. */
function textLines(bytes: Uint8Array): string[] {
  return wireText(bytes).match(/[^]+?(?:<CR><LF>|<CR>|<LF>|$)/g) ?? [];
}

async function readingOf(db: Database.Database, message: DetailRow, deviceById: DeviceLookup): Promise<Reading> {
  const device = deviceById(message.device);
  if (device === undefined) return none(`${message.device} is no longer in the configuration`);
  if (message.incomplete !== null) return none(`incomplete: ${message.incomplete}`);
  const bytes = await readable(message.bytes, device.profile);
  return read(bytes, device.profile, readContext(device, message, listClinicCodes(db)));
}

function none(reason: string): Reading {
  return { is: "quarantined", reason };
}

/** `reading` is null for an image. */
function reportsOf(reading: Reading | null): LocalReading {
  if (reading?.is === "reports") return { reason: null, reports: reading.reports.map(reportOf) };
  return { reason: reading?.reason ?? null, reports: [] };
}

function reportOf(report: Report): LocalReading["reports"][number] {
  const { device_name, modality, acquired_at, identifier, patient_hint, species, sampleIds = [], rows } = report;
  return {
    device_name,
    modality,
    acquired_at,
    identifier,
    name: patient_hint.name,
    species,
    sample_ids: sampleIds,
    rows: rows.map(({ code, device_code = null, text, unit, device_range, device_flag }) => ({
      code,
      device_code,
      text,
      unit,
      device_range: device_range?.text ?? null,
      device_flag,
    })),
    notes: [...describe(report), ...report.notes],
  };
}

function studiesOf(db: Database.Database, id: string): LocalMessage["studies"] {
  const rows = db
    .prepare(
      `SELECT s.fp, s.existing_fp AS existingFp, s.revision, s.state, s.reason, s.body, s.snapshot FROM message_study l
         JOIN study s ON s.fp = l.fp AND s.revision = (SELECT MAX(revision) FROM study WHERE fp = l.fp)
       WHERE l.message = ? GROUP BY s.fp ORDER BY s.rowid`,
    )
    .all(id) as StudyRow[];
  return rows.map(({ fp, existingFp, revision, state, reason, ...stored }) => {
    const body = JSON.parse(stored.body) as StudyBody["body"];
    const snapshot = JSON.parse(stored.snapshot) as StudyBody["snapshot"];
    const results = localResults(body.results, snapshot);
    const { patient_fp, modality, acquired_at } = body;
    return { fp: existingFp ?? fp, revision, state, reason, patient_fp, modality, acquired_at, results };
  });
}

interface StudyRow {
  readonly fp: string;
  readonly existingFp: string | null;
  readonly revision: number;
  readonly state: string;
  readonly reason: string | null;
  readonly body: string;
  readonly snapshot: string;
}
