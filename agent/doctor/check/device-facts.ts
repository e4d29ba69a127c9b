import type Database from "better-sqlite3";
import type { PushedStudy } from "../../../shared/api/study.ts";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "../../spool/queries/events/event-log.ts";
import type { StoredDeviceState } from "../../states/device-state.ts";

// Reads the facts about a device from the spool.

/** Latest messages and studies of a device that are read. Older ones may have come with another profile. */
const LATEST = 50;

export interface DeviceFacts {
  readonly lastMessageAt: number | null;
  /** Null for a device that the agent has not served yet. */
  readonly state: StoredDeviceState | null;
  readonly messages: { readonly count: number; readonly quarantined: number };
  readonly results: { readonly count: number; readonly unknown: number };
  /** The sender in its latest message: H-5, or MSH-3 and MSH-4. Null without a message that has a header. */
  readonly sender: string | null;
}

export function readDeviceFacts(db: Database.Database, id: string): DeviceFacts {
  const device = db.prepare("SELECT last_message_at AS at, state FROM device WHERE id = ?").get(id) as
    | { readonly at: number | null; readonly state: string | null }
    | undefined;
  const messages = db
    .prepare("SELECT state FROM message WHERE device = ? ORDER BY rowid DESC LIMIT ?")
    .pluck()
    .all(id, LATEST) as string[];
  const quarantined = messages.filter((state) => state === "quarantined").length;
  const results = latestStudies(db, id).flatMap((study) => study.results);
  return {
    lastMessageAt: device?.at ?? null,
    state: device?.state == null ? null : (JSON.parse(device.state) as StoredDeviceState),
    messages: { count: messages.length, quarantined },
    results: {
      count: results.length,
      unknown: results.filter(({ code_source: source }) => source === "device").length,
    },
    sender: latestSender(db, id),
  };
}

function latestStudies(db: Database.Database, id: string): PushedStudy[] {
  const bodies = db
    .prepare(
      `SELECT s.body FROM (SELECT id FROM message WHERE device = ? ORDER BY rowid DESC LIMIT ?) m
       JOIN message_study l ON l.message = m.id JOIN study s ON s.fp = l.fp AND s.revision = l.revision
       ORDER BY s.rowid DESC`,
    )
    .pluck()
    .all(id, LATEST) as string[];
  return bodies.map((body) => JSON.parse(body) as PushedStudy);
}

/** Reads the header as it was sent. The name in a study is made for people. */
function latestSender(db: Database.Database, id: string): string | null {
  const row = db.prepare(`SELECT ${BYTES_COLUMNS} FROM message WHERE device = ? ORDER BY rowid DESC LIMIT 1`).get(id) as
    | StoredMessageRow<{ readonly bytes: Uint8Array; readonly session: number }>
    | undefined;
  if (row === undefined) return null;
  const text = Buffer.from(messageReader(db)(row).bytes).toString("latin1");
  const [, kind = "", separator = "", fields = ""] = /^\d?(H|MSH)([^A-Za-z\d\s])([^\r\n]*)/m.exec(text) ?? [];
  if (kind === "") return null;
  const parts = fields.split(separator);
  if (kind === "H") return parts[3] ?? "";
  const sender = `${parts[1] ?? ""}|${parts[2] ?? ""}`;
  return sender === "|" ? null : sender;
}
