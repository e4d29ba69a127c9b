import type Database from "better-sqlite3";

// Test orders. An accession names the sample of one patient and is never used again.

/**
 * placed: not sent to the device yet. sent: sent to the device. resulted: a result with its accession was received. cancelled: no
 * device gets it any more.
 */
export type OrderState = "placed" | "sent" | "resulted" | "cancelled";

/** The device of an order that every device gets. */
export const ANY_DEVICE = "";

export interface TestOrder {
  readonly accession: string;
  readonly device: string;
  readonly patientFp: string;
  readonly tests: readonly string[];
  readonly createdAt: number;
  readonly state: OrderState;
  /** The server's order; absent for one of this agent. */
  readonly fp?: string;
}

/** Selects orders without a result that were placed within [from, to), in ms. `patientFp` null selects all patients. */
export interface OpenOrders {
  readonly device: string;
  readonly patientFp: string | null;
  readonly from: number;
  readonly to: number;
}

/** Max orders or patients in a worklist. Devices hold fewer in memory. */
export const WORKLIST_MAX = 200;
const ORDER_COLUMNS = "o.accession, o.device, o.patient_fp AS patientFp, o.tests, o.created_at AS createdAt, o.fp";

export type OrderOperations = ReturnType<typeof orderOperationsOn>;

/** Part of operationsOn(). */
export function orderOperationsOn(db: Database.Database) {
  const sql = {
    insertOrder: db.prepare(
      `INSERT INTO test_order (accession, device, patient_fp, tests, created_at, state)
       SELECT @accession, @device, @patientFp, @tests, @createdAt, @state
       WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE identifier = @accession) ON CONFLICT DO NOTHING`,
    ),
    orderByAccession: db.prepare(`SELECT ${ORDER_COLUMNS}, o.state FROM test_order o WHERE o.accession = ?`),
    // An order for any device is new to each device that did not get it.
    openOrders: db.prepare(
      `SELECT ${ORDER_COLUMNS}, CASE WHEN o.device = @device THEN o.state
         WHEN EXISTS (SELECT 1 FROM order_delivery d WHERE d.accession = o.accession AND d.device = @device) THEN 'sent'
         ELSE 'placed' END AS state
       FROM test_order o
       WHERE o.device IN (@device, '${ANY_DEVICE}') AND o.state <> 'resulted' AND o.state <> 'cancelled'
         AND o.created_at >= @from AND o.created_at < @to AND o.patient_fp = COALESCE(@patientFp, o.patient_fp)
       ORDER BY o.created_at, o.accession LIMIT ${WORKLIST_MAX}`,
    ),
    // The server knows which results an order for any device still lacks.
    noteOrder: db.prepare(
      `UPDATE test_order SET state = @state WHERE accession = @accession AND state <> 'resulted' AND state <> 'cancelled'
         AND NOT (@state = 'resulted' AND device = '${ANY_DEVICE}')`,
    ),
    noteOffer: db.prepare(
      "UPDATE test_order SET offered_at = @at WHERE accession = @accession AND fp IS NOT NULL AND offered_at IS NULL",
    ),
    noteDelivery: db.prepare(
      `INSERT INTO order_delivery (accession, device) SELECT accession, @device FROM test_order
       WHERE accession = @accession AND device = '${ANY_DEVICE}' ON CONFLICT DO NOTHING`,
    ),
  };
  return {
    /** Stores an order. @returns false if its accession is taken, as an accession or as a patient's identifier */
    placeOrder(order: TestOrder): boolean {
      return sql.insertOrder.run({ ...order, tests: JSON.stringify(order.tests) }).changes > 0;
    },

    /** The orders whose accession is among these texts. */
    ordersByAccession(texts: readonly string[]): TestOrder[] {
      return texts.flatMap((text) => sql.orderByAccession.all(text) as OrderRow[]).map(asOrder);
    },

    openOrders(wanted: OpenOrders): TestOrder[] {
      return (sql.openOrders.all(wanted) as OrderRow[]).map(asOrder);
    },

    /** Records the state of orders. A resulted order stays resulted, whenever the device confirms it. */
    noteOrders(accessions: readonly string[], state: Exclude<OrderState, "cancelled">): void {
      for (const accession of accessions) sql.noteOrder.run({ accession, state });
    },

    /** Records that the device got orders. */
    noteSentOrders(accessions: readonly string[], device: string, at: number): void {
      for (const accession of accessions) {
        sql.noteOrder.run({ accession, state: "sent" });
        sql.noteOffer.run({ accession, at });
        sql.noteDelivery.run({ accession, device });
      }
    },
  };
}

type OrderRow = Omit<TestOrder, "tests" | "fp"> & { readonly tests: string; readonly fp: string | null };

function asOrder({ tests, fp, ...row }: OrderRow): TestOrder {
  return { ...row, tests: JSON.parse(tests) as string[], ...(fp !== null && { fp }) };
}
