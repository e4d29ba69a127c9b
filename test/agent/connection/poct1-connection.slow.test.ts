import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { recover } from "../../../agent/connection/recovery.ts";
import { SESSION_MESSAGES_MAX } from "../../../agent/connection/session-recorder.ts";
import { genericPoct1a } from "../../../agent/devices/generic-poct1a.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { IDLE_AFTER_DOCUMENTS } from "../../../agent/protocols/poct1/link.ts";
import { DocumentSplitter } from "../../../agent/protocols/poct1/xml/document-splitter.ts";
import { directivePart } from "../../../agent/protocols/poct1/topics.ts";
import { encodeParts } from "../../../agent/protocols/poct1/message.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { read } from "../../../agent/study/read.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { connectDevice, sessionsOf, useFileSpool } from "../../support/protocols/connection.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";
import type { TestWire } from "../../support/protocols/wire.ts";
import { acknowledgement, bytes, escape, hello, observation, said, status, wordOf } from "../protocols/poct1/wire.ts";

// Goal: the stored events of a POCT1-A device, and their replay by a restart. Method: a connection with a real spool.

const used = useFileSpool();

const connect = (spool = used.spool) => connectDevice({ spool, profile: genericPoct1a });

/** @returns the documents that the agent has sent on a wire */
function words(wire: TestWire): string[] {
  const found = new DocumentSplitter().receive(Uint8Array.from(wire.replies));
  return found.flatMap((one) => (one.is === "document" ? [wordOf(one.bytes).text] : []));
}

async function says(wire: TestWire, text: string, answer: string): Promise<void> {
  wire.send(bytes(text));
  await until(answer, () => words(wire).at(-1) === answer);
}

/** Connects and starts continuous mode. */
async function begin(wire: TestWire): Promise<void> {
  await says(wire, hello(), "ACK AA 1");
  await says(wire, status(2, 0), "DTV START_CONTINUOUS");
  wire.send(bytes(acknowledgement(3, 3)));
}

function contents(messages: readonly { readonly bytes: Uint8Array }[]): string[] {
  return messages.map((message) => Buffer.from(message.bytes).toString());
}

/** @returns the stored messages and events of a device after a kill and a restart */
async function afterRestart(device: string, of = used.folder): Promise<{ messages: string[]; events: string[] }> {
  const copy = temporaryFolder();
  for (const file of ["spool.db", "spool.db-wal"]) fs.copyFileSync(path.join(of, file), path.join(copy, file));
  const restarted = await Spool.open(copy);
  await recover(restarted, profileById);
  const messages = readSpool(copy, (db) =>
    db.prepare("SELECT bytes FROM message WHERE device = ? ORDER BY session, ordinal").all(device),
  ) as { bytes: Uint8Array }[];
  const events = readSpool(copy, (db) =>
    db.prepare("SELECT content FROM device_report WHERE device = ? AND topic = 'event'").pluck().all(device),
  ) as string[];
  await restarted.close();
  fs.rmSync(copy, { recursive: true });
  return { messages: contents(messages), events };
}

test("the acknowledgement leaves before any other work on its message", async () => {
  const { wire } = connect();
  await begin(wire);
  const asked = vi.spyOn(used.spool, "saveMessage");
  onTestFinished(() => asked.mockRestore());
  const answered: (string | undefined)[] = [];
  asked.mockImplementationOnce(() => {
    answered.push(words(wire).at(-1));
    return Promise.resolve(null);
  });
  await says(wire, observation(10, "1"), "ACK AA 10");
  await until("the message is stored", () => answered.length > 0);
  expect(answered).toEqual(["ACK AA 10"]);
});

