import { readFileSync } from "node:fs";
import { Client } from "pg";
import type { Postgres } from "../support/postgres.ts";

// Processor time from /proc, in milliseconds.

/** A tick of the times in /proc, in milliseconds. */
const TICK_MS = 10;

/** @returns the processor time of a process */
export function processTime(pid: number | undefined): number {
  return sum(numbersOf(pid).slice(11, 13)) * TICK_MS;
}

/** @returns the processor time of PostgreSQL's sessions */
export async function postgresTime(postgres: Postgres): Promise<number> {
  const sessions = await sessionsOf(postgres.url());
  const parent = sessions.map(({ pid }) => numbersOf(pid)[1]).find((pid) => pid !== undefined);
  const times = sessions.filter(({ own }) => !own).flatMap(({ pid }) => numbersOf(pid).slice(11, 13));
  // The parent has its own time and that of sessions that ended.
  return sum([...times, ...numbersOf(parent).slice(11, 15)]) * TICK_MS;
}

interface Session {
  readonly pid: number;
  /** The session of this query. */
  readonly own: boolean;
}

async function sessionsOf(url: string): Promise<Session[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Session>("select pid, pid = pg_backend_pid() as own from pg_stat_activity")).rows;
  } finally {
    await client.end();
  }
}

/**
 * Returns the fields of a process after its name (proc(5)): 1 is its parent, 11 to 14 its times and those of ended children. None
 * if it has ended.
 */
function numbersOf(pid: number | undefined): number[] {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return [];
  }
  return stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
