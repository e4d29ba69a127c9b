import type Database from "better-sqlite3";

// The outcome of messages. Filing records it first; the server's decisions about their studies complete it.

/** The outcome of a message. A pending message has studies that the server has not decided about. */
export const MESSAGE_STATES = ["pending", "filed", "unmatched", "not-for-patients", "quarantined"] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export interface MessageOutcome {
  readonly message: string;
  readonly state: Exclude<MessageState, "filed">;
  readonly reason: string | null;
  readonly at: number;
}

export type MessageOutcomes = ReturnType<typeof messageOutcomesOn>;

/** Statements for the operations that file messages and settle studies. */
export function messageOutcomesOn(db: Database.Database) {
  const sql = {
    settleMessage: db.prepare(
      "UPDATE message SET state = @state, reason = @reason, processed_at = @at WHERE id = @message",
    ),
    complete: db.prepare("UPDATE message SET completed_by = ? WHERE id = ?"),
    // A message that was read again may have made a later revision of the same study. Only the latest one counts.
    statesOf: db.prepare(
      `SELECT s.state, s.reason FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision = l.revision
       WHERE l.message = ? AND l.revision = (SELECT MAX(revision) FROM message_study WHERE message = l.message AND fp = l.fp)`,
    ),
    messagesOf: db.prepare("SELECT message FROM message_study WHERE fp = ? AND revision = ?"),
    errorMessage: db.prepare("SELECT reason FROM message WHERE id = ?").pluck(),
    concludeMessage: db.prepare("UPDATE message SET state = ?, reason = COALESCE(?, reason) WHERE id = ?"),
  };

  /** Gives a message the worst state of its studies, once all are settled. */
  function conclude(message: string): void {
    const studies = sql.statesOf.all(message) as { state: string; reason: string | null }[];
    if (studies.length === 0 || studies.some((study) => study.state === "queued")) return;
    const refused = studies.find((study) => study.state === "conflict" || study.state === "rejected");
    const unmatched = studies.find((study) => study.state === "unmatched");
    const isDismissed = studies.every((study) => study.state === "dismissed");
    if (refused !== undefined) {
      const reason = `the server returned ${refused.state}: ${refused.reason ?? "no reason given"}`;
      sql.concludeMessage.run("quarantined", reason, message);
    } else if (unmatched !== undefined) {
      // The agent's own reason ("no patient has this identifier") is more specific than the server's.
      const own = sql.errorMessage.get(message) as string | null;
      sql.concludeMessage.run("unmatched", own ?? unmatched.reason, message);
    } else if (isDismissed) {
      sql.concludeMessage.run("not-for-patients", "a person at the desk took it from the list", message);
    } else {
      sql.concludeMessage.run("filed", null, message);
    }
  }

  return {
    /** Records that a message holds the content of an incomplete one. */
    complete(incomplete: string, completedBy: string): void {
      sql.complete.run(completedBy, incomplete);
    },

    /** Records the outcome of filing; the states of its studies may replace it immediately. */
    record(outcome: MessageOutcome): void {
      sql.settleMessage.run(outcome);
      conclude(outcome.message);
    },

    /** Records that a message cannot be filed, without regard to its studies. */
    quarantine(message: string, reason: string, at: number): void {
      sql.settleMessage.run({ message, state: "quarantined", reason, at });
    },

    /** Updates the messages of a study that was settled. */
    concludeStudy(fp: string, revision: number): void {
      for (const { message } of sql.messagesOf.all(fp, revision) as { message: string }[]) conclude(message);
    },
  };
}
