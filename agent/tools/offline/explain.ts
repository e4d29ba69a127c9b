import type Database from "better-sqlite3";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { flagLines } from "../../../shared/platform/cli/flag-text.ts";
import { apply, createLink } from "../../connection/create-link.ts";
import { profileById } from "../../devices/index.ts";
import { isOwn } from "../../devices/own/reference.ts";
import type { Profile } from "../../devices/profile.ts";
import { type FilingDevice, readContext } from "../../study/assess.ts";
import { read, readable } from "../../study/read.ts";
import { listClinicCodes } from "../../spool/queries/clinic-codes.ts";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "../../spool/queries/events/event-log.ts";
import { qualityRecordsOf, type StoredQualityRecord } from "../../spool/queries/devices/quality-records.ts";
import type { Report } from "../../report/report.ts";
import type { StudyBody } from "../../report/revision.ts";
import type { StoredMessage } from "../../spool/queries/messages/message-row.ts";
import type { UnfinishedSession } from "../../spool/queries/events/sessions.ts";
import { wireText } from "../../protocols/transcript.ts";
import { zonedTime } from "../../report/device-time.ts";
import { messageReason } from "../../page/types/message-codes.ts";
import { type QualityDraft, qualityIn, qualityText } from "./quality-text.ts";

// Explains the way of a study or a message through the agent, from the first byte to the server's response. The spool has the
// bytes and the outcomes; the pure stages are run again for the rest.

/** Looks a device up in the configuration; undefined if it is not there. */
export type DeviceLookup = (
  id: string,
) => Pick<FilingDevice, "profile" | "timeZone" | "codes" | "controls"> | undefined;

const SHOWN_CHARS = 100;

/** The time line of a study or a message, the earliest event first, and for a study the reason of each flag. */
export interface Explanation {
  readonly events: readonly { readonly at: string; readonly text: string }[];
  readonly flags: readonly string[];
}

/** Returns an explanation as lines. @throws Error if the spool has neither a study (fp) nor a message (id) of the name */
export async function explain(db: Database.Database, name: string, deviceById: DeviceLookup): Promise<string[]> {
  const { events, flags } = await explanationOf(db, name, deviceById);
  return [...events.map((event) => `${event.at}  ${event.text}`), ...flags];
}

/** @throws Error if the spool has neither a study (fp) nor a message (id) of the name */
export async function explanationOf(
  db: Database.Database,
  name: string,
  deviceById: DeviceLookup,
): Promise<Explanation> {
  const rows = db
    .prepare("SELECT * FROM study WHERE fp = ? OR existing_fp = ? ORDER BY created_at, revision")
    .all(name, name) as StudyRow[];
  return rows.length > 0 ? explainStudy(db, rows, deviceById) : explainMessage(db, name, deviceById);
}

/** Returns the time line of a message: its bytes, its Reports and its studies. */
async function explainMessage(db: Database.Database, id: string, deviceById: DeviceLookup): Promise<Explanation> {
  const row = db.prepare(`SELECT ${MESSAGE_COLUMNS} FROM message m WHERE m.id = ?`).get(id);
  if (row === undefined)
    throw new Error(
      `the spool has no study and no message ${id}: this agent did not create it, or created it over a year ago`,
    );
  const message = messageReader(db)<MessageRow>(row as StoredMessageRow<MessageRow>);
  const studies = db
    .prepare(
      `SELECT s.* FROM study s JOIN message_study l ON l.fp = s.fp AND l.revision = s.revision
       WHERE l.message = ? ORDER BY s.created_at, s.revision`,
    )
    .all(id) as StudyRow[];
  const device = deviceById(message.device);
  const events = [
    ...wireEvents(db, message, device),
    ...(await messageEvents(db, message, null, device)),
    ...studies.flatMap(studyEvents),
  ];
  return { events: timeLine(events), flags: [] };
}

async function explainStudy(
  db: Database.Database,
  rows: readonly StudyRow[],
  deviceById: DeviceLookup,
): Promise<Explanation> {
  const latest = rows.at(-1)!;
  const body = JSON.parse(latest.body) as StudyBody["body"];
  const snapshot = JSON.parse(latest.snapshot) as StudyBody["snapshot"];
  const ranges = JSON.parse(text(db, "SELECT value FROM meta WHERE key = 'ranges'") ?? "null") as ClinicRanges | null;
  const keys = new Set(rows.map(({ dedupe_key }) => dedupe_key));
  const events: TimedLine[] = [{ at: Date.parse(body.acquired_at), line: "sample    as the device dates it" }];
  for (const message of messagesOf(db, rows)) {
    const device = deviceById(message.device);
    const reader = device && { ...device, profile: revisionOf(body.source.profile ?? "", device.profile) };
    events.push(...wireEvents(db, message, device), ...(await messageEvents(db, message, keys, reader)));
  }
  events.push(...rows.flatMap(studyEvents));
  const used = ranges?.version === snapshot.ranges ? (ranges ?? undefined) : undefined;
  return { events: timeLine(events), flags: flagLines(body, snapshot, used) };
}

