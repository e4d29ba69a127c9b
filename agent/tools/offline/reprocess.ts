import { setImmediate } from "node:timers/promises";
import type Database from "better-sqlite3";
import { resultLine } from "../../../shared/platform/cli/flag-text.ts";
import { searchSpool, writeSpool } from "../../spool/access.ts";
import { Directory } from "../../study/patient-directory.ts";
import { assess, type FilingDevice, type FilingSources } from "../../study/assess.ts";
import { HeaderReader } from "../../imaging/files/header-reader.ts";
import { assessImages, type ImageDevice } from "../../imaging/study-assembly.ts";
import { qualityText } from "./quality-text.ts";
import { WholeStudies } from "./whole-studies.ts";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "../../spool/queries/events/event-log.ts";
import { isWithdrawal, nextRevision } from "../../report/revision.ts";
import { SendError } from "../../runtime/send-error.ts";
import type { ServerClient } from "../../push/server-client.ts";
import type { SpoolCalls } from "../../spool/spool.ts";
import type { MessageState } from "../../spool/queries/messages/message-outcome.ts";
import { type StoredMessage, withDamage } from "../../spool/queries/messages/message-row.ts";
import { type Operations, operationsOn } from "../../spool/queries/operations.ts";
import type { Settlement } from "../../spool/queries/studies/studies.ts";
import { type CodedReason, messageReason } from "../../page/types/message-codes.ts";

// Runs settled messages through the stages again, after a profile, a mapping or a patient was corrected. The first step computes the
// changes; the second one stores them in the spool, from where the agent sends them.

export interface ReprocessFilter {
  readonly states: readonly MessageState[];
  /** Absent or empty for any device. */
  readonly devices?: readonly string[];
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Absent or empty for any code, and none. */
  readonly codes?: readonly string[];
  /** The id of the only wanted message. Absent for any. */
  readonly message?: string;
  /** The devices have another profile, which may read fewer rows. */
  readonly isOtherProfile?: true;
  /** No person sees the patients before they are stored, so that an own profile has to be confirmed as for a new message. */
  readonly isUnseen?: boolean;
}

/** Devices of the current configuration by id. */
export interface KnownDevices {
  readonly analyzers: ReadonlyMap<string, FilingDevice>;
  readonly imaging: ReadonlyMap<string, ImageDevice>;
}

export interface ReassessedMessage {
  readonly message: StoredMessage & { readonly state: MessageState } & Required<CodedReason>;
  readonly settlement: Settlement;
  /** Accessions whose result has arrived. */
  readonly resulted: readonly string[];
  /** The latest revision of each study when the settlement was computed, by dedupe key; 0 for a new study. */
  readonly revisions: ReadonlyMap<string, number>;
  /** Changed lines, old with `-` and new with `+`; empty if nothing would change. */
  readonly diff: readonly string[];
  /** The outcome of the rows of its studies, by their dedupe keys. */
  readonly rows: ReadonlyMap<string, RowChanges>;
}

/** Numbers of rows. */
export interface RowChanges {
  readonly added: number;
  readonly changed: number;
  readonly lost: number;
}

/** Messages after which the devices of a running agent get their turn. */
const TURN = 10;

/**
 * Computes the outcome of each wanted message, of images by study; nothing is written. `progress` gets the number of
 * processed messages and image studies, and their total.
 */
export async function reassess(
  folder: string,
  wanted: ReprocessFilter,
  devices: KnownDevices,
  matchPatientsByName: boolean,
  progress: (done: number, of: number) => void,
): Promise<ReassessedMessage[]> {
  const headers = new HeaderReader();
  // The patients of the spool decide; the running agent keeps them in sync.
  const lookupOn = (spool: SpoolCalls) => sourcesOn(spool, matchPatientsByName);
  try {
    return await searchSpool(folder, async (db) => {
      const all = wantedOf(db, wanted);
      const operations = operationsOn(db);
      const done: ReassessedMessage[] = [];
      const resulted = new Map<string, readonly string[]>();
      const assessAlone = async (id: string) => {
        const message = messageOf(db, id);
        // A filed study stays with its patient.
        const calls = callsOn(operations, wanted.isUnseen !== true || message.state === "filed");
        resulted.set(id, calls.resulted);
        return assessMessage(message, devices, lookupOn(calls.spool));
      };
      const studies = new WholeStudies(db, operations, assessAlone, wanted.isOtherProfile);
      for (const [index, { id, study }] of all.entries()) {
        // One read transaction: the running agent changes no study between the reading of its messages and of its revision.
        db.exec("BEGIN");
        const calls = callsOn(operations);
        const settlements =
          study === null
            ? [await studies.assess(id)].filter((settlement) => settlement !== null)
            : await assessStudy(folder, study, devices, headers, lookupOn(calls.spool));
        for (const settlement of settlements) {
          const message = messageOf(db, settlement.message);
          const diff = diffOf(operations, message, settlement);
          const revisions = new Map(settlement.studies.map((draft) => operations.latestRevision(draft)));
          const rows = rowChanges(operations, settlement);
          done.push({ message, settlement, resulted: resulted.get(id) ?? calls.resulted, revisions, diff, rows });
        }
        db.exec("COMMIT");
        progress(index + 1, all.length);
        if (index % TURN === TURN - 1) await setImmediate();
      }
      return done;
    });
  } finally {
    headers.close();
  }
}

