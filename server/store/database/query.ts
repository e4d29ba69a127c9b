import { type Compilable, DummyDriver, Kysely, type KyselyConfig } from "kysely";
import type { Tables } from "./schema.ts";

// Queries are written once with Kysely, compiled once for an engine, and run as prepared statements. Everything that asks
// the database is a promise, and the SQL is what SQLite and PostgreSQL both know.

/** A query and the parameters it waits for. */
export interface Query<Parameters, Row> {
  readonly compile: (builder: Kysely<Tables>) => { sql: string; values: readonly unknown[] };
  /** For a write: the cached responses that it invalidates. */
  changes?(parameters: Parameters): CacheInvalidation;
  // Never set: they carry the two types to the functions that run the query.
  readonly parameters?: Parameters;
  readonly row?: Row;
}

/** The cached responses that a write invalidates. A null id stands for no clinic or patient. */
export interface CacheInvalidation {
  readonly clinics?: readonly (number | null)[];
  /** Patients whose connected clinics are invalidated. */
  readonly patients?: readonly (number | null)[];
  /** Set if the write changes the order or number of patients in the lists of these clinics. */
  readonly lists?: true;
}

/** Returns an empty invalidation: the write changes no cached response. */
export function noInvalidation(): CacheInvalidation {
  return {};
}

/** Runs queries: each on its own, or inside one transaction. */
export interface Session {
  readonly all: <P, R>(query: Query<P, R>, parameters: P) => Promise<R[]>;
  readonly first: <P, R>(query: Query<P, R>, parameters: P) => Promise<R | undefined>;
  /** Runs it for each of the parameters, in any order. */
  readonly each: <P>(query: Query<P, unknown>, list: readonly P[]) => Promise<void>;
}

/** The database cannot serve just now (locked, full, unreadable, not there): refuse and let the caller come again. */
export class StoreUnavailable extends Error {}

/** Where a value stands among the parameters. */
class Placeholder {
  readonly valueIn: (parameters: unknown) => unknown;
  constructor(valueIn: (parameters: unknown) => unknown) {
    this.valueIn = valueIn;
  }
}

type Select<Row> = Compilable<Row> & { readonly isSelectQueryBuilder: true };

/**
 * Describes a query; `p.clinicId` stands for the value given under that name when it runs, and cannot be looked at here;
 * `p[2].clinicId`, where it runs with a list, for that of its third.
 * One that writes also says whose answers it changes, since those may be kept in a cache.
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

/** Stands for parameters that are not given yet; `whole` finds them in what is given. */
function placeholders(whole: (given: unknown) => unknown): object {
  return new Proxy(
    {},
    {
      get(_, property) {
        const name = String(property);
        const valueIn = (given: unknown) => (whole(given) as Record<string, unknown>)[name];
        // Kysely takes anything that is no expression of its own for a value and lists it in `parameters`, in order.
        return /^\d+$/.test(name) ? placeholders(valueIn) : new Placeholder(valueIn);
      },
    },
  );
}

/** The values of a compiled query, with the parameters in their places. */
export function filled(values: readonly unknown[], parameters: unknown): unknown[] {
  return values.map((value) => (value instanceof Placeholder ? value.valueIn(parameters) : value));
}

type Dialect = KyselyConfig["dialect"];

/** A builder on a driver that does nothing: Kysely writes the SQL and never runs it. */
export function sqlBuilder(engine: Omit<Dialect, "createDriver">): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: { ...engine, createDriver: () => new DummyDriver() } });
}
