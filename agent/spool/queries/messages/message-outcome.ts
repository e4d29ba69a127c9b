import type Database from "better-sqlite3";
import type { MessageCode } from "../../../page/types/message-codes.ts";

// The outcome of messages. Filing records it first; the server's decisions about their studies complete it.

/** The outcome of a message. A pending message has studies that the server has not decided about. */
export const MESSAGE_STATES = ["pending", "filed", "unmatched", "not-for-patients", "quarantined"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** Returns the counts of a day's messages as JSON has them. */
export function dayCounts(counts: readonly { readonly state: MessageState; readonly count: number }[]) {
  const of = (wanted: MessageState) => counts.find(({ state }) => state === wanted)?.count ?? 0;
  return {
    received: counts.reduce((sum, { count }) => sum + count, 0),
    filed: of("filed"),
    unmatched: of("unmatched"),
    quarantined: of("quarantined"),
    not_for_patients: of("not-for-patients"),
  };
}

export interface MessageOutcome {
  readonly message: string;
  readonly state: Exclude<MessageState, "filed">;
  /** The words; null if those of the code are enough. */
  readonly reason: string | null;
  /** Null or absent for a reason without a code. */
  readonly code?: MessageCode | null;
  readonly at: number;
}

interface StoredReason {
  readonly reason: string | null;
  readonly code: string | null;
}

export type MessageOutcomes = ReturnType<typeof messageOutcomesOn>;

/** Statements for the operations that file messages and settle studies. */
export function messageOutcomesOn(db: Database.Database) {
  const sql = {
    settleMessage: db.prepare(
      "UPDATE message SET state = @state, reason = @reason, code = @code, processed_at = @at WHERE id = @message",
    ),
    complete: db.prepare("UPDATE message SET completed_by = ? WHERE id = ?"),
    // A message that was read again may have made a later revision of the same study. Only the latest one counts.
    statesOf: db.prepare(
      `SELECT s.state, s.reason, s.code FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision = l.revision
       WHERE l.message = ? AND l.revision = (SELECT MAX(revision) FROM message_study WHERE message = l.message AND fp = l.fp)`,
    ),
    changesOf: db.prepare("SELECT state, reason, code FROM registry_change WHERE message = ? ORDER BY position"),
    messagesOf: db.prepare("SELECT message FROM message_study WHERE fp = ? AND revision = ?"),
    ownReason: db.prepare("SELECT reason, code FROM message WHERE id = ?"),
    concludeMessage: db.prepare(
      "UPDATE message SET state = @state, reason = @reason, code = @code WHERE id = @message",
    ),
  };

  /** Gives a message the worst state of its studies or changes, once all are settled. */
  function conclude(message: string): void {
    concludeChanges(message);
    const studies = sql.statesOf.all(message) as (StoredReason & { state: string })[];
    if (studies.length === 0 || studies.some((study) => study.state === "queued")) return;
    const refused = studies.find((study) => study.state === "conflict" || study.state === "rejected");
    const own = sql.ownReason.get(message) as StoredReason;
    const unmatched = studies.find((study) => study.state === "unmatched");
    const isDismissed = studies.every((study) => study.state === "dismissed");
    if (refused !== undefined) {
      const reason = `the server returned ${refused.state}: ${refused.reason ?? "no reason given"}`;
      sql.concludeMessage.run({ message, state: "quarantined", reason, code: refused.code });
    } else if (unmatched !== undefined) {
      // The agent's own reason ("no patient has this identifier") is more specific than the server's.
      const { reason, code } = own.reason === null ? unmatched : own;
      sql.concludeMessage.run({ message, state: "unmatched", reason, code: code ?? unmatched.code });
    } else if (isDismissed) {
      const code = "MESSAGE.DISMISSED" satisfies MessageCode;
      sql.concludeMessage.run({ message, state: "not-for-patients", reason: null, code });
    } else {
      sql.concludeMessage.run({ message, state: "filed", reason: own.reason, code: null });
    }
  }

  /** The same for a message of practice software, which has changes and no studies. */
  function concludeChanges(message: string): void {
    const changes = sql.changesOf.all(message) as (StoredReason & { state: string })[];
    if (changes.length === 0 || changes.some((change) => change.state === "queued")) return;
    const refused = changes.find((change) => change.state === "refused");
    if (refused !== undefined) {
      const { reason, code } = refused;
      return void sql.concludeMessage.run({ message, state: "quarantined", reason, code });
    }
    const noted = changes.filter(({ reason }) => reason !== null);
    const reason = [...new Set(noted.map((change) => change.reason))].join("; ") || null;
    sql.concludeMessage.run({ message, state: "filed", reason, code: noted[0]?.code ?? null });
  }

  return {
    conclude,

    /** Records that a message holds the content of an incomplete one. */
    complete(incomplete: string, completedBy: string): void {
      sql.complete.run(completedBy, incomplete);
    },

    /** Records the outcome of filing; the states of its studies may replace it immediately. */
    record(outcome: MessageOutcome): void {
      sql.settleMessage.run({ code: null, ...outcome });
      conclude(outcome.message);
    },

    /** Records that a message cannot be filed, without regard to its studies. */
    quarantine(message: string, reason: string, at: number): void {
      sql.settleMessage.run({ message, state: "quarantined", reason, code: null, at });
    },

    /** Updates the messages of a study that was settled. */
    concludeStudy(fp: string, revision: number): void {
      for (const { message } of sql.messagesOf.all(fp, revision) as { message: string }[]) conclude(message);
    },
  };
}
