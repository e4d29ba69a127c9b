import { type CheckedValue, isWhole, rowChecksum } from "../../../shared/runtime/row-checksum.ts";
import { DamagedRecord, type DamagedRecords } from "./damaged-records.ts";
import type { Query } from "./query.ts";

// Checksums of rows. Each read of such a row verifies it: a single row is refused, and a list leaves a damaged row out.

/** The columns of a table that a checksum covers. A query selects all of them under these names, and the checksum. */
export interface Checksum<Column extends string = string, Content extends string = string> {
  readonly table: string;
  readonly column: Column;
  readonly of: readonly Content[];
}

/** Makes each read of the query verify its rows. */
export function checked<P extends object, Column extends string, Content extends string, Row extends object>(
  asked: Query<P, Row & { [Name in Column]: number | null } & { [Name in Content]: CheckedValue }>,
  checksum: Checksum<Column, Content>,
): Query<P, Row> {
  const earlier = asked.check;
  return {
    ...(asked as Query<P, Row>),
    check: (row, parameters) => earlier?.(row, parameters) ?? damageOf(checksum, row, parameters),
  };
}

/** Computes the checksum of a row that is written. */
export function checksumOf<Content extends string>(
  { of }: Checksum<string, Content>,
  row: { readonly [Name in Content]: CheckedValue },
): number {
  return rowChecksum(of.map((name) => row[name]));
}

function damageOf({ table, column, of }: Checksum, row: object, parameters: object): DamagedRecord | null {
  const values = row as Record<string, CheckedValue>;
  const whole = isWhole(
    (values[column] ?? null) as number | null,
    of.map((name) => values[name] ?? null),
  );
  // A damaged index may lead to the row of another record.
  const isOther = "fp" in parameters && "fp" in row && parameters.fp !== row.fp;
  return whole && !isOther ? null : new DamagedRecord(table, row);
}

/** The whole rows of a list. The damaged ones are noted. */
export function wholeRows<P, R>(asked: Query<P, R>, parameters: P, rows: R[], damaged: DamagedRecords): R[] {
  const { check } = asked;
  if (check === undefined) return rows;
  return rows.filter((row) => {
    const damage = check(row as object, parameters as object);
    if (damage !== null) damaged.note(damage);
    return damage === null;
  });
}

/** The first row of a query. @throws DamagedRecord */
export function firstWhole<P, R>(
  asked: Query<P, R>,
  parameters: P,
  [row]: readonly R[],
  damaged: DamagedRecords,
): R | undefined {
  const damage = row === undefined ? null : (asked.check?.(row as object, parameters as object) ?? null);
  if (damage === null) return row;
  damaged.note(damage);
  throw damage;
}
