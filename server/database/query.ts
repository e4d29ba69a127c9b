import { type Compilable, DummyDriver, Kysely, type KyselyConfig, sql as rawSql } from "kysely";
import { storedText } from "../../shared/runtime/stored-text.ts";
import type { RowCheck } from "./damaged-records.ts";
import type { Tables } from "./schema.ts";

// Queries are written once with Kysely, compiled once for an engine, and run as prepared statements. They use the SQL that
// SQLite and PostgreSQL share.

export interface Query<Parameters, Row> {
  readonly compile: (builder: Kysely<Tables>) => { sql: string; values: readonly unknown[] };
  /** The cached responses that a write invalidates. */
  changes?(parameters: Parameters): CacheInvalidation;
  /** Verifies the checksums of a row. */
  readonly check?: RowCheck;
  // Never set. They carry the two types to the functions that run the query.
  readonly parameters?: Parameters;
  readonly row?: Row;
}

/** The animal of the table `patient` that pages and reports name: a horse, which the API serves as `exotic`. */
export const shownSpecies = rawSql<string>`coalesce(patient.precise_species, patient.species)`;

/** Rows that only some transactions stamp. */
export type StampedRows = "soap" | "events" | "items" | "orders";

/** The cached responses that a write invalidates. A null id means no clinic or patient. */
export interface CacheInvalidation {
  readonly clinics?: readonly (number | null)[];
  /** Patients whose connected clinics are invalidated. */
  readonly patients?: readonly (number | null)[];
  /** Set if the write changes the order or number of patients in the lists of these clinics. */
  readonly lists?: true;
  /** Set if the write changes which patients or studies a clinic lists, or their content: its time, ms since 1970. */
  readonly changedAt?: number;
  /** Rows that the write leaves unstamped, in addition to those of patients and studies and to removals. */
  readonly stamps?: StampedRows;
  /** Runs for each changed clinic at the end of the transaction, once the clinic is locked. A function runs once. */
  readonly atEnd?: AtEnd;
}

export type AtEnd = (session: Session, clinic: ChangedClinic) => Promise<void>;

/** A clinic whose version a transaction has raised. Its versions rise in commit order. */
export interface ChangedClinic {
  readonly id: number;
  readonly version: number;
  /** Time of the transaction, ms since 1970, and not less than the last stamp of the clinic. */
  readonly now: number;
}

/** Runs queries, each on its own or inside one transaction. */
export interface Session {
  /** Returns the rows without the damaged ones, which are noted; leftOut() counts them. */
  readonly all: <P, R>(query: Query<P, R>, parameters: P) => Promise<R[]>;
  /** Rejects with a DamagedRecord if the first row is damaged. */
  readonly first: <P, R>(query: Query<P, R>, parameters: P) => Promise<R | undefined>;
  /** Runs the query for each item of the list, in any order. */
  readonly each: <P>(query: Query<P, unknown>, list: readonly P[]) => Promise<void>;
}

/** A temporary error: the database is locked, full, unreadable or missing. The caller may retry later. */
export class StoreUnavailable extends Error {
  /** A sentence that anyone may read: it names no host. */
  readonly reason: string;

  constructor(message: string, { reason, ...options }: ErrorOptions & { readonly reason?: string } = {}) {
    super(message, options);
    this.reason = reason ?? "the database cannot be used now";
  }
}

/** Marks the position of a parameter among the values of a compiled query. */
class Placeholder {
  readonly valueIn: (parameters: unknown) => unknown;
  constructor(valueIn: (parameters: unknown) => unknown) {
    this.valueIn = valueIn;
  }
}

type Select<Row> = Compilable<Row> & { readonly isSelectQueryBuilder: true };

/**
 * Describes a query. `p.clinicId` is a placeholder for the parameter of that name, and `p[2].clinicId` for one of the third
 * item of a list. A placeholder has no value before the query runs. A write also declares which cached responses it changes.
 */
export function query<Parameters, Row>(
  build: (db: Kysely<Tables>, p: Parameters) => Select<Row>,
): Query<Parameters, Row>;
export function query<Parameters, Row>(
  build: (db: Kysely<Tables>, p: Parameters) => Compilable<Row>,
  changes: (parameters: Parameters) => CacheInvalidation,
): Query<Parameters, Row>;
export function query<Parameters, Row>(
  build: (db: Kysely<Tables>, p: Parameters) => Compilable<Row>,
  changes?: (parameters: Parameters) => CacheInvalidation,
): Query<Parameters, Row> {
  return {
    compile(builder) {
      const { sql, parameters } = build(builder, placeholders((given) => given) as Parameters).compile();
      return { sql, values: parameters };
    },
    ...(changes && { changes }),
  };
}

/** Describes a write that changes no cached response. */
export function uncachedWrite<Parameters, Row>(
  build: (db: Kysely<Tables>, p: Parameters) => Compilable<Row>,
): Query<Parameters, Row> {
  return query(build, () => ({}));
}

/** Creates placeholders for parameters; `whole` selects the object that has them. */
function placeholders(whole: (given: unknown) => unknown): object {
  return new Proxy(
    {},
    {
      get(_, property) {
        const name = String(property);
        const valueIn = (given: unknown) => (whole(given) as Record<string, unknown>)[name];
        // Kysely treats any other object than its expressions as a value, and lists it in `parameters` in order.
        return /^\d+$/.test(name) ? placeholders(valueIn) : new Placeholder(valueIn);
      },
    },
  );
}

/** Replaces the placeholders of a compiled query by the parameters, as both engines store them. */
export function filled(values: readonly unknown[], parameters: unknown): unknown[] {
  return values.map((value) => {
    const given: unknown = value instanceof Placeholder ? value.valueIn(parameters) : value;
    return typeof given === "string" ? storedText(given) : given;
  });
}

type Dialect = KyselyConfig["dialect"];

/** Creates a Kysely builder that compiles SQL and never runs it. */
export function sqlBuilder(engine: Omit<Dialect, "createDriver">): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: { ...engine, createDriver: () => new DummyDriver() } });
}
