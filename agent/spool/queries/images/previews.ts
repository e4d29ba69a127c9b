import type Database from "better-sqlite3";

// The queue of small pictures for the server: the images of studies that the server has.

/** An image whose picture is queued. */
export interface QueuedPreview {
  readonly message: string;
  /** The study at the server. */
  readonly fp: string;
  /** Index of the image in its study, from 1. */
  readonly position: number;
  readonly headerBytes: number;
  readonly transferSyntax: string;
  /** Why it was not drawn or sent before; null at first. */
  readonly reason: string | null;
}

/**
 * refused: by the server. undrawable: the image has no picture, or its file is gone. The reason of a drawing that had no end twice is
 * its PictureFault.
 */
type PreviewState = "sent" | "refused" | "undrawable";

/** Part of operationsOn(). `picturesMax` is the limit of a study. */
export function previewOperationsOn(db: Database.Database, picturesMax: number) {
  const sql = {
    last: db.prepare("SELECT COALESCE(MAX(position), 0) FROM preview WHERE fp = ?").pluck(),
    queue: db.prepare(
      `INSERT INTO preview (message, fp, position, state)
       SELECT link.message, @target, @last + ROW_NUMBER() OVER (ORDER BY link.message), 'queued'
       FROM message_study link JOIN instance i ON i.message = link.message
       WHERE link.fp = @fp AND link.revision = @revision AND i.removed_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM preview known WHERE known.message = link.message AND known.fp = @target)
       ORDER BY link.message LIMIT @limit`,
    ),
    next: db.prepare(
      `SELECT p.message, p.fp, p.position, i.header_bytes AS headerBytes, i.transfer_syntax_uid AS transferSyntax, p.reason
       FROM preview p JOIN instance i ON i.message = p.message WHERE p.state = 'queued'
       ORDER BY p.attempts, p.message LIMIT 1`,
    ),
    settle: db.prepare("UPDATE preview SET state = ?, reason = ? WHERE message = ? AND fp = ?"),
    delay: db.prepare("UPDATE preview SET attempts = attempts + 1, reason = ? WHERE message = ? AND fp = ?"),
  };
  return {
    /** Queues the pictures of a study that the server took under the fp `target`, the first ones of a study. */
    queuePreviews(fp: string, revision: number, target: string): void {
      const last = sql.last.get(target) as number;
      sql.queue.run({ fp, revision, target, last, limit: picturesMax - last });
    },

    /** The queued picture with the fewest attempts, the oldest first; null if none is queued. */
    nextPreview(): QueuedPreview | null {
      return (sql.next.get() as QueuedPreview | undefined) ?? null;
    },

    settlePreview({ message, fp }: QueuedPreview, state: PreviewState, reason: string | null): void {
      sql.settle.run(state, reason, message, fp);
    },
    delayPreview({ message, fp }: QueuedPreview, reason: string): void {
      sql.delay.run(reason, message, fp);
    },
  };
}
