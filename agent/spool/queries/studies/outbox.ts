import type Database from "better-sqlite3";
import { MOVED_CODES, type OutcomeCode } from "../../../../shared/api/filing-code.ts";
import type { PlacementList } from "../../../../shared/api/agent/agent-lists.ts";
import type { Outcome } from "../../../../shared/api/study.ts";
import type { MessageOutcomes } from "../messages/message-outcome.ts";
import type { PendingMatches } from "../patients/pending-matches.ts";

// The outbox: study revisions that are queued for the server.

export interface QueuedStudy {
  readonly fp: string;
  readonly revision: number;
  readonly patientFp: string | null;
  readonly body: string;
  readonly snapshot: string;
  /** Why it waits after the others: the server deferred it, or gave no outcome for it alone. Null without a wait. */
  readonly deferred: string | null;
  /** Sends in a row, before this one, during which the agent ended or the server did not respond. */
  readonly unanswered: number;
}

export interface QueuedBatch {
  readonly batch: readonly QueuedStudy[];
  readonly more: boolean;
}

/** The code of a study that the server gives no outcome, though it responds to others. */
const UNANSWERED = "STUDY.UNANSWERED";

const COLUMNS = "fp, revision, patient_fp AS patientFp, body, snapshot, reason AS deferred, unanswered";
const QUEUED = "FROM study WHERE state = 'queued'";

/** The state of a study by its place at the server. */
const STATE_OF = { patient: "filed", desk: "unmatched", rejected: "dismissed" } as const;

/** Queues the pictures of a study that the server took under the fp `target`. */
interface PreviewQueue {
  queuePreviews(fp: string, revision: number, target: string): void;
}

/** The SQL of the operations below. */
function statementsOn(db: Database.Database) {
  return {
    queued: db.prepare(`SELECT ${COLUMNS} ${QUEUED} AND reason IS NULL AND unanswered = 0 ORDER BY rowid LIMIT ?`),
    // A clinic that reached its limit still sends new revisions of older studies, so deferred ones wait after all others. The one
    // that was tried last comes last, so that no study stops the next.
    behind: db.prepare(
      `SELECT ${COLUMNS} ${QUEUED} AND (reason IS NOT NULL OR unanswered > 0) ORDER BY reason IS NOT NULL, last_sent_at, rowid LIMIT ?`,
    ),
    putBehind: db.prepare(
      "UPDATE study SET reason = @reason, code = @code, last_sent_at = @at WHERE fp = @fp AND revision = @revision AND state = 'queued'",
    ),
    defer: db.prepare(
      "UPDATE study SET reason = ?, code = ?, unanswered = 0 WHERE fp = ? AND revision = ? AND state = 'queued'",
    ),
    noteSend: db.prepare(
      "UPDATE study SET send_attempts = send_attempts + 1, unanswered = unanswered + 1, last_sent_at = ? WHERE fp = ? AND revision = ?",
    ),
    noteAnswer: db.prepare("UPDATE study SET unanswered = MAX(0, unanswered - 1) WHERE fp = ? AND revision = ?"),
    outbox: db.prepare(
      `SELECT COUNT(*) AS depth, (SELECT created_at FROM study WHERE state = 'queued' ORDER BY rowid LIMIT 1) AS oldestAt,
         (SELECT reason FROM study WHERE state = 'queued' ORDER BY rowid LIMIT 1) AS reason,
         (SELECT CASE WHEN reason IS NOT NULL THEN code END FROM study WHERE state = 'queued' ORDER BY rowid LIMIT 1) AS code
       FROM study WHERE state = 'queued'`,
    ),
    // The server may know the study under the fp of an earlier one.
    latestOf: db.prepare(
      `SELECT fp, revision FROM study AS s WHERE (fp = @fp OR existing_fp = @fp) AND state IN ('filed', 'unmatched', 'dismissed')
         AND state <> @state AND NOT EXISTS (SELECT 1 FROM study WHERE fp = s.fp AND revision > s.revision)`,
    ),
    place: db.prepare("UPDATE study SET state = @state WHERE fp = @fp AND revision = @revision"),
    settleStudy: db.prepare(
      "UPDATE study SET state = ?, reason = ?, code = ?, existing_fp = ?, settled_at = ?, unanswered = 0 WHERE fp = ? AND revision = ? AND state = 'queued'",
    ),
    // The server that lost the studies lost their pictures too. They are queued again when it has the study.
    forgetPreviews: db.prepare(
      "DELETE FROM preview WHERE fp IN (SELECT COALESCE(existing_fp, fp) FROM study WHERE settled_at >= ?)",
    ),
    queueAgain: db.prepare(
      "UPDATE study SET state = 'queued', reason = NULL, existing_fp = NULL, settled_at = NULL WHERE settled_at >= ?",
    ),
    queueQualityAgain: db.prepare(
      "UPDATE quality_record SET state = 'queued', reason = NULL, settled_at = NULL WHERE settled_at >= ?",
    ),
    // The server knows by key and time what it has.
    queueChangesAgain: db
      .prepare(
        `UPDATE registry_change SET state = 'queued', reason = NULL, code = NULL, settled_at = NULL
         WHERE state = 'done' AND settled_at >= ? RETURNING message`,
      )
      .pluck(),
    awaitChanges: db.prepare("UPDATE message SET state = 'pending', reason = NULL, code = NULL WHERE id = ?"),
    // A server whose clock was behind refused them. Only the latest revision counts, and only a time that is past.
    queueRefusedTimes: db.prepare(
      `UPDATE study AS s SET state = 'queued', reason = NULL, settled_at = NULL
       WHERE state = 'rejected' AND code = @code AND json_extract(body, '$.acquired_at') <= @until
         AND NOT EXISTS (SELECT 1 FROM study WHERE fp = s.fp AND revision > s.revision)
       RETURNING fp, revision`,
    ),
    queueQualityOfRefusedTimes: db.prepare(
      `UPDATE quality_record SET state = 'queued', reason = NULL, settled_at = NULL
       WHERE state = 'rejected' AND json_extract(reason, '$.code') = 'QUALITY.AFTER_CLOCK'
         AND COALESCE(json_extract(body, '$.measured_at'), json_extract(body, '$.at')) <= ?`,
    ),
    awaitStudy: db.prepare(
      `UPDATE message SET state = 'pending', reason = NULL, code = NULL
       WHERE state = 'quarantined' AND id IN (SELECT message FROM message_study WHERE fp = @fp AND revision = @revision)`,
    ),
  };
}

