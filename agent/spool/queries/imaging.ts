import type Database from "better-sqlite3";
import { newAccession } from "./accession.ts";
import type { Attributes } from "../../protocols/dicom/attributes.ts";

// What the spool can be asked of imaging besides the images themselves: worklists, procedure steps, commitments and what
// is forwarded where. Each operation runs inside the group's transaction.

export interface WorklistWanted {
  readonly device: string;
  /** Today, milliseconds: from inclusive, to exclusive. */
  readonly from: number;
  readonly to: number;
  /** Orders placed before are not waited for any more. */
  readonly openFrom: number;
  readonly now: number;
}

export interface WorklistRow {
  readonly accession: string;
  /** Of the appointment, or when the order was placed. */
  readonly startAt: number;
  readonly tests: readonly string[];
  /** The patient's JSON. */
  readonly body: string;
}

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
  /** null: as it was. */
  readonly state: StepState | null;
  readonly attributes: Attributes;
  readonly at: number;
}

export interface NewCommitment {
  readonly transaction: string;
  readonly device: string;
  readonly callingAe: string;
  readonly references: readonly InstanceReference[];
  readonly at: number;
}

export interface InstanceReference {
  readonly sopClass: string;
  readonly sopInstance: string;
}

export interface Commitment extends NewCommitment {
  readonly id: number;
  readonly tries: number;
}

/** The content of an instance's file: the head, then the dataset. */
export interface InstanceContent {
  readonly message: string;
  /** Preamble and File Meta Information. Its length depends on the calling AE title. */
  readonly head: Uint8Array;
  /** Digest of the dataset. */
  readonly sha256: string;
}

/** An instance as its file holds it. */
export interface HeldInstance extends InstanceContent {
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly transferSyntax: string;
  readonly fileBytes: number;
}

export type ForwardState = "queued" | "sent" | "refused";

export interface ForwardCount {
  readonly destination: string;
  readonly state: ForwardState;
  readonly count: number;
}

/** An instance whose file is here, and whether that file may be removed. */
export interface KeptInstance {
  readonly message: string;
  /** When its bytes came last. */
  readonly storedAt: number;
  readonly fileBytes: number;
  readonly standing: Standing;
}

/**
 * forwarded: every archive of the configuration has it; filed: readable through the API, and this is the only copy; needed:
 * it waits for an archive, its study is not settled, a person has to place it, or a device was told that we have it for good.
 */
export type Standing = "forwarded" | "filed" | "needed";

/** Entries of a worklist; a modality's screen shows fewer. */
const WORKLIST_MAX = 200;
const HELD_COLUMNS = `i.message, i.sop_class AS sopClass, i.sop_instance AS sopInstance, i.transfer_syntax AS transferSyntax,
  i.sha256, i.file_bytes AS fileBytes, m.bytes AS head`;

// CROSS JOIN: destinations first, for the other way round every instance would be compared with all that was ever forwarded.
const forwardIs = (state: ForwardState) =>
  `EXISTS (SELECT 1 FROM destination d CROSS JOIN forward f ON f.destination = d.id AND f.message = i.message WHERE f.state = '${state}')`;
/** What may be removed although it is nowhere else has been filed: the rest is for a person to look at. */
const STANDING = `CASE
  WHEN m.state = 'pending' OR EXISTS (SELECT 1 FROM image_study s WHERE s.study = i.study) OR ${forwardIs("queued")} THEN 'needed'
  WHEN ${forwardIs("sent")} AND NOT ${forwardIs("refused")} THEN 'forwarded'
  WHEN m.state = 'filed' AND i.promised = 0 THEN 'filed' ELSE 'needed' END`;

