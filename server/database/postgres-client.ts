import {
  Client,
  type ClientBase,
  type ClientConfig,
  DatabaseError,
  Pool,
  type PoolClient,
  type PoolConfig,
  type QueryConfig,
  type QueryResult,
} from "pg";
import { connectionFault, isUnreached } from "../../shared/network/connection-fault.ts";
import { StoreUnavailable } from "./query.ts";
import type { PoolState } from "./store.ts";
import { errorCode, errorMessage } from "../../shared/runtime/error-message.ts";

// Connections to PostgreSQL and their errors. Each temporary error becomes StoreUnavailable.

/** Max connections for reading, and as many for writing. PostgreSQL's default limit is 100 for all clients. */
const CONNECTIONS_MAX = 5;

/** Max time that a request waits for a connection. */
export const CONNECT_WAIT_MS = 5000;

/** The error of a pool whose connections are all in use. The library gives it words alone. */
const POOL_BUSY = "timeout exceeded when trying to connect";

/**
 * Whatever the settings of the user: a commit waits for the disk and for the standby, and a cancelled wait is a warning. Only locks have
 * a time limit: an import takes minutes, and a page that downloads an export reads it in its own time.
 */
const durable = (isLocal: boolean) =>
  `select set_config('synchronous_commit', 'on', ${isLocal}) where current_setting('synchronous_commit') in ('off', 'local');
  select set_config('transaction_timeout', '0', ${isLocal}) where current_setting('transaction_timeout', true) <> '0'`;
const bounds = (scope: "session" | "local", lockWaitMs: number) => `
  set ${scope} statement_timeout = 0;
  set ${scope} idle_in_transaction_session_timeout = 0;
  set ${scope} client_min_messages = notice;
  set ${scope} lock_timeout = ${lockWaitMs}`;

/** The mode of a statement of its own. It waits for a concurrent one on its row; the stricter modes abort it. */
const READ_COMMITTED = "isolation level read committed";

/** Max time in ms that a statement waits for a lock, unless the opener of the pool says another. */
const LOCK_WAIT_MS = 5000;

/**
 * The clients of a pooler, as pgbouncer in its transaction mode, and how long each waits for a lock. Each transaction may have another
 * session of PostgreSQL: it brings its settings along, and no statement is prepared under a name.
 */
const pooled = new WeakMap<ClientBase, number>();

/** Max time for a response. Statements take milliseconds, so that a longer wait means a lost database. */
const RESPONSE_WAIT_MS = 15_000;

/** Opens a pool of connections to a database that takes writes. */
export function openPool(config: PoolConfig, lockWaitMs = LOCK_WAIT_MS): Pool {
  // Sends the queries of an import without waiting for each response, and waits for `onConnect`, which the types of pg lack.
  const untyped = { pipeline: true, onConnect: (client: ClientBase) => beginSession(client, lockWaitMs) };
  const pool = new Pool({ max: CONNECTIONS_MAX, query_timeout: RESPONSE_WAIT_MS, ...config, ...untyped });
  // The pool replaces a lost idle connection. A query on a lost connection reports the error itself.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

async function beginSession(client: ClientBase, lockWaitMs: number): Promise<void> {
  const [{ rows }] = await Promise.all([execute(client, "select pg_backend_pid() as pid"), requireWrites(client)]);
  const [{ pid }] = rows as [{ pid: number }];
  // A pooler gives its own number to the client. HAProxy passes that of PostgreSQL on. The types of pg lack it.
  if (pid !== (client as ClientBase & { processID: number | null }).processID) pooled.set(client, lockWaitMs);
  else {
    const alone = `set session characteristics as transaction ${READ_COMMITTED}`;
    await execute(client, `${alone}; ${bounds("session", lockWaitMs)}; ${durable(false)}`);
  }
}

/** Begins a transaction in that mode. `lock` precedes the first query, which fixes the snapshot. */
export async function begin(client: ClientBase, mode = READ_COMMITTED, lock?: string): Promise<void> {
  const lockWaitMs = pooled.get(client);
  const settings = lockWaitMs === undefined ? [] : [bounds("local", lockWaitMs)];
  const afterLock = lockWaitMs === undefined ? [] : [durable(true)];
  await execute(client, [`begin ${mode}`, ...settings, ...(lock === undefined ? [] : [lock]), ...afterLock].join("; "));
}

/** Begins the migration of a connection that has no settings yet. It waits for locks without end, unless it sets a limit later. */
export async function beginMigration(client: ClientBase): Promise<void> {
  await execute(client, `begin ${READ_COMMITTED}; ${bounds("local", 0)}; ${durable(true)}`);
}

/** @throws StoreUnavailable on a standby, and on a database that was made read-only, as a provider does when its disk is full */
export async function requireWrites(client: ClientBase): Promise<void> {
  const takesWrites = "not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'off'";
  const { rows } = await execute(client, `select ${takesWrites} as "takesWrites"`);
  if ((rows as [{ takesWrites: boolean }])[0].takesWrites) return;
  throw new StoreUnavailable("the database of DATABASE_URL takes no writes", {
    reason: "the database takes no writes",
  });
}

/** @returns the connections of a pool */
export function poolState(name: string, { totalCount, idleCount, waitingCount }: Pool): PoolState {
  return { name, open: totalCount, idle: idleCount, waiting: waitingCount };
}

/** Runs the work on a connection of the pool. Rolls back if the work fails. */
export async function withPoolClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw unavailable(error);
  });
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    // After a temporary error the state of the connection is unknown. Closing it rolls back too.
    const isUsable = !(error instanceof StoreUnavailable) && (await rollback(client));
    client.release(!isUsable);
    throw error;
  }
}

