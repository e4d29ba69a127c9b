import type Database from "better-sqlite3";
import type { OrderOperations, TestOrder } from "../orders/orders.ts";
import type { PendingMatches } from "./pending-matches.ts";

// Lookups in the stored patient directory.

/** Max patients that one identifier names. */
const IDENTIFIED_MAX = 10;

/** The texts in a message that may name its patient. */
export interface PatientReferences {
  readonly accessions: readonly string[];
  readonly fps: readonly string[];
  readonly identifiers: readonly string[];
}

/** The orders and patients that references name. */
export interface ResolvedReferences {
  readonly orders: TestOrder[];
  /** Bodies of patients. A patient may be there twice. */
  readonly patients: string[];
  /** Version of the directory. */
  readonly version: number;
}

/** Part of operationsOn(). */
export function patientOperationsOn(
  db: Database.Database,
  pendingMatches: Pick<PendingMatches, "version">,
  { ordersByAccession }: Pick<OrderOperations, "ordersByAccession">,
) {
  const sql = {
    byFp: db.prepare("SELECT body FROM patient WHERE fp = ?").pluck(),
    byIdentifier: db
      .prepare(
        `SELECT p.body FROM identifier i JOIN patient p ON p.fp = i.patient_fp
         WHERE i.identifier = ? ORDER BY p.fp LIMIT ${IDENTIFIED_MAX}`,
      )
      .pluck(),
    after: db.prepare("SELECT body FROM patient WHERE fp > ? ORDER BY fp LIMIT ?").pluck(),
  };
  const patientByFp = (fp: string) => (sql.byFp.get(fp) as string | undefined) ?? null;
  const patientsByIdentifier = (identifier: string) => sql.byIdentifier.all(identifier) as string[];
  return {
    patientByFp,

    /** Looks up all references of a message. One operation saves round trips to the worker. */
    resolveReferences({ accessions, fps, identifiers }: PatientReferences): ResolvedReferences {
      const orders = ordersByAccession(accessions);
      const known = [...new Set([...orders.map(({ patientFp }) => patientFp), ...fps])].map(patientByFp);
      const identified = identifiers.flatMap(patientsByIdentifier);
      const patients = [...known.filter((body) => body !== null), ...identified];
      return { orders, patients, version: pendingMatches.version() };
    },

    /** All patients, one page at a time, in the order of their fps. */
    patientsAfter(fp: string, limit: number): string[] {
      return sql.after.all(fp, limit) as string[];
    },
  };
}