/** Part of operationsOn(). */
export function outboxOperationsOn(
  db: Database.Database,
  outcomes: MessageOutcomes,
  pendingMatches: PendingMatches,
  previews: PreviewQueue,
) {
  const sql = statementsOn(db);
  return {
    /** Queues the studies and quality records again that the server refused because of their time, up to `until`. @returns the number of studies */
    queueRefusedTimes(until: number): number {
      const wanted = { code: "STUDY.AFTER_CLOCK" satisfies OutcomeCode, until: new Date(until).toISOString() };
      const studies = sql.queueRefusedTimes.all(wanted) as { fp: string; revision: number }[];
      for (const study of studies) sql.awaitStudy.run(study);
      sql.queueQualityOfRefusedTimes.run(wanted.until);
      return studies.length;
    },

    /**
     * Queues the studies, quality records and changes of practice software again whose outcome came since a time.
     * @returns the number of studies
     */
    resendSince(at: number): number {
      // Retention leaves a pending message its changes.
      for (const message of sql.queueChangesAgain.all(at) as string[]) sql.awaitChanges.run(message);
      sql.forgetPreviews.run(at);
      sql.queueQualityAgain.run(at);
      return sql.queueAgain.run(at).changes;
    },

    /**
     * Returns the oldest queued studies, the deferred ones last, counts a send for each, and reports whether more are queued. A
     * batch has at most `limit` studies and `maxChars` characters. A larger first study is returned alone, and so is one whose
     * last send had no response, because it may have ended the server or the agent.
     */
    takeQueued(limit: number, maxChars: number, at: number): QueuedBatch {
      const fresh = sql.queued.all(limit + 1) as QueuedStudy[];
      const queued = [...fresh, ...(sql.behind.all(limit + 1 - fresh.length) as QueuedStudy[])];
      let total = 0;
      const batch = queued.slice(0, limit).filter(({ body, snapshot, unanswered }, index) => {
        total += body.length + snapshot.length;
        return index === 0 || (total <= maxChars && unanswered === 0 && queued[0]?.unanswered === 0);
      });
      for (const { fp, revision } of batch) sql.noteSend.run(at, fp, revision);
      return { batch, more: batch.length < queued.length };
    },

    /** Reverts the count of these studies' sends without a response. */
    noteAnswered(batch: readonly QueuedStudy[]): void {
      for (const { fp, revision } of batch) sql.noteAnswer.run(fp, revision);
    },

    /** Puts a study after all others, because the server gave no outcome for it alone. It stays queued. */
    putBehind({ fp, revision }: QueuedStudy, reason: string, at: number): void {
      sql.putBehind.run({ fp, revision, reason, code: UNANSWERED, at });
    },

    /** `reason` is why the oldest study waits after the others; null if it does not wait. */
    outbox(): { depth: number; oldestAt: number | null; reason: string | null; code: string | null } {
      return sql.outbox.get() as ReturnType<typeof this.outbox>;
    },

    /** Notes where studies are that were changed at the server. A person's decision ends the wait for a patient. */
    notePlacements(items: PlacementList["items"]): void {
      for (const { fp, place } of items) {
        const state = STATE_OF[place];
        for (const study of sql.latestOf.all({ fp, state }) as { fp: string; revision: number }[]) {
          sql.place.run({ ...study, state });
          outcomes.concludeStudy(study.fp, study.revision);
          pendingMatches.removeOfStudy(study.fp, study.revision);
        }
      }
    },

    /** Stores the server's outcomes. A deferred study stays queued. "unchanged" counts as filed, except for a study without a patient. */
    settleStudies(answers: readonly (Outcome & { revision: number; matched: boolean })[], at: number): void {
      for (const { fp, revision, outcome, reason, code, existing_fp, matched } of answers) {
        if (outcome === "deferred") {
          sql.defer.run(reason ?? "the server deferred it", code ?? null, fp, revision);
          continue;
        }
        const filed = outcome === "filed" || (outcome === "unchanged" && (matched || existing_fp !== undefined));
        const state = filed ? "filed" : outcome === "unchanged" ? "unmatched" : outcome;
        sql.settleStudy.run(state, reason, code ?? null, existing_fp ?? null, at, fp, revision);
        // Only a person knows whose sample it was when the number moved.
        const isMoved = code !== undefined && MOVED_CODES.has(code);
        if (state === "unmatched" && !isMoved) pendingMatches.addRefusedStudy(fp, revision);
        if (state === "filed" || state === "unmatched") previews.queuePreviews(fp, revision, existing_fp ?? fp);
        outcomes.concludeStudy(fp, revision);
      }
    },
  };
}
