import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { recover } from "../../../agent/connection/recovery.ts";
import { ACK, ENQ, EOT } from "../../../agent/protocols/bytes.ts";
import { Connection } from "../../../agent/connection/connection.ts";
import { abaxisVetscanVs2 } from "../../../agent/devices/abaxis-vetscan-vs2.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { Filing } from "../../../agent/study/filing.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { frames, vetScanRecords } from "../../support/astm.ts";
import { temporaryFolder, until } from "../../support/processes.ts";
import { NO_EVENTS, TestTransport, type TestWire } from "../../support/wire.ts";

// Goal: one session of a device becomes one study, whenever the agent is killed. Method: a session of 27 frames goes through
// a real spool. Its files are copied after each ACK, as a kill leaves them. An agent starts on every copy, and the device
// sends the session again.

const FRAMES = 27;
const DOG = { fp: "patient_01K9TEST000000000000000001", identifier: "5000" };

const session = (() => {
  const whole = vetScanRecords({ patient: DOG.identifier, species: "Dog", collected: "20260101090000", alt: 31 });
  const comments = Array.from({ length: FRAMES - whole.length }, (_, index) => `C|${index + 2}|I|^^note ${index}|G`);
  const order = whole.findIndex((record) => record.startsWith("C|"));
  return [Uint8Array.of(ENQ), ...frames(whole.toSpliced(order + 1, 0, ...comments))];
})();

function addPatient(folder: string): void {
  const db = new Database(path.join(folder, "spool.db"));
  const at = "2026-01-01T00:00:00.000Z";
  const nothing = { name: "Test", breed: null, sex: null, date_of_birth: null, weight_kg: null };
  const owner = { owner_customer_fp: "customer_01K9TEST000000000000000D01", created_at: at, updated_at: at };
  const body = JSON.stringify({ fp: DOG.fp, species: "dog", ...nothing, ...owner });
  db.prepare("INSERT INTO patient (fp, body, sync_generation) VALUES (?, ?, 1)").run(DOG.fp, body);
  db.prepare("INSERT INTO identifier (identifier, patient_fp, sync_generation) VALUES (?, ?, 1)").run(
    DOG.identifier,
    DOG.fp,
  );
  db.close();
}

function connect(spool: Spool, message: () => void = () => undefined): TestWire {
  const transport = new TestTransport();
  const device = { id: "chem-1", profile: abaxisVetscanVs2, timeZone: "UTC" };
  new Connection(device, transport, { spool, events: NO_EVENTS, messages: { message } }).open();
  return transport.connect();
}

/** Sends the pieces, each after the ACK of the previous one. */
async function send(wire: TestWire, acknowledged: (count: number) => void = () => undefined): Promise<void> {
  for (const [index, piece] of session.entries()) {
    wire.send(piece);
    await until("the ACK", () => wire.replies.length > index);
    acknowledged(index);
  }
  expect(wire.replies).toEqual(session.map(() => ACK));
}

function copy(folder: string): string {
  const to = temporaryFolder();
  for (const file of ["spool.db", "spool.db-wal"]) fs.copyFileSync(path.join(folder, file), path.join(to, file));
  return to;
}

/** Starts an agent on the folder. It replays, and the device sends again unless its session was acknowledged. */
async function studiesAfterRestart(folder: string, isSentAgain: boolean): Promise<string[]> {
  const spool = await Spool.open(folder);
  try {
    await recover(spool, profileById);
    if (isSentAgain) {
      let stored = 0;
      const wire = connect(spool, () => (stored += 1));
      await send(wire);
      wire.send(Uint8Array.of(EOT));
      await until("the message is stored", () => stored === 1);
    }
    const away = createServerClient("http://127.0.0.1:1", () => "sk_live_test");
    const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
    const events = {
      outcomeStored: () => undefined,
      fault: (_: unknown, error: unknown) => {
        throw error;
      },
    };
    const filing = new Filing(spool, new Directory(spool, away), () => device, events);
    await filing.acceptStored();
    await filing.idle();
  } finally {
    await spool.close();
  }
  return readSpool(folder, (db) => db.prepare("SELECT body FROM study").pluck().all()) as string[];
}

/** A study without the ids that are generated on each run. */
function content(body: string): string {
  return body.replace(/"(fp|message_id)":"[^"]*"/g, "");
}

test("an agent that is killed after any ACK of 27 frames files one identical study after the resend", {
  timeout: 120_000,
}, async () => {
  expect(session).toHaveLength(1 + FRAMES);
  const original = temporaryFolder();
  const copies: string[] = [];
  try {
    const spool = await Spool.open(original);
    addPatient(original);
    await send(connect(spool), () => copies.push(copy(original)));
    await spool.close();
    const [expected, ...more] = await studiesAfterRestart(original, false);
    expect(more).toEqual([]);
    expect(JSON.parse(expected!)).toMatchObject({ patient_fp: DOG.fp, results: [{ analyte: "ALT", value: 31 }, {}] });
    for (const [acknowledged, killed] of copies.entries()) {
      const studies = await studiesAfterRestart(killed, true);
      expect(studies.map(content), `after ENQ and ${acknowledged} frames`).toEqual([content(expected!)]);
    }
    expect(copies).toHaveLength(1 + FRAMES);
  } finally {
    for (const folder of [original, ...copies]) fs.rmSync(folder, { recursive: true });
  }
});
