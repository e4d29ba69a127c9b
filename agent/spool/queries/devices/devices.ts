import type Database from "better-sqlite3";
import { newFp } from "../../../../shared/api/fp.ts";
import { type DeviceReport, faultOf } from "../../../report/device-report.ts";
import type { QualityRecords } from "./quality-records.ts";
import type { DeviceState, StoredDeviceState } from "../../../states/device-state.ts";

// The state of each device for `status`, and the reports that devices send about themselves.

/** The message of a record that came without one. */
const NO_MESSAGE = "";

/** Part of operationsOn(). */
export function deviceOperationsOn(db: Database.Database, qualityRecords: Pick<QualityRecords, "queue">) {
  const sql = {
    upsertDevice: db.prepare(
      `INSERT INTO device (id, profile, connected, last_message_at, last_bytes_at, state)
       VALUES (@id, @profile, @connected, @lastMessageAt, @lastBytesAt, @state)
       ON CONFLICT (id) DO UPDATE SET profile = @profile, connected = @connected, state = @state,
         last_message_at = COALESCE(@lastMessageAt, last_message_at), last_bytes_at = COALESCE(@lastBytesAt, last_bytes_at)`,
    ),
    disconnectAll: db.prepare("UPDATE device SET connected = 0, state = NULL"),
    dropReports: db.prepare("DELETE FROM device_report WHERE device = ? AND name = ? AND topic = ?"),
    insertReport: db.prepare(
      "INSERT INTO device_report (device, name, topic, content, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    deviceReports: db.prepare("SELECT device, name, content FROM device_report WHERE topic = ?"),
  };
  return {
    setDevice({ id, profile, connected, lastMessageAt, lastBytesAt, ...state }: DeviceState): void {
      const row = { id, profile, connected: connected ? 1 : 0, lastMessageAt, lastBytesAt };
      sql.upsertDevice.run({ ...row, state: JSON.stringify(state satisfies StoredDeviceState) });
    },

    disconnectAll(): void {
      sql.disconnectAll.run();
    },

    /**
     * Stores a report of a device. A status or list replaces the previous one; events are kept until they are pruned, and a fault goes
     * to the server.
     */
    storeDeviceReport(device: string, report: DeviceReport, at: number): void {
      const { device: name, topic, content } = report;
      const fault = faultOf(report, device, at);
      if (fault !== null) {
        qualityRecords.queue(NO_MESSAGE, [{ ...fault, fp: newFp("devevt"), source: { device_id: device } }], at);
      }
      if (topic !== "event") sql.dropReports.run(device, name, topic);
      sql.insertReport.run(device, name, topic, content, at);
    },

    deviceReports(topic: DeviceReport["topic"]): { device: string; name: string; content: string }[] {
      return sql.deviceReports.all(topic) as { device: string; name: string; content: string }[];
    },
  };
}
