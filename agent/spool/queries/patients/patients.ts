import type Database from "better-sqlite3";
import { identifierCheck, patientCheck } from "../checks/row-checks.ts";
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
    byFp: db.prepare("SELECT fp, body, checksum FROM patient WHERE fp = ?"),
    byIdentifier: db.prepare(
      `SELECT i.identifier, i.patient_fp AS patientFp, i.checksum AS identifierChecksum, p.fp, p.body, p.checksum
       FROM identifier i JOIN patient p ON p.fp = i.patient_fp WHERE i.identifier = ? ORDER BY p.fp LIMIT ${IDENTIFIED_MAX}`,
    ),
    after: db.prepare("SELECT fp, body, checksum FROM patient WHERE fp > ? ORDER BY fp LIMIT ?"),
    all: db.prepare("SELECT rowid, fp, body, checksum FROM patient"),
    identifiers: db.prepare("SELECT identifier, patient_fp AS patientFp, checksum FROM identifier"),
    remove: db.prepare("DELETE FROM patient WHERE rowid = ?"),
    removeIdentifier: db.prepare("DELETE FROM identifier WHERE identifier = ? AND patient_fp = ?"),
    fetchAll: db.prepare("DELETE FROM meta WHERE key = 'directory'"),
  };
  // A damaged row names no patient: its result waits for a person. A damaged index may lead to the row of another patient.
  const patientByFp = (fp: string) => {
    const row = sql.byFp.get(fp) as PatientRow | undefined;
    return row === undefined || row.fp !== fp || !patientCheck.isWhole(row) ? null : row.body;
  };
  const patientsByIdentifier = (identifier: string) =>
    (sql.byIdentifier.all(identifier) as IdentifiedRow[])
      .filter(
        (row) =>
          row.identifier === identifier &&
          row.fp === row.patientFp &&
          patientCheck.isWhole(row) &&
          identifierCheck.isWhole({ ...row, checksum: row.identifierChecksum }),
      )
      .map(({ body }) => body);
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
      return (sql.after.all(fp, limit) as PatientRow[]).filter(patientCheck.isWhole).map(({ body }) => body);
    },

    /** Removes the damaged rows, so that the next sync fetches all patients. @returns the number of removed rows */
    removeDamagedPatients(): number {
      const rows = [...(sql.all.iterate() as IterableIterator<PatientRow & { rowid: number }>)];
      const damaged = rows.filter((row) => !patientCheck.isWhole(row));
      const identifiers = [...(sql.identifiers.iterate() as IterableIterator<IdentifierRow>)];
      const damagedIdentifiers = identifiers.filter((row) => !identifierCheck.isWhole(row));
      for (const { rowid } of damaged) sql.remove.run(rowid);
      for (const { identifier, patientFp } of damagedIdentifiers) sql.removeIdentifier.run(identifier, patientFp);
      const count = damaged.length + damagedIdentifiers.length;
      if (count > 0) sql.fetchAll.run();
      return count;
    },
  };
}

interface PatientRow {
  readonly fp: string;
  readonly body: string;
  readonly checksum: number | null;
}

interface IdentifierRow {
  readonly identifier: string;
  readonly patientFp: string;
  readonly checksum: number | null;
}

type IdentifiedRow = PatientRow & Omit<IdentifierRow, "checksum"> & { readonly identifierChecksum: number | null };
