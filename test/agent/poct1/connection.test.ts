import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Connection, recover } from "../../../agent/connection.ts";
import { genericPoct1a } from "../../../agent/devices/generic-poct1a.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { REST_AFTER_DOCUMENTS } from "../../../agent/poct1/conversation.ts";
import { DocumentSplitter } from "../../../agent/poct1/link.ts";
import { readSpool, Spool } from "../../../agent/spool.ts";
import type { StoredMessage } from "../../../agent/spool-operations.ts";
import { temporaryFolder, until } from "../../support/processes.ts";
import { TestClock, TestTransport, type TestWire } from "../../support/wire.ts";
import { acknowledgement, bytes, hello, observation, status, wordOf } from "./wire.ts";

// A POCT1-A device on the agent's connection, with a real spool: what of a conversation is on disk, and what a restart makes of it.

let folder: string;
let spool: Spool;
let devices = 0;

beforeAll(async () => {
  folder = temporaryFolder();
  spool = await Spool.open(folder);
});

afterAll(async () => {
  await spool.close();
  fs.rmSync(folder, { recursive: true });
});

function connect(on = spool) {
  const id = `poc-${++devices}`;
  const transport = new TestTransport();
  const clock = new TestClock();
  const messages: StoredMessage[] = [];
  const warnings: string[] = [];
  const events = {
    connected: () => undefined,
    disconnected: () => undefined,
    warning: (reason: string) => void warnings.push(reason),
    message: (message: StoredMessage) => void messages.push(message),
  };
  new Connection({ id, profile: genericPoct1a, timeZone: "UTC" }, transport, on, events, clock.setTimer).open();
  return { id, transport, wire: transport.connect(), clock, messages, warnings };
}

/** What we have said on a wire. */
function words(wire: TestWire): string[] {
  const found = new DocumentSplitter().receive(Uint8Array.from(wire.replies));
  return found.flatMap((one) => (one.is === "document" ? [wordOf(one.bytes).text] : []));
}

async function says(wire: TestWire, text: string, answer: string): Promise<void> {
  wire.send(bytes(text));
  await until(answer, () => words(wire).at(-1) === answer);
}

/** Into continuous mode. */
async function begin(wire: TestWire): Promise<void> {
  await says(wire, hello(), "ACK AA 1");
  await says(wire, status(2, 0), "DTV START_CONTINUOUS");
  wire.send(bytes(acknowledgement(3, 3)));
}

function eventsOf(device: string, of = folder): { session: number; kinds: string; finished: number }[] {
  const select = `SELECT s.id AS session, group_concat(e.kind, ' ') AS kinds, s.finished_at IS NOT NULL AS finished
    FROM session s JOIN event e ON e.session = s.id WHERE s.device = ? GROUP BY s.id ORDER BY s.id`;
  return readSpool(of, (db) => db.prepare(select).all(device)) as ReturnType<typeof eventsOf>;
}

function contents(messages: readonly { readonly bytes: Uint8Array }[]): string[] {
  return messages.map((message) => Buffer.from(message.bytes).toString());
}

/** The messages that are on disk after a kill now and a restart. */
async function afterRestart(of = folder): Promise<(device: string) => string[]> {
  const copy = temporaryFolder();
  for (const file of ["spool.db", "spool.db-wal"]) fs.copyFileSync(path.join(of, file), path.join(copy, file));
  const restarted = await Spool.open(copy);
  await recover(restarted, profileById);
  const rows = readSpool(copy, (db) =>
    db.prepare("SELECT device, bytes FROM message ORDER BY session, ordinal").all(),
  ) as { device: string; bytes: Uint8Array }[];
  await restarted.close();
  fs.rmSync(copy, { recursive: true });
  return (device) => contents(rows.filter((row) => row.device === device));
}

