import type Database from "better-sqlite3";
import type { Attributes } from "../../../protocols/dicom/attribute-table.ts";
import { newAccession } from "../../../../shared/runtime/accession.ts";
import { WORKLIST_MAX } from "../orders/orders.ts";

// Procedure steps: scheduled ones for the modality worklist, and performed ones (MPPS).

export interface WorklistQuery {
  readonly device: string;
  /** Start of today in ms, inclusive. */
  readonly from: number;
  /** End of today in ms, exclusive. */
  readonly to: number;
  /** Orders that were placed before that time have expired. */
  readonly openFrom: number;
  readonly now: number;
}

export interface WorklistRow {
  readonly accession: string;
  /** The time of the appointment, or of the order if it has none. */
  readonly startAt: number;
  readonly tests: readonly string[];
  /** The patient's JSON. */
  readonly body: string;
}

type StepRow = Omit<WorklistRow, "tests"> & { readonly tests: string };

export type StepState = "IN PROGRESS" | "COMPLETED" | "DISCONTINUED";

export interface NewStep {
  readonly sopInstance: string;
  readonly device: string;
  readonly state: StepState;
  readonly attributes: Attributes;
  readonly at: number;
}

export interface StepUpdate {
  readonly sopInstance: string;
  readonly device: string;
  /** Null leaves the state unchanged. */
  readonly state: StepState | null;
  readonly attributes: Attributes;
  readonly at: number;
}

/** SQL that is true for an appointment `a` whose patient has an open order at the device. The order replaces it. */
const IS_ORDERED = `EXISTS (SELECT 1 FROM test_order e WHERE e.device = @device AND e.patient_fp = a.patient_fp
    AND e.appointment_fp IS NULL AND e.state <> 'resulted' AND e.state <> 'cancelled' AND e.created_at >= @openFrom)`;

/** Part of operationsOn(). */
export function procedureStepOperationsOn(db: Database.Database) {
  const sql = {
    unscheduled: db.prepare(
      `SELECT a.fp, a.patient_fp AS patientFp FROM appointment a WHERE a.start_at >= @from AND a.start_at < @to AND NOT ${IS_ORDERED}
         AND NOT EXISTS (SELECT 1 FROM test_order o WHERE o.device = @device AND o.appointment_fp = a.fp)
       ORDER BY a.start_at, a.fp LIMIT ${WORKLIST_MAX}`,
    ),
    schedule: db.prepare(
      `INSERT INTO test_order (accession, device, patient_fp, tests, created_at, state, appointment_fp)
       SELECT @accession, @device, @patientFp, '[]', @now, 'placed', @appointmentFp
       WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE identifier = @accession) ON CONFLICT DO NOTHING`,
    ),
    steps: db.prepare(
      `SELECT o.accession, COALESCE(a.start_at, o.created_at) AS startAt, o.tests, p.body
       FROM test_order o JOIN patient p ON p.fp = o.patient_fp LEFT JOIN appointment a ON a.fp = o.appointment_fp
       WHERE o.device = @device AND o.state <> 'resulted' AND o.state <> 'cancelled' AND CASE WHEN o.appointment_fp IS NULL THEN o.created_at >= @openFrom
         ELSE a.start_at >= @from AND a.start_at < @to AND NOT ${IS_ORDERED} END
       ORDER BY startAt, o.accession LIMIT ${WORKLIST_MAX}`,
    ),
    insertStep: db.prepare(
      `INSERT INTO procedure_step (sop_instance_uid, device, state, attributes, updated_at)
       VALUES (@sopInstance, @device, @state, @attributes, @at) ON CONFLICT DO NOTHING`,
    ),
    step: db.prepare(
      "SELECT state, attributes FROM procedure_step WHERE sop_instance_uid = @sopInstance AND device = @device",
    ),
    updateStep: db.prepare(
      "UPDATE procedure_step SET state = @state, attributes = @attributes, updated_at = @at WHERE sop_instance_uid = @sopInstance",
    ),
  };
  return {
    /** Returns the open orders of a modality and today's appointments. An appointment without an accession gets one. */
    scheduledSteps(wanted: WorklistQuery): WorklistRow[] {
      const { device, now } = wanted;
      const fresh = sql.unscheduled.all(wanted) as { fp: string; patientFp: string }[];
      for (const { fp, patientFp } of fresh) {
        const row = () => ({ accession: newAccession("agent"), device, patientFp, now, appointmentFp: fp });
        while (sql.schedule.run(row()).changes === 0); // the accession is taken
      }
      return (sql.steps.all(wanted) as StepRow[]).map(({ tests, ...row }) => {
        return { ...row, tests: JSON.parse(tests) as string[] };
      });
    },

    /** Stores a started procedure step. @returns false if its SOP Instance UID is taken */
    createStep(step: NewStep): boolean {
      return sql.insertStep.run({ ...step, attributes: JSON.stringify(step.attributes) }).changes > 0;
    },

    /** Stores an update of a step. @returns all its attributes, or why it cannot be changed */
    updateStep(update: StepUpdate): Attributes | "unknown" | "ended" {
      const held = sql.step.get(update) as { state: StepState; attributes: string } | undefined;
      if (held === undefined) return "unknown";
      if (held.state !== "IN PROGRESS") return "ended";
      const attributes = { ...(JSON.parse(held.attributes) as Attributes), ...update.attributes };
      const { sopInstance, at } = update;
      const state = update.state ?? held.state;
      sql.updateStep.run({ sopInstance, at, state, attributes: JSON.stringify(attributes) });
      return attributes;
    },
  };
}