/** @returns false if the connection is lost */
async function rollback(client: PoolClient): Promise<boolean> {
  try {
    await client.query("rollback");
    return true;
  } catch {
    return false;
  }
}

/** Runs the work on a connection of its own. */
export async function withClient<T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(config);
  client.on("error", () => undefined);
  await client.connect().catch((error: unknown) => {
    throw unavailable(error);
  });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs a statement, with errors that are safe to log. */
export async function execute(client: ClientBase, statement: string | QueryConfig): Promise<QueryResult> {
  try {
    const isNamed = typeof statement !== "string" && statement.name !== undefined;
    if (!isNamed || !pooled.has(client)) return await client.query(statement);
    const { name: _name, ...unnamed } = statement;
    return await client.query(unnamed);
  } catch (error) {
    throw isTemporary(error) ? unavailable(error) : withoutValues(error);
  }
}

/** Runs a statement outside of any transaction. After a pooler it has one of its own, which brings the settings along. */
export async function executeAlone(client: ClientBase, statement: QueryConfig): Promise<QueryResult> {
  if (!pooled.has(client)) return execute(client, statement);
  // Both are sent together.
  const [, result] = await Promise.all([begin(client), execute(client, statement)]);
  await commit(client);
  return result;
}

/** Whether PostgreSQL aborted the transaction because of a concurrent one: serialization failure or deadlock. */
export function isSerializationFailure(error: unknown): boolean {
  return error instanceof DatabaseError && /^(40001|40P01)$/.test(error.code ?? "");
}

/** Whether a unique key was taken. */
export function isTakenKey(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "23505";
}

/** Whether the user has no right to a table or schema, which belongs to another. */
export function isDenied(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === "42501";
}

/** Whether PostgreSQL refuses this user or database, which waiting does not fix. */
export function isRefused(error: unknown): boolean {
  const { cause } = error as Error;
  return cause instanceof DatabaseError && /^(28|3D|42)/.test(cause.code ?? "");
}

/** Whether a statement waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  const { cause } = error as Error;
  return error instanceof StoreUnavailable && cause instanceof DatabaseError && cause.code === "55P03";
}

// Lost connection, no disk space or connections left, shutdown or start, I/O error, read-only standby, lock timeout,
// cancelled statement. 0A000: a newer program changed the table of a prepared statement.
const TEMPORARY_ERRORS = /^(08|53|57P|58|25006|55P03|57014|0A000)/;

/** An error of PostgreSQL has a code; any other error belongs to the connection. */
function isTemporary(error: unknown): boolean {
  return !(error instanceof DatabaseError) || TEMPORARY_ERRORS.test(error.code ?? "");
}

export function unavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const words = [errorCode(error), errorMessage(error)].filter(Boolean).join(", ");
  const reason = isUnreached(error) ? connectionFault(error as Error) : words;
  return new StoreUnavailable(`the database cannot be used now: ${reason}`, { cause: error });
}

/** Removes the values of the row from an error, because logs must not contain names. */
function withoutValues(error: unknown): unknown {
  if (error instanceof DatabaseError) {
    error.detail = undefined;
    error.where = undefined;
  }
  return error;
}

/** The connection was lost during a commit, or the commit did not wait for the standby: it may be durable or not. */
export class UnknownCommit extends StoreUnavailable {}

/** Whether another connection may work: this one was lost, or PostgreSQL shuts down or starts. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) return false;
  if (error instanceof UnknownCommit) return true;
  const { cause } = error;
  if (cause instanceof DatabaseError) return /^(08|57P)/.test(cause.code ?? "");
  return cause instanceof Error && cause.message !== POOL_BUSY;
}

/**
 * Commits a transaction that runs again after a commit that was cut off. A message in the log makes the commit wait for the
 * synchronous standby although it wrote nothing: it may have read rows of the first run that no standby has.
 */
export function commitLogged(client: ClientBase): Promise<void> {
  return commit(client, "select pg_logical_emit_message(true, 'vetwire', ''); commit");
}

/** Commits the transaction of the client. @throws UnknownCommit if it may be durable or not */
export async function commit(client: ClientBase, statement = "commit"): Promise<void> {
  let warning: string | undefined;
  // PostgreSQL reports a cancelled wait for the standby as a success with a warning.
  const onNotice = ({ code, message }: { code?: string | undefined; message?: string | undefined }) => {
    warning ??= [code, message].filter(Boolean).join(", ");
  };
  client.on("notice", onNotice);
  let results: QueryResult[];
  try {
    // Bounded, because a primary that is cut off from its synchronous standbys waits for them without end.
    const bounded = { text: statement, query_timeout: RESPONSE_WAIT_MS };
    results = [await execute(client, bounded)].flat();
  } catch (error) {
    const isUnknown = error instanceof StoreUnavailable && isConnectionLost(error);
    throw isUnknown ? new UnknownCommit(error.message, { cause: error.cause }) : error;
  } finally {
    client.off("notice", onNotice);
  }
  if (warning !== undefined) throw new UnknownCommit(`the commit may not be durable: ${warning}`);
  // PostgreSQL responds to the commit of a failed transaction with a rollback and no error.
  if (results.at(-1)?.command !== "COMMIT")
    throw new Error("expected a commit, got a rollback of a failed transaction");
}