test("a continuous connection is split into sessions that start with HELLO, and a restart finds the same messages", async () => {
  const { id, wire, messages } = connect();
  await begin(wire);
  const [rounds, first] = [Math.max(IDLE_AFTER_DOCUMENTS, SESSION_MESSAGES_MAX) * 2 + 10, 10];
  for (let count = 0; count < rounds; count++) {
    await says(wire, observation(first + count, String(count)), `ACK AA ${first + count}`);
  }
  await until("the messages", () => messages.length === rounds);
  await until(
    "two sessions are finished",
    () => sessionsOf(id, used.folder).filter(({ finished }) => finished === 1).length >= 2,
  );
  const [beginning, ...others] = sessionsOf(id, used.folder).map(({ kinds }) => kinds.split(" ")[0]);
  expect(beginning).toBe("chunk");
  expect(others.length).toBeGreaterThanOrEqual(2);
  expect(new Set(others)).toEqual(new Set(["resume"]));
  const expected = Array.from({ length: rounds }, (_, count) => hello() + observation(first + count, String(count)));
  expect(contents(messages)).toEqual(expected);
  expect((await afterRestart(id)).messages).toEqual(expected);
});

test("a replay of a later session restores HELLO and gives the same messages", async () => {
  const { id, wire } = connect();
  await begin(wire);
  for (let each = 4; each < IDLE_AFTER_DOCUMENTS + 10; each++) {
    await says(wire, observation(each, String(each)), `ACK AA ${each}`);
  }
  const { messages } = await afterRestart(id);
  const last = messages.slice(-10);
  const ids = Array.from({ length: 10 }, (_, index) => IDLE_AFTER_DOCUMENTS + index);
  expect(last).toEqual(ids.map((each) => hello() + observation(each, String(each))));
});

test("a connection without HELLO is closed after a minute", async () => {
  const { wire, clock, warnings, transport } = connect();
  clock.advance(59_999);
  expect(wire.isClosed).toBe(false);
  clock.advance(1);
  await until("the agent closes the connection", () => wire.isClosed);
  expect(warnings).toEqual(["no HELLO within 60 s"]);
  const other = transport.connect();
  await says(other, observation(1), "ACK AE 1 expected HEL");
  clock.advance(60_000);
  await until("the agent closes the connection", () => other.isClosed);
});

test("a reconnecting device replaces its older connection, and another device does not", async () => {
  const { wire, transport, warnings } = connect();
  await begin(wire);
  const neighbour = transport.connect();
  await says(neighbour, hello().replaceAll("SN77", "SN78"), "ACK AA 1");
  expect([wire.isClosed, neighbour.isClosed]).toEqual([false, false]);
  const again = transport.connect();
  await says(again, hello(), "ACK AA 1");
  expect([wire.isClosed, neighbour.isClosed, again.isClosed]).toEqual([true, false, false]);
  expect(warnings).toEqual(["the device reconnected: the agent closes its older connection"]);
  // Late bytes and the late close of the older wire do not affect the newer one.
  wire.cut();
  const third = transport.connect();
  await says(third, hello(), "ACK AA 1");
  expect(again.isClosed).toBe(true);
});

test("an acknowledged event survives a kill", async () => {
  const { id, wire } = connect();
  await begin(wire);
  const event = '<EVT><EVT.description V="battery low"/><EVT.severity_cd V="W"/></EVT>';
  await says(wire, said("EVS.R01", 4, event), "ACK AA 4");
  const { events } = await afterRestart(id);
  expect(events.map((content) => JSON.parse(content) as object)).toEqual([
    { at: "", description: "battery low", severity: "W" },
  ]);
});

test("END closes the connection after its ACK", async () => {
  const { wire } = connect();
  await begin(wire);
  await says(wire, '<END.R01><HDR><HDR.control_id V="4"/></HDR></END.R01>', "ACK AA 4");
  await until("the agent closes the connection", () => wire.isClosed);
  expect(words(wire).at(-1)).toBe("ACK AA 4");
});