function timeLine(events: readonly TimedLine[]): Explanation["events"] {
  return events.toSorted((a, b) => a.at - b.at).map(({ at, line }) => ({ at: new Date(at).toISOString(), text: line }));
}

interface TimedLine {
  readonly at: number;
  readonly line: string;
}

interface StudyRow {
  readonly fp: string;
  readonly revision: number;
  readonly dedupe_key: string;
  readonly patient_fp: string | null;
  readonly body: string;
  readonly snapshot: string;
  readonly state: string;
  readonly reason: string | null;
  readonly existing_fp: string | null;
  readonly created_at: number;
  readonly settled_at: number | null;
  readonly send_attempts: number;
  readonly last_sent_at: number | null;
}

type MessageRow = StoredMessage & {
  readonly session: number;
  readonly ordinal: number;
  readonly state: string;
  readonly reason: string | null;
  readonly code: string | null;
};

const MESSAGE_COLUMNS = `m.id, m.ordinal, m.device, m.profile, m.received_at AS receivedAt, m.truncation_reason AS incomplete, m.state, m.reason, m.code, ${BYTES_COLUMNS}`;

function messagesOf(db: Database.Database, studies: readonly StudyRow[]): MessageRow[] {
  const linked = db.prepare(
    `SELECT ${MESSAGE_COLUMNS} FROM message m WHERE m.id IN (SELECT message FROM message_study WHERE fp = @fp AND revision = @revision)
       OR m.completed_by IN (SELECT message FROM message_study WHERE fp = @fp AND revision = @revision)`,
  );
  const asMessage = messageReader(db);
  const found = new Map<string, MessageRow>();
  for (const { fp, revision } of studies) {
    for (const row of linked.all({ fp, revision }) as StoredMessageRow<MessageRow>[]) found.set(row.id, asMessage(row));
  }
  return [...found.values()];
}

/** Returns the reception of a message: the file of an image, else the chunks and the actions of the link, which is run again. */
function wireEvents(db: Database.Database, message: MessageRow, device: ReturnType<DeviceLookup>): TimedLine[] {
  const image = db
    .prepare(
      "SELECT sop_instance_uid AS uid, calling_ae_title AS sender, file_bytes AS size, sha256 FROM instance WHERE message = ?",
    )
    .get(message.id) as { uid: string; sender: string; size: number; sha256: string } | undefined;
  if (image !== undefined) {
    const { uid, sender, size, sha256 } = image;
    return [
      { at: message.receivedAt, line: `chunk     instance ${uid} from ${sender}, ${size} bytes, sha256 ${sha256}` },
    ];
  }
  const session = db.prepare("SELECT first_event AS firstEvent FROM session WHERE id = ?").get(message.session);
  const profile = device && revisionOf(message.profile, device.profile);
  if (session === undefined || device === undefined || profile?.id !== message.profile) {
    return [{ at: message.receivedAt, line: "chunk     no longer kept, or its profile is no longer configured" }];
  }
  const { firstEvent } = session as { firstEvent: number };
  const events = db.prepare("SELECT id, kind, at, bytes FROM event WHERE id >= ? AND session = ? ORDER BY id");
  let now = message.receivedAt;
  // The spool does not store the ids of replies.
  const link = createLink(profile, { now: () => zonedTime(now, device.timeZone), newId: () => "-" });
  let ordinal = 0;
  const lines: TimedLine[] = [];
  for (const { kind, at, bytes } of events.iterate(firstEvent, message.session) as Iterable<
    UnfinishedSession["events"][number]
  >) {
    if (ordinal > message.ordinal) break;
    now = at;
    const isWanted = ordinal === message.ordinal;
    if (isWanted)
      lines.push({
        at,
        line: bytes === null ? `chunk     ${kind}` : `chunk     ${bytes.length} bytes ${shown(bytes)}`,
      });
    for (const action of apply(link, kind, bytes)) {
      if (action.do === "deliver") ordinal += 1;
      if (!isWanted) continue;
      if (action.do === "reply") lines.push({ at, line: `frame     replied ${shown(action.bytes)}` });
      if (action.do === "warn") lines.push({ at, line: `frame     ${action.reason}` });
    }
  }
  return lines;
}

