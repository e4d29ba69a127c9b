import type Database from "better-sqlite3";
import { plural } from "../../shared/platform/cli/output.ts";
import { messageReader, type StoredMessageRow } from "./queries/events/event-log.ts";
import { MESSAGE_COLUMNS, type StoredMessage, withDamage } from "./queries/messages/message-row.ts";

// The messages of a spool that are not as they were stored. For the doctor and for backups.

/** Max ids in a sentence. */
const NAMED_MAX = 5;

export const DAMAGED_MESSAGES_REMEDY =
  "send it again at its device, or restore a backup; a message that was filed before is on the server";

/**
 * Finds the damaged messages of a spool. `isOver` ends the search, which reads every message.
 * @returns a sentence with their ids, null if none was found; and whether all were read
 */
export function damagedMessages(
  db: Database.Database,
  isOver: () => boolean = () => false,
): { readonly sentence: string | null; readonly isComplete: boolean } {
  const read = messageReader(db);
  const names: string[] = [];
  let isComplete = true;
  const rows = db.prepare(`SELECT ${MESSAGE_COLUMNS} FROM message`).iterate();
  for (const row of rows as IterableIterator<StoredMessageRow<StoredMessage>>) {
    if (isOver()) {
      isComplete = false;
      break;
    }
    const isDamaged = withDamage(read<StoredMessage>(row), row.checksum).damage !== undefined;
    if (isDamaged) names.push(`${row.id} of ${row.device}`);
  }
  if (names.length === 0) return { sentence: null, isComplete };
  const further = names.length > NAMED_MAX ? `, and ${names.length - NAMED_MAX} more` : "";
  const named = `${names.slice(0, NAMED_MAX).join(", ")}${further}`;
  return { sentence: `the disk changed ${plural(names.length, "row")} of messages: ${named}`, isComplete };
}