describe("announcements to the device", () => {
  const lock = (told: string[], command: "LOCK" | "UNLOCK" = "LOCK") => ({
    message: encodeParts([directivePart(command)]),
    sent: () => void told.push(`${command} taken`),
    refused: (reason: string) => void told.push(`${command} refused: ${reason}`),
  });

  test("an announcement reaches a connected device immediately, and only once", async () => {
    const { connection, wire, transport } = connect();
    const told: string[] = [];
    await begin(wire);
    connection.announce(lock(told));
    await until("it is sent", () => words(wire).at(-1) === "DTV LOCK");
    wire.send(bytes(acknowledgement(4, 4)));
    await until("it is reported", () => told.length === 1);
    expect(told).toEqual(["LOCK taken"]);
    const again = transport.connect();
    await begin(again);
    await says(again, observation(4), "ACK AA 4");
    expect(words(again)).toEqual(["ACK AA 1", "ACK AA 2", "DTV START_CONTINUOUS", "ACK AA 4"]);
  });

  test("an announcement waits for the next connection of the device", async () => {
    const { connection, wire } = connect();
    const told: string[] = [];
    connection.announce(lock(told));
    await says(wire, hello({ directives: [] }), "ACK AA 1");
    await says(wire, status(2, 0), "DTV LOCK");
    await says(wire, acknowledgement(3, 3), "END NRM");
    expect(told).toEqual(["LOCK taken"]);
  });

  test("an unaccepted announcement is repeated on the next connection unless a newer one replaces it", async () => {
    const { connection, wire, transport } = connect();
    const told: string[] = [];
    await begin(wire);
    connection.announce(lock(told));
    await until("it is sent", () => words(wire).at(-1) === "DTV LOCK");
    wire.cut();
    connection.announce(lock(told, "UNLOCK"));
    const again = transport.connect();
    await says(again, hello(), "ACK AA 1");
    await says(again, status(2, 0), "DTV UNLOCK");
    await says(again, acknowledgement(3, 3), "DTV START_CONTINUOUS");
    expect(told).toEqual(["UNLOCK taken"]);
  });

  test("an announcement is given up after three refusals", async () => {
    const { connection, wire, clock, transport, warnings } = connect();
    const told: string[] = [];
    await begin(wire);
    connection.announce(lock(told));
    for (const id of [4, 5, 6]) {
      await until("it is sent", () => words(wire).filter((word) => word === "DTV LOCK").length === id - 3);
      wire.send(bytes(escape(id, id, "OTH")));
      await until("it is not taken", () => warnings.filter((reason) => /not sent/.test(reason)).length === id - 3);
      clock.advance(5_000);
    }
    await until("it is reported", () => told.length === 1);
    expect(told).toEqual(["LOCK refused: escape OTH"]);
    const again = transport.connect();
    await says(again, hello(), "ACK AA 1");
    await says(again, status(2, 0), "DTV START_CONTINUOUS");
  });

  test("an announcement does not take the place of a reply to a query", async () => {
    const { connection, wire } = connect();
    await says(wire, hello({ directives: [] }), "ACK AA 1");
    const asks = said("REQ.R01", 2, '<REQ><REQ.request_cd V="RPAT"/><PT><PT.patient_id V="4711"/></PT></REQ>');
    await says(wire, asks, "ACK AA 2");
    connection.announce(lock([]));
    await says(wire, status(3, 0), "DTV LOCK");
    wire.send(bytes(acknowledgement(4, 4)));
    await says(wire, said("KPA.R01", 5), "ACK AA 5");
    expect(words(wire)).not.toContain("END NRM");
  });
});

