import type Database from "better-sqlite3";
import type { DeviceReport } from "../../report/device-report.ts";
import type { DeviceState, StoredDeviceState } from "../../states/device-state.ts";

// The state of each device for `status`, and the reports that devices send about themselves.

/** Part of operationsOn(). */
export function deviceOperationsOn(db: Database.Database) {
  const sql = {
    upsertDevice: db.prepare(
      `INSERT INTO device (id, profile, connected, last_message_at, last_bytes_at, standing)
       VALUES (@id, @profile, @connected, @lastMessageAt, @lastBytesAt, @standing)
       ON CONFLICT (id) DO UPDATE SET profile = @profile, connected = @connected, standing = @standing,
         last_message_at = COALESCE(@lastMessageAt, last_message_at), last_bytes_at = COALESCE(@lastBytesAt, last_bytes_at)`,
    ),
    disconnectAll: db.prepare("UPDATE device SET connected = 0, standing = NULL"),
    dropNews: db.prepare("DELETE FROM news WHERE device = ? AND name = ? AND topic = ?"),
    insertNews: db.prepare(
      "INSERT INTO news (device, name, topic, content, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    newsOf: db.prepare("SELECT device, name, content FROM news WHERE topic = ?"),
  };
  return {
    setDevice({ id, profile, connected, lastMessageAt, lastBytesAt, ...standing }: DeviceState): void {
      const row = { id, profile, connected: connected ? 1 : 0, lastMessageAt, lastBytesAt };
      sql.upsertDevice.run({ ...row, standing: JSON.stringify(standing satisfies StoredDeviceState) });
    },

    disconnectAll(): void {
      sql.disconnectAll.run();
    },

    /** Stores a report of a device. A status or list replaces the one before; events are kept until they are pruned. */
    noteNews(device: string, { device: name, topic, content }: DeviceReport, at: number): void {
      if (topic !== "event") sql.dropNews.run(device, name, topic);
      sql.insertNews.run(device, name, topic, content, at);
    },

    newsOf(topic: DeviceReport["topic"]): { device: string; name: string; content: string }[] {
      return sql.newsOf.all(topic) as { device: string; name: string; content: string }[];
    },
  };
}