test("a continuous connection is many sessions, each but the first beginning with HELLO; a restart finds the same messages", async () => {
  const { id, wire, messages } = connect();
  await begin(wire);
  const [rounds, first] = [REST_AFTER_DOCUMENTS * 2, 10];
  for (let count = 0; count < rounds; count++) {
    await says(wire, observation(first + count, String(count)), `ACK AA ${first + count}`);
  }
  await until("the messages", () => messages.length === rounds);
  await until("two sessions are finished", () => eventsOf(id).filter(({ finished }) => finished === 1).length === 2);
  const sessions = eventsOf(id);
  expect(sessions.map(({ kinds }) => kinds.split(" ")[0])).toEqual(["chunk", "resume", "resume"]);
  expect(sessions.map(({ finished }) => finished)).toEqual([1, 1, 0]);
  const expected = Array.from({ length: rounds }, (_, count) => hello() + observation(first + count, String(count)));
  expect(contents(messages)).toEqual(expected);
  expect((await afterRestart())(id)).toEqual(expected);
});

test("a replay from the middle of a session that began with HELLO's memory gives the same, with nothing stored of it yet", async () => {
  const { id, wire } = connect();
  await begin(wire);
  for (let each = 4; each < REST_AFTER_DOCUMENTS + 10; each++) {
    await says(wire, observation(each, String(each)), `ACK AA ${each}`);
  }
  const restarted = await afterRestart();
  const last = restarted(id).slice(-10);
  const ids = Array.from({ length: 10 }, (_, index) => REST_AFTER_DOCUMENTS + index);
  expect(last).toEqual(ids.map((each) => hello() + observation(each, String(each))));
});

test("a connection on which nobody speaks, or speaks no HELLO, is closed after a minute", async () => {
  const { wire, clock, warnings, transport } = connect();
  clock.advance(59_999);
  expect(wire.hungUp).toBe(false);
  clock.advance(1);
  await until("it is closed", () => wire.hungUp);
  expect(warnings).toEqual(["no HELLO within 60 s"]);
  const other = transport.connect();
  await says(other, observation(1), "ACK AE 1 expected HEL");
  clock.advance(60_000);
  await until("it is closed", () => other.hungUp);
});

test("a device that connects anew takes the place of its last connection, and another device does not", async () => {
  const { wire, transport, warnings } = connect();
  await begin(wire);
  const neighbour = transport.connect();
  await says(neighbour, hello().replaceAll("SN77", "SN78"), "ACK AA 1");
  expect([wire.hungUp, neighbour.hungUp]).toEqual([false, false]);
  const again = transport.connect();
  await says(again, hello(), "ACK AA 1");
  expect([wire.hungUp, neighbour.hungUp, again.hungUp]).toEqual([true, false, false]);
  expect(warnings).toEqual(["the device connected anew: its last connection is closed"]);
  // What the dead one still had in its pipe does no harm, and its end does not forget the new one.
  wire.cut();
  const third = transport.connect();
  await says(third, hello(), "ACK AA 1");
  expect(again.hungUp).toBe(true);
});

test("the device's END closes the connection after its ACK", async () => {
  const { wire } = connect();
  await begin(wire);
  await says(wire, '<END.R01><HDR><HDR.control_id V="4"/></HDR></END.R01>', "ACK AA 4");
  await until("it is closed", () => wire.hungUp);
  expect(words(wire).at(-1)).toBe("ACK AA 4");
});

describe("when the disk refuses", () => {
  test("observations are answered AE; then they are taken again, and a restart knows whose they are", async () => {
    const smallFolder = temporaryFolder();
    const small = await Spool.open(smallFolder, { bytesMax: 256 * 1024 });
    try {
      const { id, wire, messages, warnings } = connect(small);
      await begin(wire);
      await until("three chunks are on disk", () => eventsOf(id, smallFolder)[0]?.kinds === "chunk chunk chunk");
      const large = observation(4).replace("</SVC>", `<NTE><NTE.text V="${"x".repeat(300_000)}"/></NTE></SVC>`);
      await says(wire, large, "ACK AE 4 cannot store");
      expect(warnings.some((reason) => reason.startsWith("the spool refused a chunk"))).toBe(true);
      await says(wire, observation(5), "ACK AA 5");
      await until("the message", () => messages.length === 1);
      const expected = [hello() + observation(5)];
      expect(contents(messages)).toEqual(expected);
      expect(eventsOf(id, smallFolder).map(({ kinds }) => kinds)).toEqual(["chunk chunk chunk gap resume chunk"]);
      expect((await afterRestart(smallFolder))(id)).toEqual(expected);
    } finally {
      await small.close();
      fs.rmSync(smallFolder, { recursive: true });
    }
  });
});