describe("a full disk", () => {
  test("observations get AE while the disk is full, and a restart keeps their patient", async () => {
    const smallFolder = temporaryFolder();
    const small = await Spool.open(smallFolder, { bytesMax: 320 * 1024 });
    try {
      const { id, wire, messages, refusals } = connect(small);
      await begin(wire);
      await until("three chunks are on disk", () => sessionsOf(id, smallFolder)[0]?.kinds === "chunk chunk chunk");
      const large = observation(4).replace("</SVC>", `<NTE><NTE.text V="${"x".repeat(300_000)}"/></NTE></SVC>`);
      await says(wire, large, "ACK AE 4 cannot store");
      expect(refusals.some((reason) => reason.startsWith("the spool refused a chunk"))).toBe(true);
      await says(wire, observation(5), "ACK AA 5");
      await until("the message", () => messages.length === 1);
      const expected = [hello() + observation(5)];
      expect(contents(messages)).toEqual(expected);
      expect(sessionsOf(id, smallFolder).map(({ kinds }) => kinds)).toEqual(["chunk chunk chunk gap resume chunk"]);
      expect((await afterRestart(id, smallFolder)).messages).toEqual(expected);
    } finally {
      await small.close();
      fs.rmSync(smallFolder, { recursive: true });
    }
  });
});

describe("a stalled disk", () => {
  /** Blocks every transaction of the spool until the returned function is called. */
  function stall(): () => void {
    const db = new Database(path.join(used.folder, "spool.db"));
    db.exec("BEGIN IMMEDIATE");
    return () => {
      db.exec("ROLLBACK");
      db.close();
    };
  }

  test.each([
    ["5 s", "30", 5_000],
    ["the device's own shorter time", "3", 3_000],
  ])(
    "a device without a commit after %s is disconnected, and its resend is one study",
    async (_, timeout, budgetMs) => {
      const { wire, transport, clock, messages, warnings } = connect();
      await says(wire, hello({ timeout }), "ACK AA 1");
      await says(wire, status(2, 0), "DTV START_CONTINUOUS");
      await says(wire, acknowledgement(3, 3) + observation(4, "7.30"), "ACK AA 4");
      await until("the first is filed", () => messages.length === 1);
      const before = words(wire);
      const goOn = stall();
      wire.send(bytes(observation(5)));
      clock.advance(budgetMs - 1);
      expect(wire.isClosed).toBe(false);
      clock.advance(1);
      expect(wire.isClosed).toBe(true);
      expect(warnings).toEqual([`chunk not stored within ${budgetMs / 1_000} s: the agent closes the connection`]);
      expect(messages).toHaveLength(1);
      goOn();
      // The late chunk is stored and filed. The device gets its acknowledgement after a resend.
      await until("it is stored", () => messages.length === 2);
      expect(words(wire)).toEqual(before);
      wire.cut();
      const again = transport.connect();
      await says(again, hello({ timeout }), "ACK AA 1");
      await says(again, status(2, 1), "REQ ROBS");
      await says(again, observation(33), "ACK AA 33");
      await until("it is stored again", () => messages.length === 3);
      const keys = messages.map(({ bytes: message }) => {
        const reading = read(message, genericPoct1a, { device: "poc", timeZone: "UTC", receivedAt: 0 });
        return reading.is === "reports" ? reading.reports.map(({ dedupe_key }) => dedupe_key).join() : reading.is;
      });
      expect(keys[2]).toBe(keys[1]);
      expect(keys[1]).not.toBe(keys[0]);
      expect(warnings).toHaveLength(1);
    },
  );

  test("a chunk committed before the deadline is acknowledged after its commit", async () => {
    const { wire, clock, messages } = connect();
    await begin(wire);
    await until("it is in continuous mode", () => clock.pending.length === 1);
    const goOn = stall();
    wire.send(bytes(observation(5)));
    clock.advance(4_999);
    expect(words(wire).at(-1)).toBe("DTV START_CONTINUOUS");
    goOn();
    await until("it is acknowledged", () => words(wire).at(-1) === "ACK AA 5");
    await until("it is stored", () => messages.length === 1);
    clock.advance(1);
    expect(wire.isClosed).toBe(false);
  });

  test("no deadline is reported for a device that has disconnected", async () => {
    const { wire, clock, warnings, messages } = connect();
    await begin(wire);
    const goOn = stall();
    wire.send(bytes(observation(5)));
    wire.cut();
    clock.advance(5_000);
    expect(warnings).toEqual([]);
    goOn();
    await until("it is stored", () => messages.length === 1);
  });
});
