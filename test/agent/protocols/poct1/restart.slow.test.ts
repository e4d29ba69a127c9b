import fs from "node:fs";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { Connection } from "../../../../agent/connection/connection.ts";
import { recover } from "../../../../agent/connection/recovery.ts";
import { genericPoct1a } from "../../../../agent/devices/generic-poct1a.ts";
import { profileById } from "../../../../agent/devices/index.ts";
import { readSpool } from "../../../../agent/spool/access.ts";
import { listMessages } from "../../../../agent/spool/queries/messages/message-summaries.ts";
import { Directory } from "../../../../agent/study/patient-directory.ts";
import { Filing } from "../../../../agent/study/filing.ts";
import { DocumentSplitter } from "../../../../agent/protocols/poct1/xml/document-splitter.ts";
import { createServerClient } from "../../../../agent/push/server-client.ts";
import { Spool } from "../../../../agent/spool/spool.ts";
import { temporaryFolder, until } from "../../../support/machine/processes.ts";
import { NO_EVENTS, TestTransport, type TestWire } from "../../../support/protocols/wire.ts";
import { acknowledgement, bytes, hello, said, status, wordOf } from "./wire.ts";

// Goal: one measurement is one study, whether its ACK arrives or not. Method: the spool's files are copied when a reply leaves,
// like a kill between store and ACK. An agent restarts on the copy.

const made: string[] = [];

afterEach(() => {
  for (const each of made.splice(0)) fs.rmSync(each, { recursive: true });
});

function folder(): string {
  const fresh = temporaryFolder();
  made.push(fresh);
  return fresh;
}

function measured(id: number, value: string): string {
  const obs = `<OBS><OBS.observation_id V="2823-3" SN="LN"/><OBS.value V="${value}" U="mmol/L"/></OBS>`;
  const at = '<SVC.role_cd V="OBS"/><SVC.observation_dttm V="2026-11-21T12:55:10+03:00"/>';
  return said("OBS.R01", id, `<SVC>${at}<PT><PT.patient_id V="4711"/>${obs}</PT></SVC>`);
}

const poison = (id: number) => measured(id, "9.9").replace("</PT>", "</TP>");

function words(wire: TestWire): string[] {
  const found = new DocumentSplitter().receive(Uint8Array.from(wire.replies));
  return found.flatMap((one) => (one.is === "document" ? [wordOf(one.bytes).text] : []));
}

async function says(wire: TestWire, text: string, answer: string): Promise<void> {
  wire.send(bytes(text));
  await until(answer, () => words(wire).at(-1)?.startsWith(answer));
}

interface Agent {
  readonly wire: TestWire;
  /** Connects the device again, in continuous mode. */
  reconnect(): Promise<TestWire>;
  /** Files all messages. @returns the studies, the latest revision last */
  studies(): Promise<{ fp: string; revision: number; value: number }[]>;
  end(): Promise<void>;
}

/** Starts an agent on the folder, with a device in continuous mode. */
async function start(at: string): Promise<Agent> {
  const spool = await Spool.open(at);
  await recover(spool, profileById);
  const away = createServerClient("http://127.0.0.1:1", () => "sk_live_test");
  const device = { profile: genericPoct1a, timeZone: "UTC", model: null };
  const filing = new Filing(spool, new Directory(spool, away), () => device, {
    outcomeStored: () => undefined,
    fault(_, error) {
      throw error;
    },
  });
  await filing.acceptStored();
  await filing.idle();
  let accepted = 0;
  const messages = {
    message(message: Parameters<Filing["accept"]>[0]) {
      accepted += 1;
      void filing.accept(message);
    },
  };
  const transport = new TestTransport();
  const connected = { id: "poc-1", profile: genericPoct1a, timeZone: "UTC" };
  new Connection(connected, transport, { spool, events: NO_EVENTS, messages }).open();
  const connect = async () => {
    const fresh = transport.connect();
    await says(fresh, hello(), "ACK AA 1");
    await says(fresh, status(2, 0), "DTV START_CONTINUOUS");
    fresh.send(bytes(acknowledgement(3, 3)));
    return fresh;
  };
  const wire = await connect();
  return {
    wire,
    reconnect: connect,
    async studies() {
      const answers = words(wire).filter((word) => /^ACK A[AE] \d/.test(word)).length - 2;
      await until("the messages are stored", () => accepted === answers);
      await filing.idle();
      const select = "SELECT fp, revision, body FROM study ORDER BY fp, revision";
      const rows = readSpool(at, (db) => db.prepare(select).all()) as { fp: string; revision: number; body: string }[];
      return rows.map(({ fp, revision, body }) => ({
        fp,
        revision,
        value: (JSON.parse(body) as { results: { value: number }[] }).results[0]!.value,
      }));
    },
    end: () => spool.close(),
  };
}

