import type Database from "better-sqlite3";

// Storage commitment (PS3.4 Annex J): requests of devices, and the instances that were committed.

export interface InstanceReference {
  readonly sopClass: string;
  readonly sopInstance: string;
}

export interface NewCommitment {
  readonly transaction: string;
  readonly device: string;
  readonly callingAe: string;
  readonly references: readonly InstanceReference[];
  readonly at: number;
}

export interface Commitment extends NewCommitment {
  readonly id: number;
  readonly attempts: number;
}

/** Part of operationsOn(). */
export function commitmentOperationsOn(db: Database.Database) {
  const sql = {
    insertCommitment: db.prepare(
      `INSERT INTO commitment (transaction_uid, device, calling_ae_title, instances, requested_at, next_attempt_at)
       VALUES (@transaction, @device, @callingAe, @references, @at, @at)`,
    ),
    commitments: db.prepare(
      `SELECT id, transaction_uid AS "transaction", device, calling_ae_title AS callingAe, instances AS "references",
         requested_at AS at, attempts FROM commitment
       WHERE reported_at IS NULL AND device = @device AND (next_attempt_at <= @now OR next_attempt_at > @now + @delayMs)
       ORDER BY next_attempt_at LIMIT 20`,
    ),
    nextCommitment: db
      .prepare("SELECT MIN(next_attempt_at) FROM commitment WHERE reported_at IS NULL AND device = ?")
      .pluck(),
    endCommitment: db.prepare("UPDATE commitment SET reported_at = ?, outcome = ? WHERE id = ?"),
    delayCommitment: db.prepare("UPDATE commitment SET attempts = attempts + 1, next_attempt_at = ? WHERE id = ?"),
    commit: db.prepare("UPDATE instance SET committed = 1 WHERE sop_instance_uid = ? AND removed_at IS NULL"),
  };
  return {
    addCommitment({ references, ...commitment }: NewCommitment): void {
      sql.insertCommitment.run({ ...commitment, references: JSON.stringify(references) });
    },

    /** The requests of a device whose report is due. A longer delay than `delayMs` comes from a clock that was set back. */
    dueCommitments(device: string, now: number, delayMs: number): Commitment[] {
      const rows = sql.commitments.all({ device, now, delayMs }) as (Omit<Commitment, "references"> & {
        references: string;
      })[];
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

    /** Marks instances as committed to a device. Their files are kept until an archive has a copy. */
    markCommitted(sopInstances: readonly string[]): void {
      for (const sopInstance of sopInstances) sql.commit.run(sopInstance);
    },
  };
}
