import type Database from "better-sqlite3";
import { appointmentOperationsOn } from "./orders/appointments.ts";
import { commitmentOperationsOn } from "./images/commitments.ts";
import { deviceCommandOperationsOn } from "./devices/device-commands.ts";
import { deviceOperationsOn } from "./devices/devices.ts";
import { forwardOperationsOn } from "./images/forwards.ts";
import { imageRetentionOperationsOn } from "./images/image-retention.ts";
import { pendingImageStudyOperationsOn } from "./images/pending-image-studies.ts";
import { instanceOperationsOn } from "./images/instances.ts";
import { messageOutcomesOn } from "./messages/message-outcome.ts";
import { messageOperationsOn } from "./messages/messages.ts";
import { metaOperationsOn } from "./meta.ts";
import { noiseOperationsOn } from "./events/noise.ts";
import { orderOperationsOn } from "./orders/orders.ts";
import { outboxOperationsOn } from "./studies/outbox.ts";
import { patientOperationsOn } from "./patients/patients.ts";
import { procedureStepOperationsOn } from "./images/procedure-steps.ts";
import { retentionOperationsOn } from "./retention.ts";
import { storedBytesOn, type SessionSizes } from "./devices/stored-bytes.ts";
import { sessionOperationsOn } from "./events/sessions.ts";
import { studyOperationsOn } from "./studies/studies.ts";
import { pendingMatchesOn } from "./patients/pending-matches.ts";

/** All operations on the spool besides storing events. Each runs inside the transaction of a group commit. */
export type Operations = ReturnType<typeof operationsOn>;

/** `sizes` are the stored bytes of the sessions that this process opened. */
export function operationsOn(db: Database.Database, sizes: SessionSizes = new Map()) {
  const room = storedBytesOn(db, sizes);
  const outcomes = messageOutcomesOn(db);
  const waits = pendingMatchesOn(db);
  const sessions = sessionOperationsOn(db, room);
  const orders = orderOperationsOn(db);
  const forwards = forwardOperationsOn(db);
  return {
    ...sessions,
    ...messageOperationsOn(db, room),
    ...noiseOperationsOn(db, room),
    ...studyOperationsOn(db, outcomes, waits, room),
    ...outboxOperationsOn(db, outcomes, waits),
    ...patientOperationsOn(db, waits, orders),
    ...appointmentOperationsOn(db),
    ...orders,
    ...deviceOperationsOn(db),
    ...deviceCommandOperationsOn(db),
    ...instanceOperationsOn(db, forwards, room),
    ...pendingImageStudyOperationsOn(db),
    ...imageRetentionOperationsOn(db),
    ...forwards,
    ...commitmentOperationsOn(db),
    ...procedureStepOperationsOn(db),
    ...retentionOperationsOn(db, sessions, waits, room),
    ...metaOperationsOn(db),
  };
}
