import type Database from "better-sqlite3";
import type { Collection } from "../../../report/report.ts";
import { type HeldStudy, isWithdrawal, type StudyBody, nextRevision } from "../../../report/revision.ts";
import type { MessageOutcome, MessageOutcomes } from "../messages/message-outcome.ts";
import { type StoredBytes, ROW_BYTES } from "../devices/stored-bytes.ts";
import type { MatchKeys, PendingMatches } from "../patients/pending-matches.ts";

// Studies and their revisions. A dedupe key names a study; the first message with that key gives it its fp.

/** A study as filing made it. A known dedupe key keeps its fp; a new one takes `freshFp`. */
export interface StudyDraft extends StudyBody {
  readonly freshFp: string;
  /** Other dedupe keys that may name the same study. Null or absent if there are none. */
  readonly collect?: Collection | null;
}

export interface Settlement extends MessageOutcome {
  readonly studies: readonly StudyDraft[];
  /** Incomplete messages whose content this message holds. */
  readonly completes: readonly string[];
  /** The keys of the patient that the message waits for. Null or absent if no patient would match. */
  readonly waiting?: MatchKeys | null;
  /** The message is assessed again for its patient alone. Later messages of its studies keep precedence. */
  readonly rematch?: boolean;
}

/** Part of operationsOn(). */
export function studyOperationsOn(
  db: Database.Database,
  outcomes: MessageOutcomes,
  waits: PendingMatches,
  room: StoredBytes,
) {
  const sql = {
    latestByKey: db.prepare(
      "SELECT fp, revision, body, snapshot, state FROM study WHERE dedupe_key = ? ORDER BY revision DESC LIMIT 1",
    ),
    keysFrom: db.prepare(
      "SELECT dedupe_key, json_extract(body, '$.acquired_at') AS acquired_at FROM study WHERE revision = 1 AND dedupe_key >= ? AND dedupe_key < ?",
    ),
    insertStudy: db.prepare(
      `INSERT INTO study (fp, revision, dedupe_key, patient_fp, body, snapshot, state, created_at)
       VALUES (@fp, @revision, @dedupeKey, @patientFp, @body, @snapshot, 'queued', @at)`,
    ),
    ownRevision: db.prepare("SELECT MAX(revision) FROM message_study WHERE message = ? AND fp = ?").pluck(),
    linkAlso: db.prepare(
      `INSERT INTO message_study (message, fp, revision)
       SELECT message, fp, @to FROM message_study WHERE fp = @fp AND revision = @from ON CONFLICT DO NOTHING`,
    ),
    queueAgain: db.prepare(
      "UPDATE study SET state = 'queued', reason = NULL, settled_at = NULL WHERE fp = ? AND revision = ?",
    ),
    link: db.prepare("INSERT INTO message_study (message, fp, revision) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
  };

  function latestStudy(dedupeKey: string): StudyRow | undefined {
    return sql.latestByKey.get(dedupeKey) as StudyRow | undefined;
  }

  /** @returns the key of the nearest study in time within the collection; null if none is near enough */
  function collectingKey({ prefix, withinMs }: Collection, acquired_at: string): string | null {
    const studies = sql.keysFrom.all(prefix, `${prefix}~`) as { dedupe_key: string; acquired_at: string }[];
    const distance = (time: string) => Math.abs(Date.parse(time) - Date.parse(acquired_at));
    const near = studies
      .filter((study) => distance(study.acquired_at) <= withinMs)
      .toSorted((one, other) => distance(one.acquired_at) - distance(other.acquired_at));
    return near[0]?.dedupe_key ?? null;
  }

  /** Stores a draft as a new revision if it changes its study. @returns the study's fp; null if there is nothing to withdraw */
  function storeDraft({ freshFp, collect, body, ...rest }: StudyDraft, settlement: Settlement): string | null {
    const { message, rematch = false, at } = settlement;
    const collected = collect ? collectingKey(collect, body.acquired_at) : null;
    const dedupe_key = collected ?? body.dedupe_key;
    const draft = { body: { ...body, dedupe_key }, ...rest };
    const held = latestStudy(dedupe_key);
    if (held === undefined && isWithdrawal(draft)) return null;
    const fp = held?.fp ?? freshFp;
    const isReplaced = rematch && held !== undefined && held.revision > ownRevision(message, fp);
    const next = held === undefined ? draft : isReplaced ? null : nextRevision(asHeld(held), draft);
    const isNew = next !== null && next !== "again";
    const revision = (held?.revision ?? 0) + (isNew ? 1 : 0);
    if (next === "again") sql.queueAgain.run(fp, revision);
    if (isNew) {
      insertRevision(fp, revision, next, at);
      // The server files the earlier messages of the study with this revision.
      if (rematch && held !== undefined) sql.linkAlso.run({ fp, from: held.revision, to: revision });
    }
    sql.link.run(message, fp, revision);
    return fp;
  }

  function insertRevision(fp: string, revision: number, study: StudyBody, at: number): void {
    const { body, snapshot } = study;
    const row = { fp, revision, dedupeKey: body.dedupe_key, patientFp: body.patient_fp, at };
    const json = { body: JSON.stringify(body), snapshot: JSON.stringify(snapshot) };
    sql.insertStudy.run({ ...row, ...json });
    room.add(body.source.device_id, json.body.length + json.snapshot.length + ROW_BYTES.study);
  }

  /** @returns the latest revision of a study that holds this message; 0 if there is none */
  function ownRevision(message: string, fp: string): number {
    return (sql.ownRevision.get(message, fp) as number | null) ?? 0;
  }

  return {
    /** Stores the studies and the outcome of a message. A resend changes nothing; a changed study gets a new revision. */
    settle(settlement: Settlement): string[] {
      const { message, state, reason, studies, completes, waiting = null, at } = settlement;
      for (const incomplete of completes) outcomes.complete(incomplete, message);
      const fps = studies.map((study) => storeDraft(study, settlement)).filter((fp) => fp !== null);
      const isFiled = fps.length > 0;
      waits.set(message, isFiled ? waiting : null);
      outcomes.record({ message, state: isFiled ? "pending" : state, reason, at });
      return fps;
    },

    /** The latest revision under a dedupe key. */
    latestStudy(dedupeKey: string): HeldStudy | null {
      const held = latestStudy(dedupeKey);
      return held === undefined ? null : asHeld(held);
    },
  };
}

interface StudyRow {
  readonly fp: string;
  readonly revision: number;
  readonly body: string;
  readonly snapshot: string;
  readonly state: string;
}

function asHeld({ body, snapshot, state }: StudyRow): HeldStudy {
  return {
    body: JSON.parse(body) as StudyBody["body"],
    snapshot: JSON.parse(snapshot) as StudyBody["snapshot"],
    isUnmatched: state === "unmatched",
    isRejected: state === "rejected",
  };
}