/** Returns the folder after a kill between the store of the observation and its ACK. */
async function killedBeforeAck(observation: string): Promise<string> {
  const original = folder();
  const copy = folder();
  const agent = await start(original);
  let copied = false;
  agent.wire.onReply = () => {
    if (copied) return;
    copied = true;
    for (const file of ["spool.db", "spool.db-wal"]) fs.copyFileSync(path.join(original, file), path.join(copy, file));
  };
  await says(agent.wire, observation, "ACK AA 4");
  expect(copied).toBe(true);
  // The spool closes once nothing is filed any more.
  await agent.studies();
  await agent.end();
  return copy;
}

test("a resend after a kill between store and ACK gives one study", async () => {
  const agent = await start(await killedBeforeAck(measured(4, "3.2")));
  await says(agent.wire, measured(55, "3.2"), "ACK AA 55");
  expect(await agent.studies()).toMatchObject([{ revision: 1, value: 3.2 }]);
  await agent.end();
});

test("a kill between store and ACK keeps the study without a resend", async () => {
  const agent = await start(await killedBeforeAck(measured(4, "3.2")));
  expect(await agent.studies()).toMatchObject([{ revision: 1, value: 3.2 }]);
  await agent.end();
});

test("a changed value after a kill between store and ACK becomes revision 2", async () => {
  const agent = await start(await killedBeforeAck(measured(4, "3.2")));
  await says(agent.wire, measured(55, "3.3"), "ACK AA 55");
  const [first, second, ...more] = await agent.studies();
  expect(more).toEqual([]);
  expect([first, second]).toMatchObject([
    { revision: 1, value: 3.2 },
    { revision: 2, value: 3.3 },
  ]);
  expect(second!.fp).toBe(first!.fp);
  await agent.end();
});

test("an unreadable document is refused, then quarantined, and the next ones are filed", async () => {
  const at = folder();
  const agent = await start(at);
  for (const id of [4, 5, 6]) await says(agent.wire, poison(id), `ACK AE ${id}`);
  await says(agent.wire, poison(7), "ACK AA 7");
  await says(agent.wire, measured(8, "3.2"), "ACK AA 8");
  expect(await agent.studies()).toMatchObject([{ revision: 1, value: 3.2 }]);
  const states = readSpool(at, listMessages).map(({ state }) => state);
  expect(states).toEqual([...Array.from({ length: 4 }, () => "quarantined"), "pending"]);
  await agent.end();
});

test("later results of a device that reconnects after each refusal are stored", async () => {
  const at = folder();
  const agent = await start(at);
  await says(agent.wire, poison(4), "ACK AE 4");
  for (const verdict of ["AE", "AE", "AA"]) {
    const wire = await agent.reconnect();
    await says(wire, poison(4), `ACK ${verdict} 4`);
    if (verdict === "AA") await says(wire, measured(5, "3.2"), "ACK AA 5");
  }
  const states = await until("the messages are filed", () => {
    const found = readSpool(at, listMessages).map(({ state, study_fps }) => [state, study_fps.length]);
    return found.length === 5 && found.every(([state, studies]) => state === "quarantined" || studies === 1) && found;
  });
  expect(states).toEqual([...Array.from({ length: 4 }, () => ["quarantined", 0]), ["pending", 1]]);
  await agent.end();
});
