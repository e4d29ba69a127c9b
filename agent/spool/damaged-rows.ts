import type Database from "better-sqlite3";
import { plural } from "../../shared/cli/output.ts";
import { messageReader, type StoredMessageRow } from "./queries/events/event-log.ts";
import { MESSAGE_COLUMNS, type StoredMessage, withDamage } from "./queries/messages/message-row.ts";
import { identifierCheck, orderCheck, patientCheck, studyCheck } from "./queries/checks/row-checks.ts";

// The rows of a spool that are not as they were stored, and what can be rescued. For the doctor and for backups.

export interface DamagedRows {
  /** A sentence with the ids of the rows of one kind. */
  readonly sentence: string;
  readonly remedy: string;
}

/** Max ids in a sentence. */
const NAMED_MAX = 5;

type ReadMessage = ReturnType<typeof messageReader>;

interface Kind {
  readonly noun: string;
  readonly remedy: string;
  readonly select: string;
  /** Takes a row of `select`. @returns the name of a damaged row; null for a whole one */
  readonly damaged: (row: never, read: ReadMessage) => string | null;
}

const KINDS: readonly Kind[] = [
  {
    noun: "messages",
    remedy: "send it again at its device, or restore a backup; a message that was filed before is on the server",
    select: `SELECT ${MESSAGE_COLUMNS} FROM message`,
    damaged: (row: StoredMessageRow<StoredMessage>, read) =>
      withDamage(read<StoredMessage>(row), row.checksum).damage === undefined ? null : `${row.id} of ${row.device}`,
  },
  {
    noun: "studies",
    remedy: "agent reprocess makes it again from its messages; a study that was filed before is whole on the server",
    select: `SELECT fp, revision, dedupe_key AS dedupeKey, patient_fp AS patientFp, body, snapshot, state, checksum FROM study`,
    damaged: (row: Parameters<typeof studyCheck.isWhole>[0] & { readonly state: string }) =>
      studyCheck.isWhole(row) ? null : `${row.fp} (${row.state})`,
  },
  {
    noun: "patients",
    remedy: "start the agent again: it fetches all patients from the server",
    select: "SELECT fp, body, checksum FROM patient",
    damaged: (row: Parameters<typeof patientCheck.isWhole>[0]) => (patientCheck.isWhole(row) ? null : row.fp),
  },
  {
    noun: "identifiers",
    remedy: "start the agent again: it fetches all patients from the server",
    select: "SELECT identifier, patient_fp AS patientFp, checksum FROM identifier",
    damaged: (row: Parameters<typeof identifierCheck.isWhole>[0]) =>
      identifierCheck.isWhole(row) ? null : `of ${row.patientFp}`,
  },
  {
    noun: "orders",
    remedy: "place it again with agent order",
    select: `SELECT accession, device, patient_fp AS patientFp, tests, created_at AS createdAt, checksum FROM test_order`,
    damaged: (row: Parameters<typeof orderCheck.isWhole>[0]) => (orderCheck.isWhole(row) ? null : row.accession),
  },
];

/** Finds the damaged rows of a spool. `isOver` ends the search, which reads every row. */
export function damagedRows(
  db: Database.Database,
  isOver: () => boolean = () => false,
): { readonly damage: DamagedRows[]; readonly isComplete: boolean } {
  const read = messageReader(db);
  const damage: DamagedRows[] = [];
  for (const { noun, remedy, select, damaged } of KINDS) {
    const names: string[] = [];
    for (const row of db.prepare(select).iterate()) {
      if (isOver()) return { damage, isComplete: false };
      const name = damaged(row as never, read);
      if (name !== null) names.push(name);
    }
    if (names.length === 0) continue;
    const further = names.length > NAMED_MAX ? `, and ${names.length - NAMED_MAX} more` : "";
    const sentence = `the disk changed ${plural(names.length, "row")} of ${noun}: ${names.slice(0, NAMED_MAX).join(", ")}${further}`;
    damage.push({ sentence, remedy });
  }
  return { damage, isComplete: true };
}
