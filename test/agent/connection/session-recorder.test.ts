import { expect, test } from "vitest";
import {
  type Session,
  type SessionEvent,
  SESSION_MESSAGES_MAX,
  SessionRecorder,
} from "../../../agent/connection/session-recorder.ts";
import type { EventKind } from "../../../agent/spool/queries/events/event-log.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { until } from "../../support/machine/processes.ts";
import { useSpool } from "../../support/spool.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";

const genericHl7 = hl7Device("generic-hl7");

// Goal: the sessions of one wire. Method: the test takes the place of the wire session, with a real spool.

const used = useSpool();

function createRecorder(): SessionRecorder {
  return new SessionRecorder({ id: "hema-1", profile: genericHl7, timeZone: "UTC" }, used.spool);
}

/** Stores one event as a wire session does. @returns the event after its commit */
function store(recorder: SessionRecorder, session: Session, kind: EventKind, bytes: Uint8Array | null = null) {
  const event: SessionEvent = { session, kind, bytes, id: null };
  session.phase = "recording";
  return new Promise<SessionEvent>((resolve, reject) => {
    recorder.append(event, true, (error) => (error === null ? resolve(event) : reject(error)));
  });
}

const finished = () =>
  readSpool(used.folder, (db) => db.prepare("SELECT finished_at IS NOT NULL FROM session ORDER BY id").pluck().all());

const message = {
  id: "01K9TEST000000000000000001",
  device: "hema-1",
  profile: genericHl7.id,
  receivedAt: 0,
  bytes: Buffer.from("MSH|^~\\&\r"),
  incomplete: null,
};

test("a session is recorded from its first event until the link is idle", async () => {
  const recorder = createRecorder();
  expect(recorder.isRecording).toBe(false);
  const session = recorder.currentSession();
  expect([session.phase, recorder.isRecording]).toEqual(["opened", true]);
  const event = await store(recorder, session, "chunk", Uint8Array.of(1));
  expect([event.id, recorder.currentSession()]).toEqual([expect.any(Number), session]);
  recorder.idle(session);
  expect(recorder.isRecording).toBe(false);
  await until("the session ends", () => finished()[0] === 1);
});

test("an idle session continues until the spool has ended it", async () => {
  const recorder = createRecorder();
  const first = recorder.currentSession();
  await store(recorder, first, "chunk", Uint8Array.of(1));
  recorder.idle(first);
  expect([recorder.currentSession(), first.phase]).toEqual([first, "recording"]);
  await store(recorder, first, "chunk", Uint8Array.of(2));
  recorder.idle(first);
  await until("the session ends", () => finished()[0] === 1);
  const second = recorder.currentSession();
  expect([second.phase, second.id > first.id]).toEqual(["opened", true]);
});

test("a session does not continue after a gap", async () => {
  const recorder = createRecorder();
  const first = recorder.currentSession();
  await store(recorder, first, "chunk", Uint8Array.of(1));
  first.phase = "gap";
  expect(recorder.currentSession()).toBe(first);
  recorder.idle(first);
  expect(recorder.currentSession()).not.toBe(first);
});

test("a session does not continue after 64 messages", async () => {
  const recorder = createRecorder();
  const first = recorder.currentSession();
  await store(recorder, first, "chunk", Uint8Array.of(1));
  first.deliveredMessages = SESSION_MESSAGES_MAX;
  recorder.idle(first);
  expect(recorder.currentSession()).not.toBe(first);
});

test("a session with an uncommitted message ends after its commit", async () => {
  const recorder = createRecorder();
  const session = recorder.currentSession();
  await store(recorder, session, "chunk", message.bytes);
  const stored = recorder.storeMessage(session, message, undefined);
  recorder.idle(session);
  expect(session).toMatchObject({ deliveredMessages: 1, unsavedMessages: 1 });
  expect(await stored).toBe(message.id);
  expect(session.unsavedMessages).toBe(0);
  await until("the session ends", () => finished()[0] === 1);
});
