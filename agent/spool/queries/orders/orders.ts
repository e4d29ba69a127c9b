import type Database from "better-sqlite3";

// Test orders. An accession names the sample of one patient and is never used again.

/** placed: not sent to the device yet. sent: sent to the device. resulted: a result with its accession was received. */
export type OrderState = "placed" | "sent" | "resulted";

export interface TestOrder {
  readonly accession: string;
  readonly device: string;
  readonly patientFp: string;
  readonly tests: readonly string[];
  readonly createdAt: number;
  readonly state: OrderState;
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
const ORDER_COLUMNS = "accession, device, patient_fp AS patientFp, tests, created_at AS createdAt, state";

export type OrderOperations = ReturnType<typeof orderOperationsOn>;

/** Part of operationsOn(). */
export function orderOperationsOn(db: Database.Database) {
  const sql = {
    insertOrder: db.prepare(
      `INSERT INTO test_order (accession, device, patient_fp, tests, created_at, state)
       SELECT @accession, @device, @patientFp, @tests, @createdAt, @state
       WHERE NOT EXISTS (SELECT 1 FROM identifier WHERE identifier = @accession) ON CONFLICT DO NOTHING`,
    ),
    orderByAccession: db.prepare(`SELECT ${ORDER_COLUMNS} FROM test_order WHERE accession = ?`),
    openOrders: db.prepare(
      `SELECT ${ORDER_COLUMNS} FROM test_order
       WHERE device = @device AND state <> 'resulted' AND created_at >= @from AND created_at < @to
         AND patient_fp = COALESCE(@patientFp, patient_fp)
       ORDER BY created_at, accession LIMIT ${WORKLIST_MAX}`,
    ),
    noteOrder: db.prepare("UPDATE test_order SET state = ? WHERE accession = ? AND state <> 'resulted'"),
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
    noteOrders(accessions: readonly string[], state: OrderState): void {
      for (const accession of accessions) sql.noteOrder.run(state, accession);
    },
  };
}

type OrderRow = Omit<TestOrder, "tests"> & { readonly tests: string };

function asOrder({ tests, ...row }: OrderRow): TestOrder {
  return { ...row, tests: JSON.parse(tests) as string[] };
}
