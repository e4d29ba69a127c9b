import type Database from "better-sqlite3";
import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type { DestinationState } from "../../states/destination-state.ts";

// The destinations of results, and the outcome of the last delivery of each: it is stored before the server gets it, so that a killed
// agent sends nothing again that a receiver has acknowledged.

export interface DeliveryOutcome {
  readonly delivery: number;
  readonly attempt: number;
  /** The digest of the bytes. */
  readonly sha256: string;
  readonly at: number;
  readonly outcome: "acknowledged" | "refused" | "failed";
  readonly code: string;
  readonly text: string | null;
}

export type StoredOutcome = DeliveryOutcome & {
  /** 1 if the server has it. */
  readonly reported: number;
};

/** Part of operationsOn(). */
export function resultDestinationOperationsOn(db: Database.Database) {
  const sql = {
    retire: db.prepare("UPDATE result_destination SET is_configured = 0, state = NULL"),
    configure: db.prepare(
      `INSERT INTO result_destination (id, is_configured) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET is_configured = 1`,
    ),
    last: db.prepare(
      `SELECT delivery, attempt, sha256, at, outcome, code, text, reported FROM result_destination
       WHERE id = ? AND delivery IS NOT NULL`,
    ),
    settle: db.prepare(
      `UPDATE result_destination SET delivery = @delivery, attempt = @attempt, sha256 = @sha256, at = @at, outcome = @outcome,
         code = @code, text = @text, reported = 0,
         acknowledged_at = CASE WHEN @outcome = 'acknowledged' THEN @at ELSE acknowledged_at END
       WHERE id = @id`,
    ),
    reported: db.prepare("UPDATE result_destination SET reported = 1 WHERE id = ? AND delivery = ? AND attempt = ?"),
    setState: db.prepare("UPDATE result_destination SET state = ? WHERE id = ?"),
  };
  return {
    /**
     * Sets the destinations of the configuration. The outcome of another one stays, in case it comes back.
     * @returns whether there are or ever were any
     */
    configureResultDestinations(ids: readonly string[]): boolean {
      const retired = sql.retire.run().changes;
      for (const id of ids) sql.configure.run(id);
      return ids.length > 0 || retired > 0;
    },
    lastDelivery(id: string): StoredOutcome | null {
      return (sql.last.get(id) as StoredOutcome | undefined) ?? null;
    },
    /** Stores an outcome in place of the earlier one, which the server has. */
    settleDelivery(id: string, outcome: DeliveryOutcome): void {
      sql.settle.run({ id, ...outcome });
    },
    noteReportedDelivery(id: string, { delivery, attempt }: Pick<DeliveryOutcome, "delivery" | "attempt">): void {
      sql.reported.run(id, delivery, attempt);
    },
    setDestinationState(id: string, state: DestinationState): void {
      sql.setState.run(JSON.stringify(state), id);
    },
  };
}

/** A destination as `agent status` and the page show it. */
export interface DestinationStatus {
  readonly id: string;
  readonly kind: "hl7" | "csv";
  /** Address or folder. */
  readonly to: string;
  readonly state: DestinationState["is"] | "not served";
  /** Code and words of a fault of the line, or of the server. */
  readonly code: string | null;
  readonly text: string | null;
  readonly last_sent_at: string | null;
  readonly last: {
    readonly at: string;
    readonly outcome: DeliveryOutcome["outcome"];
    readonly code: string;
    readonly text: string | null;
  } | null;
  /** Deliveries at the server; null before the first look. */
  readonly waiting: number | null;
  readonly parked: number | null;
}

/** Reads the configured destinations. Without a running agent none is served. */
export function readDestinations(db: Database.Database, isRunning: boolean): DestinationStatus[] {
  const rows = db
    .prepare(
      `SELECT id, state, at, outcome, code, text, acknowledged_at FROM result_destination
       WHERE is_configured = 1 AND state IS NOT NULL ORDER BY id`,
    )
    .all() as {
    id: string;
    state: string;
    at: number | null;
    outcome: DeliveryOutcome["outcome"] | null;
    code: string;
    text: string | null;
    acknowledged_at: number | null;
  }[];
  return rows.map((row) => {
    const { is, kind, to, code, text, waiting, parked } = JSON.parse(row.state) as DestinationState;
    const { outcome, at } = row;
    return {
      ...{ id: row.id, kind, to },
      ...(isRunning ? { state: is, code, text } : { state: "not served", code: null, text: null }),
      last_sent_at: timestampOrNull(row.acknowledged_at),
      last:
        outcome === null || at === null
          ? null
          : { at: new Date(at).toISOString(), outcome, code: row.code, text: row.text },
      ...{ waiting, parked },
    };
  });
}