export function imagingOperationsOn(db: Database.Database) {
  // An appointment gives way to an order for the same animal at the same device: the order says what is to be done.
  const isOrdered = `EXISTS (SELECT 1 FROM test_order e WHERE e.device = @device AND e.patient_fp = a.patient_fp
    AND e.appointment IS NULL AND e.state <> 'resulted' AND e.created_at >= @openFrom)`;
  const sql = {
    unscheduled: db.prepare(
      `SELECT a.fp, a.patient_fp AS patientFp FROM appointment a WHERE a.start_at >= @from AND a.start_at < @to AND NOT ${isOrdered}
         AND NOT EXISTS (SELECT 1 FROM test_order o WHERE o.device = @device AND o.appointment = a.fp)
       ORDER BY a.start_at, a.fp LIMIT ${WORKLIST_MAX}`,
    ),
    schedule: db.prepare(
      `INSERT INTO test_order (accession, device, patient_fp, tests, created_at, state, appointment)
       SELECT @accession, @device, @patientFp, '[]', @now, 'placed', @appointment
       WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE identifier = @accession) ON CONFLICT DO NOTHING`,
    ),
    steps: db.prepare(
      `SELECT o.accession, COALESCE(a.start_at, o.created_at) AS startAt, o.tests, p.body
       FROM test_order o JOIN patient p ON p.fp = o.patient_fp LEFT JOIN appointment a ON a.fp = o.appointment
       WHERE o.device = @device AND o.state <> 'resulted' AND CASE WHEN o.appointment IS NULL THEN o.created_at >= @openFrom
         ELSE a.start_at >= @from AND a.start_at < @to AND NOT ${isOrdered} END
       ORDER BY startAt, o.accession LIMIT ${WORKLIST_MAX}`,
    ),
    insertStep: db.prepare(
      `INSERT INTO procedure_step (sop_instance, device, state, attributes, updated_at)
       VALUES (@sopInstance, @device, @state, @attributes, @at) ON CONFLICT DO NOTHING`,
    ),
    step: db.prepare(
      "SELECT state, attributes FROM procedure_step WHERE sop_instance = @sopInstance AND device = @device",
    ),
    updateStep: db.prepare(
      "UPDATE procedure_step SET state = @state, attributes = @attributes, updated_at = @at WHERE sop_instance = @sopInstance",
    ),
    hasten: db.prepare("UPDATE image_study SET due_at = MIN(due_at, ?) WHERE study = ?"),
    insertCommitment: db.prepare(
      `INSERT INTO commitment (transaction_uid, device, calling_ae, instance_list, requested_at, next_at)
       VALUES (@transaction, @device, @callingAe, @references, @at, @at)`,
    ),
    commitments: db.prepare(
      `SELECT id, transaction_uid AS "transaction", device, calling_ae AS callingAe, instance_list AS "references",
         requested_at AS at, tries FROM commitment
       WHERE reported_at IS NULL AND device = ? AND next_at <= ? ORDER BY next_at LIMIT 20`,
    ),
    nextCommitment: db.prepare("SELECT MIN(next_at) FROM commitment WHERE reported_at IS NULL AND device = ?").pluck(),
    endCommitment: db.prepare("UPDATE commitment SET reported_at = ?, outcome = ? WHERE id = ?"),
    delayCommitment: db.prepare("UPDATE commitment SET tries = tries + 1, next_at = ? WHERE id = ?"),
    held: db.prepare(
      `SELECT ${HELD_COLUMNS} FROM instance i JOIN message m ON m.id = i.message WHERE i.sop_instance = ? AND i.removed_at IS NULL ORDER BY i.message`,
    ),
    promise: db.prepare("UPDATE instance SET promised = 1 WHERE sop_instance = ? AND removed_at IS NULL"),
    keptBytes: db.prepare("SELECT COALESCE(SUM(file_bytes), 0) FROM instance WHERE removed_at IS NULL").pluck(),
    keptAfter: db.prepare(
      `SELECT i.message, i.stored_at AS storedAt, i.file_bytes AS fileBytes, ${STANDING} AS standing
       FROM instance i JOIN message m ON m.id = i.message
       WHERE i.removed_at IS NULL AND (i.stored_at, i.message) > (@storedAt, @message) AND i.stored_at < @before
       ORDER BY i.stored_at, i.message LIMIT @limit`,
    ),
    remove: db.prepare(
      `UPDATE instance AS i SET removed_at = @at FROM message m
       WHERE i.message = @message AND m.id = i.message AND i.removed_at IS NULL AND i.stored_at = @storedAt
         AND ${STANDING} = @standing`,
    ),
    lastRemoved: db
      .prepare("SELECT message FROM instance WHERE removed_at IS NOT NULL ORDER BY removed_at DESC LIMIT ?")
      .pluck(),
    storedAgain: db.prepare("UPDATE instance SET stored_at = ?, removed_at = NULL WHERE message = ?"),
    destinations: db.prepare("SELECT id FROM destination").pluck(),
    dropDestination: db.prepare("DELETE FROM destination WHERE id = ?"),
    addDestination: db.prepare("INSERT INTO destination (id) VALUES (?) ON CONFLICT DO NOTHING"),
    queueForward: db.prepare(
      "INSERT INTO forward (destination, message, state) SELECT id, ?, 'queued' FROM destination WHERE true ON CONFLICT DO NOTHING",
    ),
    queued: db.prepare(
      `SELECT ${HELD_COLUMNS} FROM forward f JOIN instance i ON i.message = f.message JOIN message m ON m.id = f.message
       WHERE f.destination = ? AND f.state = 'queued' ORDER BY f.tries, f.message LIMIT ?`,
    ),
    forwardAgain: db.prepare(
      `UPDATE forward SET state = 'queued', tries = 0 WHERE destination = @destination AND state = 'refused'
         AND message IN (SELECT message FROM instance WHERE removed_at IS NULL AND study = COALESCE(@study, study))`,
    ),
    settleForward: db.prepare(
      "UPDATE forward SET state = ?, reason = ?, tries = tries + 1, settled_at = ? WHERE destination = ? AND message = ?",
    ),
    tryAgain: db.prepare("UPDATE forward SET tries = tries + 1, reason = ? WHERE destination = ? AND message = ?"),
    counts: db.prepare(
      "SELECT destination, state, COUNT(*) AS count FROM forward GROUP BY destination, state ORDER BY destination, state",
    ),
  };

  return {
    /** What a device has to image: the orders placed for it, and who else comes today, each under an accession of ours. */
    scheduledSteps(wanted: WorklistWanted): WorklistRow[] {
      const { device, now } = wanted;
      const fresh = sql.unscheduled.all(wanted) as { fp: string; patientFp: string }[];
      for (const { fp, patientFp } of fresh) {
        const row = () => ({ accession: newAccession(), device, patientFp, now, appointment: fp });
        while (sql.schedule.run(row()).changes === 0); // that accession is taken
      }
      const rows = sql.steps.all(wanted) as (Omit<WorklistRow, "tests"> & { tests: string })[];
      return rows.map((step) => ({ ...step, tests: JSON.parse(step.tests) as string[] }));
    },

    /** Stores a procedure step that began; false: there is one of that name. */
    createStep(step: NewStep): boolean {
      return sql.insertStep.run({ ...step, attributes: JSON.stringify(step.attributes) }).changes > 0;
    },

    /** Stores what a device says of its step; answers all that is known of it, or why it cannot be changed. */
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

    /** Holds studies to be whole now; of one that nothing is awaited of, nothing changes. */
    hastenStudies(studies: readonly string[], at: number): void {
      for (const study of studies) sql.hasten.run(at, study);
    },

    addCommitment({ references, ...commitment }: NewCommitment): void {
      sql.insertCommitment.run({ ...commitment, references: JSON.stringify(references) });
    },

    /** Requests of a device that are to be reported on by now. */
    dueCommitments(device: string, now: number): Commitment[] {
      const rows = sql.commitments.all(device, now) as (Omit<Commitment, "references"> & { references: string })[];
      return rows.map((row) => ({ ...row, references: JSON.parse(row.references) as InstanceReference[] }));
    },

    nextCommitmentAt(device: string): number | null {
      return sql.nextCommitment.get(device) as number | null;
    },

    endCommitment(id: number, outcome: string, at: number): void {
      sql.endCommitment.run(at, outcome, id);
    },

    delayCommitment(id: number, nextAt: number): void {
      sql.delayCommitment.run(nextAt, id);
    },

    /** A device is to be told that we have these for good: from now on only an archive's copy lets ours go. */
    promiseInstances(sopInstances: readonly string[]): void {
      for (const sopInstance of sopInstances) sql.promise.run(sopInstance);
    },

    keptBytes(): number {
      return sql.keptBytes.get() as number;
    },

    /** What is kept behind that place and came before a time, the oldest first. */
    keptAfter({ storedAt, message }: Pick<KeptInstance, "storedAt" | "message">, before: number, limit: number) {
      return sql.keptAfter.all({ storedAt, message, before, limit }) as KeptInstance[];
    },

    /** Notes that the files of these are gone; answers the messages of those that stand as they did, for it is so of them alone. */
    removeInstances(instances: readonly KeptInstance[], at: number): string[] {
      const removed = instances.filter((instance) => sql.remove.run({ ...instance, at }).changes > 0);
      return removed.map(({ message }) => message);
    },

    /** The messages of the instances that were removed last. */
    lastRemoved(limit: number): string[] {
      return sql.lastRemoved.all(limit) as string[];
    },

    /** Marks an instance as stored at that time; its file is in place. */
    noteStoredAgain(message: string, at: number): void {
      sql.storedAgain.run(at, message);
    },

    /** What is here under that SOP Instance UID. */
    heldInstances(sopInstance: string): HeldInstance[] {
      return sql.held.all(sopInstance) as HeldInstance[];
    },

    /** From now on every instance is queued for these; what waits for one that is no more stays where it is. */
    setDestinations(ids: readonly string[]): void {
      for (const id of sql.destinations.all() as string[]) if (!ids.includes(id)) sql.dropDestination.run(id);
      for (const id of ids) sql.addDestination.run(id);
    },

    queueForwards(message: string): void {
      sql.queueForward.run(message);
    },

    /** The oldest that wait for a destination; what was tried most often comes last, so that it holds up nothing. */
    queuedForwards(destination: string, limit: number): HeldInstance[] {
      return sql.queued.all(destination, limit) as HeldInstance[];
    },

    /** Queues again what a destination refused for good; `study` null: of all studies. Answers how many. */
    forwardAgain(destination: string, study: string | null): number {
      return sql.forwardAgain.run({ destination, study }).changes;
    },

    settleForward(destination: string, message: string, state: "sent" | "refused", reason: string | null, at: number) {
      sql.settleForward.run(state, reason, at, destination, message);
    },

    delayForward(destination: string, message: string, reason: string): void {
      sql.tryAgain.run(reason, destination, message);
    },

    countForwards(): ForwardCount[] {
      return sql.counts.all() as ForwardCount[];
    },
  };
}