/** A clinic's own profile keeps each revision, so that an earlier one explains what it read. */
export function revisionOf(reference: string, configured: Profile): Profile {
  return reference !== configured.id && isOwn(reference) ? (profileById(reference) ?? configured) : configured;
}

/** Returns the outcome of a message and its Reports. `keys` are the dedupe keys of wanted Reports; null selects all. */
async function messageEvents(
  db: Database.Database,
  message: MessageRow,
  keys: ReadonlySet<string> | null,
  device: ReturnType<DeviceLookup>,
): Promise<TimedLine[]> {
  const { id, receivedAt: at, bytes, incomplete, state } = message;
  const reason = messageReason(message);
  const cut = incomplete === null ? "" : `, incomplete: ${incomplete}`;
  const ended = `${state}${reason === null ? "" : `: ${reason}`}`;
  let quality: readonly QualityDraft[] = [];
  const lines = [`message   ${id} of ${message.device}, ${bytes.length} bytes${cut}; ${ended}`];
  if (device !== undefined && incomplete === null) {
    const whole = await readable(bytes, device.profile);
    const reading = read(whole, device.profile, readContext(device, message, listClinicCodes(db)));
    if (reading.is === "reports") {
      lines.push(...reading.reports.filter(({ dedupe_key }) => keys?.has(dedupe_key) ?? true).flatMap(reportLines));
    } else lines.push(`Report    none: ${reading.reason}`);
    quality = keys === null ? qualityIn(reading) : [];
    lines.push(...quality.map((record) => `Report    ${qualityText(record)}`));
  }
  const sent = quality.map(({ dedupe_key }) => dedupe_key);
  const records = keys === null ? qualityRecordsOf(db, id, sent) : [];
  return [...lines.map((line) => ({ at, line })), ...records.flatMap(qualityEvents)];
}

function reportLines(report: Report): string[] {
  const { identifier, sampleIds = [], species, acquired_at, rows, unmapped, leftOut, patient_hint } = report;
  const sample = sampleIds.length === 0 ? "" : `, sample ${sampleIds.join(" ")}`;
  const patient = `identifier ${identifier ?? "none"}, name ${patient_hint.name ?? "none"}, species ${species ?? "none"}${sample}`;
  return [
    `Report    ${rows.length} results of ${acquired_at}; ${patient}`,
    ...unmapped.map((code) => `Report    unmapped: ${code}`),
    ...leftOut.map((reason) => `Report    left out: ${reason}`),
  ];
}

function studyEvents({
  fp,
  revision,
  patient_fp,
  created_at,
  send_attempts,
  last_sent_at,
  settled_at,
  snapshot,
  ...study
}: StudyRow): TimedLine[] {
  const [match = ""] = (JSON.parse(snapshot) as StudyBody["snapshot"]).notes;
  const { profile, profile_hash: hash } = (JSON.parse(study.body) as StudyBody["body"]).source;
  const sha = hash === undefined ? "" : `, sha256 ${hash.slice(0, 12)}`;
  const lines = [
    ...(profile === undefined ? [] : [{ at: created_at, line: `study     read with ${profile}${sha}` }]),
    { at: created_at, line: `study     ${fp} revision ${revision} for ${patient_fp ?? "no patient"}; ${match}` },
  ];
  if (last_sent_at !== null)
    lines.push({
      at: last_sent_at,
      line: `push      sent ${send_attempts} ${send_attempts === 1 ? "time" : "times"}, last at this time`,
    });
  if (settled_at !== null) {
    const known = study.existing_fp === null ? "" : `, there as ${study.existing_fp}`;
    const reason = study.reason === null ? "" : `: ${study.reason}`;
    lines.push({ at: settled_at, line: `server    revision ${revision} is ${study.state}${reason}${known}` });
  } else lines.push({ at: last_sent_at ?? created_at, line: "push      waits for the server" });
  return lines;
}

function qualityEvents({ record, state, reason, createdAt, settledAt }: StoredQualityRecord): TimedLine[] {
  const { fp } = record;
  const stored = { at: createdAt, line: `record    ${fp} ${qualityText(record)}` };
  if (settledAt === null) return [stored, { at: createdAt, line: `push      ${fp} waits for the server` }];
  const why = reason === null ? "" : `: ${[reason.code, ...reason.values].join(" ")}`;
  return [stored, { at: settledAt, line: `server    ${fp} is ${state}${why}` }];
}

function shown(bytes: Uint8Array): string {
  const written = wireText(bytes);
  return written.length > SHOWN_CHARS ? `${written.slice(0, SHOWN_CHARS)}...` : written;
}

function text(db: Database.Database, sql: string): string | undefined {
  return db.prepare(sql).pluck().get() as string | undefined;
}
