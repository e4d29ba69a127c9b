import type Database from "better-sqlite3";
import type { ForwardOperations } from "./forwards.ts";
import { INSTANCE_FILE_COLUMNS, type InstanceFile, type InstanceContent } from "./instance-file.ts";
import type { MessageState } from "../messages/message-outcome.ts";
import { NO_SESSION } from "../messages/messages.ts";
import { type StoredBytes, ROW_BYTES } from "../devices/stored-bytes.ts";

// DICOM instances. Each is a message whose dataset is a file named by the message's id.

/** An instance whose file is stored. */
export interface NewInstance {
  readonly message: string;
  readonly device: string;
  readonly receivedAt: number;
  /** Time without another instance after which the study is complete. */
  readonly quietMs: number;
  /** Time by this machine's clock at which the quiet time ends; by default counted from `receivedAt`. */
  readonly dueAt?: number;
  /** The file up to the dataset. */
  readonly head: Uint8Array;
  readonly study: string;
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly transferSyntax: string;
  readonly callingAe: string;
  /** Digest of the dataset. */
  readonly sha256: string;
  readonly fileBytes: number;
  /** Bytes of the file before the pixel data. */
  readonly headerBytes: number;
}

export interface StoredInstance {
  readonly message: string;
  readonly device: string;
  readonly receivedAt: number;
  readonly state: MessageState;
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly transferSyntax: string;
  readonly sha256: string;
  readonly headerBytes: number;
  /** The header that noteHeader() stored. Null if it was not read yet. */
  readonly header: string | null;
  /** Not 0 if another instance has the same SOP Instance UID and other content. */
  readonly hasTwin: number;
}

/** Part of operationsOn(). */
export function instanceOperationsOn(
  db: Database.Database,
  { queueForwards }: Pick<ForwardOperations, "queueForwards">,
  storedBytes: StoredBytes,
) {
  const sql = {
    sameInstance: db.prepare(
      `SELECT i.message, m.bytes AS head, i.sha256 FROM instance i JOIN message m ON m.id = i.message
       WHERE i.sop_instance_uid = @sopInstance AND i.sha256 = @sha256 AND i.transfer_syntax_uid = @transferSyntax`,
    ),
    insertImageMessage: db.prepare(
      `INSERT INTO message (id, session, ordinal, device, profile, received_at, bytes, state)
       VALUES (@message, ${NO_SESSION}, (SELECT COALESCE(MAX(ordinal), 0) + 1 FROM message WHERE session = ${NO_SESSION}),
         @device, 'dicom', @receivedAt, @head, 'pending')`,
    ),
    insertInstance: db.prepare(
      `INSERT INTO instance (message, study_uid, sop_class_uid, sop_instance_uid, transfer_syntax_uid, calling_ae_title, sha256, file_bytes, header_bytes, stored_at)
       VALUES (@message, @study, @sopClass, @sopInstance, @transferSyntax, @callingAe, @sha256, @fileBytes, @headerBytes, @receivedAt)`,
    ),
    awaitStudy: db.prepare(
      `INSERT INTO pending_image_study (study_uid, due_at, quiet_ms) VALUES (@study, @dueAt, @quietMs)
       ON CONFLICT (study_uid) DO UPDATE SET due_at = MAX(due_at, @dueAt), quiet_ms = MAX(quiet_ms, @quietMs)`,
    ),
    hasInstance: db.prepare("SELECT 1 FROM instance WHERE message = ?").pluck(),
    instancesOf: db.prepare(
      `SELECT i.message, m.device, m.received_at AS receivedAt, m.state, i.sop_class_uid AS sopClass, i.sop_instance_uid AS sopInstance,
         i.transfer_syntax_uid AS transferSyntax, i.sha256, i.header_bytes AS headerBytes, i.header,
         EXISTS (SELECT 1 FROM instance o WHERE o.sop_instance_uid = i.sop_instance_uid AND o.message <> i.message) AS hasTwin
       FROM instance i JOIN message m ON m.id = i.message WHERE i.study_uid = ? ORDER BY i.message`,
    ),
    noteHeader: db.prepare("UPDATE instance SET header = ? WHERE message = ?"),
    held: db.prepare(
      `SELECT ${INSTANCE_FILE_COLUMNS} FROM instance i JOIN message m ON m.id = i.message WHERE i.sop_instance_uid = ? AND i.removed_at IS NULL ORDER BY i.message`,
    ),
    storedAgain: db.prepare("UPDATE instance SET stored_at = ?, removed_at = NULL WHERE message = ?"),
  };
  return {
    /**
     * Stores an instance and returns null. If a row has the same dataset already, returns that row and stores nothing.
     * Another dataset under the same SOP Instance UID gets a row of its own.
     */
    addInstance({ quietMs, dueAt, ...instance }: NewInstance): InstanceContent | null {
      const same = sql.sameInstance.get(instance) as InstanceContent | undefined;
      if (same !== undefined) return same;
      sql.insertImageMessage.run(instance);
      sql.insertInstance.run(instance);
      queueForwards(instance.message);
      storedBytes.addMessage(instance.device, instance.receivedAt, instance.head.length + ROW_BYTES.message);
      sql.awaitStudy.run({ study: instance.study, dueAt: dueAt ?? instance.receivedAt + quietMs, quietMs });
      return null;
    },

    hasInstance(message: string): boolean {
      return sql.hasInstance.get(message) !== undefined;
    },
    instancesOf(study: string): StoredInstance[] {
      return sql.instancesOf.all(study) as StoredInstance[];
    },
    noteHeader(message: string, header: string): void {
      sql.noteHeader.run(header, message);
    },

    /** The instances whose file is present under a SOP Instance UID. */
    instanceFiles(sopInstance: string): InstanceFile[] {
      return sql.held.all(sopInstance) as InstanceFile[];
    },

    /** Marks an instance as stored at that time; its file is in place. */
    noteStoredAgain(message: string, at: number): void {
      sql.storedAgain.run(at, message);
    },
  };
}
