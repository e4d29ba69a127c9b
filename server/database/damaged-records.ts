// Damaged rows that the reads of a database found.

/** A row whose content is not as it was stored. */
export class DamagedRecord extends Error {
  readonly table: string;
  /** The row's fp, or what is left of it. */
  readonly subject: string;
  readonly row: object;

  constructor(table: string, row: object) {
    const subject = "fp" in row ? String(row.fp) : JSON.stringify(row).slice(0, 40);
    super(`the stored ${table} ${subject} is damaged: its content does not match its checksum`);
    this.table = table;
    this.subject = subject;
    this.row = row;
  }
}

/** The damaged rows that a process read. Each is reported once. */
export class DamagedRecords {
  readonly #found = new Set<string>();
  /** Set by the process. `count` is the number of damaged rows so far. */
  report: (record: DamagedRecord, count: number) => void = () => undefined;

  note(record: DamagedRecord): void {
    const name = `${record.table} ${record.subject}`;
    if (this.#found.has(name) || this.#found.size >= FOUND_MAX) return;
    this.#found.add(name);
    this.report(record, this.#found.size);
  }
}

/** Max rows that are reported. */
const FOUND_MAX = 10_000;

/** Verifies a row of a query. @returns the damage; null for an intact row */
export type RowCheck = (row: object, parameters: object) => DamagedRecord | null;

const leftOutRows = new WeakMap<readonly unknown[], number>();

/** @returns the number of damaged rows that a query left out of these rows */
export function leftOut(rows: readonly unknown[]): number {
  return leftOutRows.get(rows) ?? 0;
}

/** The intact rows of a list. The damaged ones are noted, and counted by leftOut(). */
export function wholeRows<R>(
  check: RowCheck | undefined,
  parameters: unknown,
  rows: R[],
  damaged: DamagedRecords,
): R[] {
  if (check === undefined) return rows;
  const whole = rows.filter((row) => {
    const damage = check(row as object, parameters as object);
    if (damage !== null) damaged.note(damage);
    return damage === null;
  });
  if (whole.length < rows.length) leftOutRows.set(whole, rows.length - whole.length);
  return whole;
}

/** The first row of a query. @throws DamagedRecord */
export function firstWhole<R>(
  check: RowCheck | undefined,
  parameters: unknown,
  [row]: readonly R[],
  damaged: DamagedRecords,
): R | undefined {
  const damage = row === undefined ? null : (check?.(row as object, parameters as object) ?? null);
  if (damage === null) return row;
  damaged.note(damage);
  throw damage;
}