/** Computes the outcome of a message; nothing is written. `matchPatientsByName` as in agent.yaml. */
export function preview(
  operations: Operations,
  message: StoredMessage,
  device: FilingDevice,
  matchPatientsByName: boolean,
): Promise<Settlement> {
  return assess(message, device, sourcesOn(callsOn(operations).spool, matchPatientsByName), false);
}

function sourcesOn(spool: SpoolCalls, matchPatientsByName: boolean): FilingSources {
  return { spool, directory: new Directory(spool, away), matchPatientsByName };
}

/** Numbers of messages. An overtaken one was left as it is, because its study got a newer revision since it was assessed. */
export interface Stored {
  readonly stored: number;
  readonly overtaken: number;
}

/** Stores the changed messages; a running agent sends them with its next round. */
export function store(folder: string, reprocessed: readonly ReassessedMessage[]): Stored {
  const storeNext = storer();
  const changed = reprocessed.filter(({ diff }) => diff.length > 0);
  const stored = changed.filter((message) => writeSpool(folder, (operations) => storeNext(operations, message)));
  return { stored: stored.length, overtaken: changed.length - stored.length };
}

/** Stores the changed messages in turns, a transaction each: a running agent commits between them. `last` belongs to the last one. */
export async function storeInTurns(
  folder: string,
  reprocessed: readonly ReassessedMessage[],
  last: (operations: Operations) => void,
): Promise<Stored> {
  const storeNext = storer();
  const changed = reprocessed.filter(({ diff }) => diff.length > 0);
  let [stored, next] = [0, 0];
  do {
    const turn = changed.slice(next, next + TURN);
    next += TURN;
    stored += writeSpool(folder, (operations) => {
      const own = turn.filter((message) => storeNext(operations, message));
      if (next >= changed.length) last(operations);
      return own.length;
    });
    await setImmediate();
  } while (next < changed.length);
  return { stored, overtaken: changed.length - stored };
}

/** Makes the function that stores one message after the other. It returns false for an overtaken message, which stays. */
function storer(): (operations: Operations, message: ReassessedMessage) => boolean {
  // Several messages of one study are stored one after the other, so each is checked against the revision that the last one made.
  const own = new Map<string, number>();
  return (operations, { settlement, resulted, revisions }) => {
    const latest = () => settlement.studies.map((draft) => operations.latestRevision(draft));
    if (latest().some(([key, revision]) => revision !== (own.get(key) ?? revisions.get(key) ?? 0))) return false;
    operations.settle(settlement);
    operations.noteOrders(resulted, "resulted");
    for (const [key, revision] of latest()) own.set(key, revision);
    return true;
  };
}

/**
 * Returns the wanted messages, and one message for each image study. Filed images stay, because they have no codes to map, and so do
 * documents, from which no value is read, and messages that the agent has not read yet.
 */
function wantedOf(
  db: Database.Database,
  { states, devices = [], codes = [], since, message }: ReprocessFilter,
): { id: string; study: string | null }[] {
  return db
    .prepare(
      `SELECT m.id, i.study_uid AS study FROM message m LEFT JOIN instance i ON i.message = m.id
       WHERE m.state IN (SELECT value FROM json_each(@states)) AND m.received_at >= @since AND m.completed_by IS NULL
         AND (@devices = '[]' OR m.device IN (SELECT value FROM json_each(@devices)))
         AND (@codes = '[]' OR m.code IN (SELECT value FROM json_each(@codes)))
         AND (@message IS NULL OR m.id = @message) AND (m.state <> 'filed' OR i.message IS NULL)
         AND (m.state <> 'pending' OR EXISTS (SELECT 1 FROM message_study l WHERE l.message = m.id))
         AND NOT EXISTS (SELECT 1 FROM folder_file f WHERE f.message = m.id AND f.bytes IS NOT NULL)
       GROUP BY COALESCE(i.study_uid, m.id) ORDER BY MIN(m.rowid)`,
    )
    .all({ ...bound({ states, devices, codes }), since, message: message ?? null }) as {
    id: string;
    study: string | null;
  }[];
}

/** Returns lists as SQLite takes them. */
function bound(lists: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, JSON.stringify(list)]));
}

