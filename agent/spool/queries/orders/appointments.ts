import type Database from "better-sqlite3";
import { WORKLIST_MAX } from "./orders.ts";

// Today's appointments, as they were last fetched from the server.

export interface AppointmentRow {
  readonly fp: string;
  readonly patientFp: string;
  readonly startAt: number;
}

/** Part of operationsOn(). */
export function appointmentOperationsOn(db: Database.Database) {
  const sql = {
    dropAppointments: db.prepare("DELETE FROM appointment"),
    insertAppointment: db.prepare(
      "INSERT INTO appointment (fp, patient_fp, start_at) VALUES (@fp, @patientFp, @startAt) ON CONFLICT DO NOTHING",
    ),
    appointed: db.prepare(
      `SELECT p.body FROM appointment a JOIN patient p ON p.fp = a.patient_fp WHERE a.start_at >= ? AND a.start_at < ?
       GROUP BY p.fp ORDER BY MIN(a.start_at), p.fp LIMIT ${WORKLIST_MAX}`,
    ),
    appointedFps: db
      .prepare("SELECT DISTINCT patient_fp FROM appointment WHERE start_at >= ? AND start_at < ?")
      .pluck(),
  };
  return {
    setAppointments(rows: readonly AppointmentRow[]): void {
      sql.dropAppointments.run();
      for (const row of rows) sql.insertAppointment.run(row);
    },

    /** The patients with an appointment that starts within [from, to), the earliest first. */
    appointedPatients(from: number, to: number): string[] {
      return (sql.appointed.all(from, to) as { body: string }[]).map((row) => row.body);
    },

    appointedFps(from: number, to: number): string[] {
      return sql.appointedFps.all(from, to) as string[];
    },
  };
}
