import type Database from "better-sqlite3";
import type { PushedStudy } from "../../shared/api/study.ts";
import type { StoredDeviceState } from "../states/device-state.ts";

// What the spool knows about a device.

/** Latest messages and studies of a device that are read. Older ones may have come with another profile. */
const LATEST = 50;

export interface DeviceFacts {
  readonly lastMessageAt: number | null;
  /** Null for a device that the agent has not served yet. */
  readonly state: StoredDeviceState | null;
  /** The latest messages. */
  readonly messages: { readonly count: number; readonly quarantined: number; readonly lastReason: string | null };
  readonly results: { readonly count: number; readonly unknown: number };
  /** The name of the device in its latest study. */
  readonly name: string | null;
}

export function readDeviceFacts(db: Database.Database, id: string): DeviceFacts {
  const device = db.prepare("SELECT last_message_at AS at, state FROM device WHERE id = ?").get(id) as
    | { readonly at: number | null; readonly state: string | null }
    | undefined;
  const messages = db
    .prepare("SELECT state, reason FROM message WHERE device = ? ORDER BY rowid DESC LIMIT ?")
    .all(id, LATEST) as { readonly state: string; readonly reason: string | null }[];
  const quarantined = messages.filter(({ state }) => state === "quarantined");
  const studies = latestStudies(db, id);
  const results = studies.flatMap((study) => study.results);
  return {
    lastMessageAt: device?.at ?? null,
    state: device?.state == null ? null : (JSON.parse(device.state) as StoredDeviceState),
    messages: { count: messages.length, quarantined: quarantined.length, lastReason: quarantined[0]?.reason ?? null },
    results: {
      count: results.length,
      unknown: results.filter(({ code_source: source }) => source === "device").length,
    },
    name: studies[0]?.device_name ?? null,
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