/** Reads a stored message with its bytes. */
export function messageOf(db: Database.Database, id: string): ReassessedMessage["message"] {
  const row = db
    .prepare(
      `SELECT id, device, profile, received_at AS receivedAt, truncation_reason AS incomplete, state, reason, code, ${BYTES_COLUMNS} FROM message WHERE id = ?`,
    )
    .get(id) as StoredMessageRow<ReassessedMessage["message"]>;
  return withDamage(messageReader(db)<ReassessedMessage["message"]>(row), row.checksum);
}

/** Skips a message whose device is not in the configuration. */
async function assessMessage(message: StoredMessage, { analyzers }: KnownDevices, lookup: FilingSources) {
  const device = analyzers.get(message.device);
  return device === undefined ? null : assess(message, device, lookup);
}

/** Assesses all images of a study; skips it if a device is not in the configuration. */
async function assessStudy(
  data: string,
  study: string,
  { imaging }: KnownDevices,
  headers: HeaderReader,
  lookup: FilingSources,
): Promise<Settlement[]> {
  const stored = await lookup.spool.call("instancesOf", study);
  if (stored.some(({ device }) => !imaging.has(device))) return [];
  return assessImages(study, stored, { data, headers, deviceById: (id) => imaging.get(id), lookup });
}

const refused = () => Promise.reject(new SendError("transient", "nothing is fetched while messages are reassessed"));
const away: ServerClient = { get: refused, post: refused, put: refused, putPng: refused, download: refused };

/**
 * Creates spool calls on operations of a read-only database; accessions to note are collected in `resulted`. `isSeen`: a person decides
 * about what is assessed again, and sees its patients first.
 */
function callsOn(operations: Operations, isSeen = true): { spool: SpoolCalls; resulted: string[] } {
  const resulted: string[] = [];
  const run = (name: keyof Operations, args: readonly unknown[]) =>
    (operations[name] as (...values: readonly unknown[]) => unknown)(...args);
  const spool = {
    call: async (name: keyof Operations, ...args: unknown[]) =>
      (isSeen && name === "isProfileConfirmed") || run(name, args),
    callLater(name: "noteOrders" | "noteHeader", accessions: string[]) {
      if (name === "noteOrders") resulted.push(...accessions);
    },
  } as unknown as SpoolCalls;
  return { spool, resulted };
}

function diffOf(operations: Operations, message: ReassessedMessage["message"], settlement: Settlement): string[] {
  const { changes = [] } = settlement;
  if (changes.length > 0) {
    const unsent = operations.unsentChanges(message.id, changes);
    if (unsent.length === 0) return [];
    const kinds = unsent.map(({ kind }) => `+ ${kind} of ${message.device}`);
    return [`- ${outcomeText(message.state, message)}`, "+ to be sent", ...kinds];
  }
  const quality = operations.unsentQuality([...(settlement.controls ?? []), ...(settlement.events ?? [])]);
  const lines: string[] = [];
  let isNew = false;
  for (const draft of settlement.studies) {
    const held = operations.latestStudy(operations.studyKey(draft));
    if (held === null && isWithdrawal(draft)) continue;
    const next = held === null ? draft : nextRevision(held, draft);
    if (next === null) continue;
    isNew = true;
    if (next === "again") continue;
    const before =
      held === null ? [] : [`for ${held.body.patient_fp ?? "no patient"}`, ...held.body.results.map(resultLine)];
    const after = [`for ${next.body.patient_fp ?? "no patient"}`, ...next.body.results.map(resultLine)];
    lines.push(
      ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
      ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
    );
  }
  lines.push(...quality.map((record) => `+ ${qualityText(record)}`));
  const was = outcomeText(message.state, message);
  const isSent = settlement.studies.length > 0;
  // An unchanged study leaves its message in the state that the server's response gave it.
  const next = outcomeText(isSent ? "to be sent" : settlement.state, settlement);
  if (isSent ? !isNew : was === next) return lines;
  return [`- ${was}`, `+ ${next}`, ...lines];
}

function rowChanges(operations: Operations, settlement: Settlement): ReadonlyMap<string, RowChanges> {
  return new Map(
    settlement.studies.map((draft) => {
      const key = operations.studyKey(draft);
      const held = operations.latestStudy(key);
      const next = held === null ? draft : nextRevision(held, draft);
      const before = new Map((held?.body.results ?? []).map((row) => [row.analyte, resultLine(row)]));
      const after = new Map(
        (next === null || next === "again" ? [] : next.body.results).map((row) => [row.analyte, resultLine(row)]),
      );
      if (after.size === 0) return [key, { added: 0, changed: 0, lost: 0 }];
      const kept = [...after].filter(([analyte]) => before.has(analyte));
      const changed = kept.filter(([analyte, line]) => before.get(analyte) !== line).length;
      return [key, { added: after.size - kept.length, changed, lost: before.size - kept.length }];
    }),
  );
}

function outcomeText(state: string, why: CodedReason): string {
  const words = messageReason(why);
  return words === null ? state : `${state}: ${words}`;
}
