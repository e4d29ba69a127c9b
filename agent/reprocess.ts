import type Database from "better-sqlite3";
import { resultLine } from "../shared/flag-text.ts";
import { Directory } from "./directory.ts";
import { assess, type FilingDevice } from "./filing.ts";
import { BYTES_COLUMNS, messageReader } from "./record.ts";
import { revise } from "./revision.ts";
import { SendError, type Server } from "./server.ts";
import { searchSpool, type SpoolCalls, writeSpool } from "./spool.ts";
import {
  type MessageState,
  type Operations,
  operationsOn,
  type Settlement,
  type StoredMessage,
} from "./spool-operations.ts";

// Runs settled messages through the stages again, after a profile, a map or a patient was mended: first what would be other,
// then, if that is wanted, the same into the spool, from where the agent sends it.

export interface Wanted {
  readonly states: readonly MessageState[];
  /** Milliseconds since 1970. */
  readonly since: number;
}

export interface Reprocessed {
  readonly message: StoredMessage & { readonly state: MessageState; readonly reason: string | null };
  readonly settlement: Settlement;
  /** Accessions that have their result now. */
  readonly resulted: readonly string[];
  /** Old against new, a line each, `-` and `+`; none where nothing would change. */
  readonly diff: readonly string[];
}

/** What each wanted message would come to now; nothing is written. `progress`: how many of how many are done. */
export async function reassess(
  folder: string,
  wanted: Wanted,
  deviceById: (id: string) => FilingDevice | undefined,
  matchByName: boolean,
  progress: (done: number, of: number) => void,
): Promise<Reprocessed[]> {
  return searchSpool(folder, async (db) => {
    const ids = wantedIds(db, wanted);
    const done: Reprocessed[] = [];
    for (const id of ids) {
      done.push(await reassessOne(db, id, deviceById, matchByName));
      progress(done.length, ids.length);
    }
    return done;
  });
}

/** Stores what would be other; a running agent sends it with its next round. How many messages that were. */
export function store(folder: string, reprocessed: readonly Reprocessed[]): number {
  const changed = reprocessed.filter(({ diff }) => diff.length > 0);
  for (const { settlement, resulted } of changed) {
    writeSpool(folder, (operations) => {
      operations.settle(settlement);
      operations.noteOrders(resulted, "resulted");
    });
  }
  return changed.length;
}

function wantedIds(db: Database.Database, { states, since }: Wanted): string[] {
  const places = states.map(() => "?").join(", ");
  return db
    .prepare(
      `SELECT id FROM message WHERE state IN (${places}) AND received_at >= ? AND completed_by IS NULL ORDER BY received_at, rowid`,
    )
    .pluck()
    .all(...states, since) as string[];
}

async function reassessOne(
  db: Database.Database,
  id: string,
  deviceById: (id: string) => FilingDevice | undefined,
  matchByName: boolean,
): Promise<Reprocessed> {
  const row = db
    .prepare(
      `SELECT id, device, profile, received_at AS receivedAt, incomplete, state, reason, ${BYTES_COLUMNS} FROM message WHERE id = ?`,
    )
    .get(id);
  const message = messageReader(db)<Reprocessed["message"]>(row);
  const { spool, resulted } = callsOn(db);
  // The patients on disk decide: the running agent keeps them in step.
  const lookup = { spool, directory: new Directory(spool, away), matchByName };
  const device = deviceById(message.device);
  const settlement = await assess(message, device, lookup);
  // Of a device that the configuration has no more, or whose messages take another way, nothing can be said.
  return { message, settlement, resulted, diff: device === undefined ? [] : diffOf(db, message, settlement) };
}

const refused = () => Promise.reject(new SendError("transient", "nothing is fetched while messages are reassessed"));
const away: Server = { get: refused, post: refused };

/** A spool's calls on a database that is only read; what it was to note is gathered. */
function callsOn(db: Database.Database): { spool: SpoolCalls; resulted: string[] } {
  const operations = operationsOn(db);
  const resulted: string[] = [];
  const run = (name: keyof Operations, args: readonly unknown[]) =>
    (operations[name] as (...values: readonly unknown[]) => unknown)(...args);
  const spool = {
    call: async (name: keyof Operations, ...args: unknown[]) => run(name, args),
    callLater: (_name: "noteOrders", accessions: string[]) => void resulted.push(...accessions),
  } as unknown as SpoolCalls;
  return { spool, resulted };
}

function diffOf(db: Database.Database, { state, reason }: Reprocessed["message"], settlement: Settlement): string[] {
  const operations = operationsOn(db);
  const lines: string[] = [];
  for (const draft of settlement.studies) {
    const held = operations.latestStudy(draft.body.dedupe_key);
    const next = held === null ? draft : revise(held, draft);
    if (next === null) continue;
    const before =
      held === null ? [] : [`for ${held.body.patient_fp ?? "nobody"}`, ...held.body.results.map(resultLine)];
    const after = [`for ${next.body.patient_fp ?? "nobody"}`, ...next.body.results.map(resultLine)];
    lines.push(
      ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
      ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
    );
  }
  // A study that is the same leaves its message where the server's answer put it.
  const isSame =
    settlement.studies.length > 0 ? lines.length === 0 : settlement.state === state && settlement.reason === reason;
  if (isSame) return [];
  const was = `${state}${reason === null ? "" : `: ${reason}`}`;
  const is = settlement.studies.length > 0 ? "to be sent" : settlement.state;
  return [`- ${was}`, `+ ${is}${settlement.reason === null ? "" : `: ${settlement.reason}`}`, ...lines];
}
