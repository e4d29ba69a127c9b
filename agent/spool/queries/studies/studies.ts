import type { ControlRun, DeviceEvent } from "../../../../shared/api/quality.ts";
import { type HeldStudy } from "../../../report/revision.ts";
import type { MessageOutcome, MessageOutcomes } from "../messages/message-outcome.ts";
import type { MatchKeys, PendingMatches } from "../patients/pending-matches.ts";
import type { RegistryChanges, RegistryDraft } from "../patients/registry-changes.ts";
import type { QualityRecords } from "../devices/quality-records.ts";
import type { Documents, FolderFile } from "./documents.ts";
import type { StudyDraft, StudyRevisions } from "./revisions.ts";

// The outcome of filing one message: its studies or changes, its quality records, and its state.

export interface Settlement extends MessageOutcome {
  readonly studies: readonly StudyDraft[];
  /** A message of practice software has changes in place of studies. */
  readonly changes?: readonly RegistryDraft[];
  /** Runs of control material in the message. */
  readonly controls?: readonly ControlRun[];
  /** Events that the device reports about itself in the message. */
  readonly events?: readonly DeviceEvent[];
  /** The message is a file of a watched folder. */
  readonly file?: FolderFile;
  /** Incomplete messages whose content this message holds. */
  readonly completes: readonly string[];
  /** The keys of the patient that the message waits for. Null or absent if no patient would match. */
  readonly waiting?: MatchKeys | null;
  /** The message is assessed again for its patient alone. Later messages of its studies keep precedence. */
  readonly rematch?: boolean;
}

/** Part of operationsOn(). */
export function studyOperationsOn(
  revisions: StudyRevisions,
  outcomes: MessageOutcomes,
  pendingMatches: PendingMatches,
  registryChanges: RegistryChanges,
  documents: Documents,
  qualityRecords: QualityRecords,
) {
  return {
    /** Stores the studies and the outcome of a message. A resend changes nothing; a changed study gets a new revision. */
    settle(settlement: Settlement): string[] {
      const { message, state, reason, code = null, studies, changes = [], completes, waiting = null, at } = settlement;
      for (const incomplete of completes) outcomes.complete(incomplete, message);
      const fps = studies.map((study) => revisions.store(study, settlement)).filter((fp) => fp !== null);
      const isFiled = fps.length > 0;
      pendingMatches.set(message, isFiled ? waiting : null);
      registryChanges.queue(message, changes);
      qualityRecords.queue(message, [...(settlement.controls ?? []), ...(settlement.events ?? [])], at);
      outcomes.record({ message, state: isFiled ? "pending" : state, reason, code, at });
      // A document that has its study now has that study's state, and no reason of its own.
      const placed = settlement.file === undefined ? [] : documents.keep(message, settlement.file);
      for (const document of placed) outcomes.record({ message: document, state: "pending", reason: null, at });
      return fps;
    },

    /** The dedupe key under which a draft is stored. */
    studyKey(draft: Pick<StudyDraft, "body" | "collect">): string {
      return revisions.keyOf(draft);
    },

    /** The dedupe key under which a draft is stored, and the number of its latest revision, or 0. */
    latestRevision(draft: Pick<StudyDraft, "body" | "collect">): [dedupeKey: string, revision: number] {
      const key = revisions.keyOf(draft);
      return [key, revisions.numberOf(key)];
    },

    /** The latest revision under a dedupe key, or null. */
    latestStudy(dedupeKey: string): HeldStudy | null {
      return revisions.latest(dedupeKey);
    },
  };
}
