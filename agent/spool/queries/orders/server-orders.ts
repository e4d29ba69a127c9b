import type Database from "better-sqlite3";
import { ANY_DEVICE } from "./orders.ts";

// Orders that users of the dashboard or practice software placed. What was pulled stays while the server is away.

export interface ServerOrder {
  readonly fp: string;
  readonly accession: string;
  readonly patientFp: string;
  /** Null for any device. */
  readonly device: string | null;
  readonly tests: readonly string[];
  readonly createdAt: number;
  readonly state: "open" | "resulted" | "cancelled";
}

/** An order that a device got, and when. */
export interface OfferedOrder {
  readonly fp: string;
  readonly at: number;
}

/** Part of operationsOn(). */
export function serverOrderOperationsOn(
  db: Database.Database,
  { identifiersChanged }: { readonly identifiersChanged: (identifiers: readonly string[]) => void },
) {
  const sql = {
    // An accession of this agent never equals one of the server. One with another fp would name two samples: the first stays.
    store: db.prepare(
      `INSERT INTO test_order (accession, device, patient_fp, tests, created_at, state, fp)
       VALUES (@accession, @device, @patientFp, @tests, @createdAt, CASE @state WHEN 'open' THEN 'placed' ELSE @state END, @fp)
       ON CONFLICT (accession) DO UPDATE SET patient_fp = excluded.patient_fp,
         state = CASE @state WHEN 'open' THEN state ELSE @state END
       WHERE fp = excluded.fp AND (patient_fp <> excluded.patient_fp OR @state NOT IN ('open', state))`,
    ),
    unreported: db.prepare(
      `SELECT fp, offered_at AS at FROM test_order
       WHERE fp IS NOT NULL AND offered_at IS NOT NULL AND offer_reported = 0 ORDER BY offered_at LIMIT ?`,
    ),
    reported: db.prepare("UPDATE test_order SET offer_reported = 1 WHERE fp = ?"),
  };
  return {
    /** Stores orders that are new or changed. A result that came before its order is due to be matched again. */
    storeServerOrders(orders: readonly ServerOrder[]): void {
      const changed = orders.filter(({ tests, device, ...order }) => {
        return sql.store.run({ ...order, tests: JSON.stringify(tests), device: device ?? ANY_DEVICE }).changes > 0;
      });
      identifiersChanged(changed.map(({ accession }) => accession));
    },

    /** The orders that devices got and the agent has not reported yet, the earliest first. */
    unreportedOffers(limit: number): OfferedOrder[] {
      return sql.unreported.all(limit) as OfferedOrder[];
    },

    noteReportedOffers(fps: readonly string[]): void {
      for (const fp of fps) sql.reported.run(fp);
    },
  };
}
