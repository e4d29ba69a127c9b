import type Database from "better-sqlite3";
import { PREVIEWS_MAX } from "../../../shared/api/agent/preview.ts";
import { deviceCommandOperationsOn } from "./devices/device-commands.ts";
import { deviceOperationsOn } from "./devices/devices.ts";
import { type SessionSizes, storedBytesOn } from "./devices/stored-bytes.ts";
import { noiseOperationsOn } from "./events/noise.ts";
import { sessionOperationsOn } from "./events/sessions.ts";
import { commitmentOperationsOn } from "./images/commitments.ts";
import { forwardOperationsOn } from "./images/forwards.ts";
import { imageRetentionOperationsOn } from "./images/image-retention.ts";
import { instanceOperationsOn } from "./images/instances.ts";
import { previewOperationsOn } from "./images/previews.ts";
import { pendingImageStudyOperationsOn } from "./images/pending-image-studies.ts";
import { procedureStepOperationsOn } from "./images/procedure-steps.ts";
import { filingQueueOperationsOn } from "./messages/filing-queue.ts";
import { messageOutcomesOn } from "./messages/message-outcome.ts";
import { messageOperationsOn } from "./messages/messages.ts";
import { metaOperationsOn } from "./meta.ts";
import { appointmentOperationsOn } from "./orders/appointments.ts";
import { orderOperationsOn } from "./orders/orders.ts";
import { serverOrderOperationsOn } from "./orders/server-orders.ts";
import { directorySyncOperationsOn } from "./patients/directory-sync.ts";
import { patientOperationsOn } from "./patients/patients.ts";
import { pendingMatchesOn } from "./patients/pending-matches.ts";
import { registryChangeOperationsOn, registryChangesOn } from "./patients/registry-changes.ts";
import { qualityRecordOperationsOn, qualityRecordsOn } from "./devices/quality-records.ts";
import { resultDestinationOperationsOn } from "./result-destinations.ts";
import { retentionOperationsOn } from "./retention.ts";
import { documentsOn } from "./studies/documents.ts";
import { outboxOperationsOn } from "./studies/outbox.ts";
import { unfinishedTryOperationsOn } from "./unfinished-tries.ts";
import { confirmedProfilesOn } from "./studies/confirmed-profiles.ts";
import { studyRevisionsOn } from "./studies/revisions.ts";
import { studyOperationsOn } from "./studies/studies.ts";

/** All operations on the spool except storing events. Each runs inside the transaction of a group commit. */
export type Operations = ReturnType<typeof operationsOn>;

/** `sizes` are the stored bytes of the sessions that this process opened. */
export function operationsOn(db: Database.Database, sizes: SessionSizes = new Map()) {
  const storedBytes = storedBytesOn(db, sizes);
  const outcomes = messageOutcomesOn(db);
  const pendingMatches = pendingMatchesOn(db);
  const registryChanges = registryChangesOn(db, storedBytes);
  const qualityRecords = qualityRecordsOn(db, storedBytes);
  const sessions = sessionOperationsOn(db, storedBytes);
  const orders = orderOperationsOn(db);
  const forwards = forwardOperationsOn(db);
  const meta = metaOperationsOn(db);
  const previews = previewOperationsOn(db, PREVIEWS_MAX);
  return {
    ...sessions,
    ...noiseOperationsOn(db, storedBytes),
    ...messageOperationsOn(db, storedBytes),
    ...filingQueueOperationsOn(db),
    ...studyOperationsOn(
      studyRevisionsOn(db, storedBytes),
      outcomes,
      pendingMatches,
      registryChanges,
      documentsOn(db, storedBytes),
      qualityRecords,
    ),
    ...qualityRecordOperationsOn(db, qualityRecords),
    ...confirmedProfilesOn(db),
    ...registryChangeOperationsOn(db, registryChanges, outcomes),
    ...outboxOperationsOn(db, outcomes, pendingMatches, previews),
    ...previews,
    ...directorySyncOperationsOn(db, pendingMatches, meta),
    ...patientOperationsOn(db, pendingMatches, orders),
    ...appointmentOperationsOn(db),
    ...orders,
    ...serverOrderOperationsOn(db, pendingMatches),
    ...deviceOperationsOn(db, qualityRecords),
    ...deviceCommandOperationsOn(db),
    ...instanceOperationsOn(db, forwards, storedBytes),
    ...pendingImageStudyOperationsOn(db),
    ...imageRetentionOperationsOn(db),
    ...forwards,
    ...commitmentOperationsOn(db),
    ...procedureStepOperationsOn(db),
    ...retentionOperationsOn(db, sessions, { pendingMatches, registryChanges, qualityRecords }, storedBytes),
    ...resultDestinationOperationsOn(db),
    ...meta,
    ...unfinishedTryOperationsOn(db),
  };
}
