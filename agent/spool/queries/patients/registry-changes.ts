import type Database from "better-sqlite3";
import { BYTES_COLUMNS, messageReader, type StoredMessageRow } from "../events/event-log.ts";
import type { MessageOutcomes } from "../messages/message-outcome.ts";
import { ROW_BYTES, type StoredBytes } from "../devices/stored-bytes.ts";

// Changes of animals, owners and orders that practice software sent, until the server has each of them. Those of one source leave in
// their order, also if several devices brought them.

/** A change of a message, as the server gets it. */
export interface RegistryDraft {
  /** The software whose external ids the body has. */
  readonly source: string;
  readonly kind: string;
  /** JSON. */
  readonly body: string;
}

/** The kind of a change whose content is the file of its message. */
export const FILE_CHANGE = "file";

/** The body of such a change: the name and the length of the file. */
export interface FileChange {
  readonly name: string;
  readonly bytes: number;
}

export interface QueuedChange extends RegistryDraft {
  readonly id: number;
  readonly device: string;
  /** The id of its message, and when that came first. */
  readonly message: string;
  readonly receivedAt: number;
}

/** The server's decision about a change. A change that was done may have a reason, such as that its animal was merged. */
export interface SettledChange {
  readonly id: number;
  readonly state: "done" | "refused";
  readonly reason: string | null;
  readonly code: string | null;
}

interface StoredChange extends RegistryDraft {
  readonly id: number;
  readonly position: number;
  readonly state: "queued" | SettledChange["state"];
}

export type RegistryChanges = ReturnType<typeof registryChangesOn>;

/** Statements for the operation that files messages. */
export function registryChangesOn(db: Database.Database, storedBytes: StoredBytes) {
  const sql = {
    ofMessage: db.prepare(
      "SELECT id, position, source, kind, body, state FROM registry_change WHERE message = ? ORDER BY position",
    ),
    remove: db.prepare(
      `DELETE FROM registry_change WHERE message = ? AND position >= ?
         RETURNING device, length(body) + ${ROW_BYTES.study} AS bytes`,
    ),
    removeOne: db.prepare(
      `DELETE FROM registry_change WHERE id = ? RETURNING device, length(body) + ${ROW_BYTES.study} AS bytes`,
    ),
    insert: db.prepare(
      `INSERT INTO registry_change (device, message, position, source, kind, body, state)
         SELECT device, id, @position, @source, @kind, @body, 'queued' FROM message WHERE id = @message
         RETURNING device, length(body) + ${ROW_BYTES.study} AS bytes`,
    ),
  };
  const count = (rows: unknown[], sign: 1 | -1) => {
    for (const { device, bytes } of rows as { device: string; bytes: number }[]) storedBytes.add(device, sign * bytes);
  };
  const storedOf = (message: string) => sql.ofMessage.all(message) as StoredChange[];
  return {
    /**
     * Queues the changes of a message. One that is queued or done with the same content stays, so that a message that is read
     * again sends only what was refused or is different.
     */
    queue(message: string, drafts: readonly RegistryDraft[]): void {
      const stored = storedOf(message);
      for (const { draft, position, known } of newOf(stored, drafts)) {
        const { source, kind, body } = draft;
        if (known !== undefined) count(sql.removeOne.all(known.id), -1);
        count(sql.insert.all({ message, position, source, kind, body }), 1);
      }
      if (stored.length > drafts.length) count(sql.remove.all(message, drafts.length), -1);
    },

    /** The changes that `queue` would queue. */
    unsent(message: string, drafts: readonly RegistryDraft[]): RegistryDraft[] {
      return newOf(storedOf(message), drafts).map(({ draft }) => draft);
    },

    /** Removes the changes of a message that is removed. */
    removeOf(message: string): void {
      count(sql.remove.all(message, 0), -1);
    },
  };
}

/** Returns the drafts that are neither queued nor done with the same content, and what is stored at their place. */
function newOf(stored: readonly StoredChange[], drafts: readonly RegistryDraft[]) {
  return drafts.flatMap((draft, position) => {
    const known = stored.find((change) => change.position === position);
    const isSame = known?.source === draft.source && known.kind === draft.kind && known.body === draft.body;
    return isSame && known.state !== "refused" ? [] : [{ draft, position, known }];
  });
}

/** Part of operationsOn(). */
export function registryChangeOperationsOn(
  db: Database.Database,
  changes: Pick<RegistryChanges, "unsent">,
  outcomes: MessageOutcomes,
) {
  const readMessage = messageReader(db);
  const sql = {
    sources: db
      .prepare("SELECT source FROM registry_change WHERE state = 'queued' GROUP BY source ORDER BY MIN(id)")
      .pluck(),
    next: db.prepare(
      `SELECT c.id, c.device, c.message, c.source, c.kind, c.body, m.received_at AS receivedAt
         FROM registry_change c JOIN message m ON m.id = c.message
         WHERE c.state = 'queued' AND c.source = ? ORDER BY c.id LIMIT ?`,
    ),
    settle: db
      .prepare(
        `UPDATE registry_change SET state = @state, reason = @reason, code = @code, settled_at = @at
         WHERE id = @id AND state = 'queued' RETURNING message`,
      )
      .pluck(),
    message: db.prepare(
      `SELECT ${BYTES_COLUMNS} FROM message WHERE id = (SELECT message FROM registry_change WHERE id = ?)`,
    ),
  };
  return {
    /** The sources with queued changes, the longest waiting first. */
    registrySources(): string[] {
      return sql.sources.all() as string[];
    },

    /**
     * The first queued changes of a source, or one file, and whether more are queued. They have at most `maxChars` characters, or are
     * one.
     */
    queuedChanges(source: string, limit: number, maxChars: number): { batch: QueuedChange[]; more: boolean } {
      const queued = sql.next.all(source, limit + 1) as QueuedChange[];
      let chars = 0;
      const isFile = (change: QueuedChange | undefined) => change?.kind === FILE_CHANGE;
      const end = queued.findIndex((change, index) => {
        chars += change.body.length;
        return index > 0 && (index === limit || isFile(queued[0]) || isFile(change) || chars > maxChars);
      });
      return end < 0 ? { batch: queued, more: false } : { batch: queued.slice(0, end), more: true };
    },

    /** Returns the bytes of the message that has the change. */
    messageOfChange(id: number): Uint8Array {
      const row = sql.message.get(id) as StoredMessageRow<{ session: number; bytes: Uint8Array }> | undefined;
      return row === undefined ? new Uint8Array(0) : readMessage<{ bytes: Uint8Array }>(row).bytes;
    },

    /** Stores the server's decisions, and what they make of the messages. */
    settleChanges(settled: readonly SettledChange[], at: number): void {
      for (const change of settled) {
        const message = sql.settle.get({ ...change, at }) as string | undefined;
        if (message !== undefined) outcomes.conclude(message);
      }
    },

    /** The changes of a message that would be sent if it were stored with these. */
    unsentChanges(message: string, drafts: readonly RegistryDraft[]): RegistryDraft[] {
      return changes.unsent(message, drafts);
    },
  };
}
