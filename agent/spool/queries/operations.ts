import type Database from "better-sqlite3";
import { appointmentOperationsOn } from "./appointments.ts";
import { commitmentOperationsOn } from "./commitments.ts";
import { directiveOperationsOn } from "./device-commands.ts";
import { deviceOperationsOn } from "./devices.ts";
import { forwardOperationsOn } from "./forwards.ts";
import { imageRetentionOperationsOn } from "./image-retention.ts";
import { imageStudyOperationsOn } from "./image-studies.ts";
import { imageOperationsOn } from "./images.ts";
import { messageOutcomesOn } from "./message-outcome.ts";
import { messageOperationsOn } from "./messages.ts";
import { metaOperationsOn } from "./meta.ts";
import { noiseOperationsOn } from "./noise.ts";
import { orderOperationsOn } from "./orders.ts";
import { outboxOperationsOn } from "./outbox.ts";
import { patientOperationsOn } from "./patients.ts";
import { procedureStepOperationsOn } from "./procedure-steps.ts";
import { retentionOperationsOn } from "./retention.ts";
import { roomOperationsOn, type SessionSizes } from "./room.ts";
import { sessionOperationsOn } from "./sessions.ts";
import { studyOperationsOn } from "./studies.ts";
import { waitingMessagesOn } from "./waiting.ts";

/** All operations on the spool besides storing events. Each runs inside the transaction of a group commit. */
export type Operations = ReturnType<typeof operationsOn>;

/** `sizes` are the stored bytes of the sessions that this process opened. */
export function operationsOn(db: Database.Database, sizes: SessionSizes = new Map()) {
  const room = roomOperationsOn(db, sizes);
  const outcomes = messageOutcomesOn(db);
  const waits = waitingMessagesOn(db);
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
    ...directiveOperationsOn(db),
    ...imageOperationsOn(db, forwards, room),
    ...imageStudyOperationsOn(db),
    ...imageRetentionOperationsOn(db),
    ...forwards,
    ...commitmentOperationsOn(db),
    ...procedureStepOperationsOn(db),
    ...retentionOperationsOn(db, sessions, waits, room),
    ...metaOperationsOn(db),
  };
}
