import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { recover } from "../../../../agent/connection/recovery.ts";
import { imageFile } from "../../../../agent/imaging/files/image-folder.ts";
import { readSpool } from "../../../../agent/spool/access.ts";
import { listMessages, type MessageSummary } from "../../../../agent/spool/queries/messages/message-summaries.ts";
import { encodeBccText } from "../../../../agent/protocols/text/bcc-link.ts";
import { capture } from "../../../../agent/tools/capture/capture.ts";
import { profileById } from "../../../../agent/devices/index.ts";
import type { Profile } from "../../../../agent/devices/profile.ts";
import { replay } from "../../../../agent/tools/offline/replay.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";
import { session } from "../../../support/protocols/astm.ts";
import { frameOf } from "../../../support/protocols/hl7.ts";
import { useSpool } from "../../../support/spool.ts";

// Goal: a message of the spool becomes a fixture with the wire's own bytes. Method: every fixture is stored as a session of a
// real spool and captured again; sessions of several messages, and ends that a fixture cannot have.

const used = useSpool();
const deviceById = (id: string) => {
  const profile = profileById(id);
  return profile === undefined ? undefined : { profile, timeZone: "UTC" };
};

/** Stores the chunks of a session. The id of the device is that of its profile. */
async function receive(profile: string, ...chunks: readonly Uint8Array[]): Promise<string[]> {
  const number = used.spool.openSession(profile, profile);
  const store = (kind: "chunk" | "close", bytes: Uint8Array | null) =>
    new Promise<void>((resolve) =>
      used.spool.append({ device: profile, session: number, kind, bytes, durable: true }, () => resolve()),
    );
  for (const chunk of chunks) await store("chunk", chunk);
  await store("close", null);
  await recover(used.spool, profileById);
  return readSpool(used.folder, listMessages).map(({ id }) => id);
}

const captured = (id: string, raw = true) =>
  readSpool(used.folder, (db) => capture(db, used.folder, id, deviceById, raw));
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

const fixtures = readdirSync(fixturesFolder, { recursive: true, encoding: "utf8" }).filter((file) =>
  /\.(astm|hl7|poct1)$/.test(file),
);

const context = { device: "chem-1", timeZone: "UTC", receivedAt: 0 };

/** @returns the messages of a fixture */
function readings(bytes: Uint8Array, profile: Profile): string[] {
  return replay([bytes], profile, context, null).messages.map(({ incomplete, reading }) =>
    JSON.stringify([incomplete === null, reading.is, reading]),
  );
}

describe("a captured message", () => {
  test.each(fixtures)("%s has the bytes that were sent and reads as the same message", async (fixture) => {
    const { profile } = deviceById(dirname(fixture))!;
    const bytes = new Uint8Array(readFileSync(join(fixturesFolder, fixture)));
    const all = readings(bytes, profile);
    for (const id of await receive(profile.id, bytes)) {
      const fixtureOfIt = captured(id).bytes;
      expect(text(bytes)).toContain(text(fixtureOfIt));
      expect(readings(fixtureOfIt, profile)).not.toEqual([]);
      expect(all).toEqual(expect.arrayContaining(readings(fixtureOfIt, profile)));
    }
  });

  test.each([
    "abaxis-vetscan-vs2/dog.astm",
    "fuji-dri-chem-nx/four-slides.astm",
    "generic-hl7/oru-r01.hl7",
    "generic-poct1a/dog.poct1",
    "mindray-bc2800vet/dog.astm",
  ])("is %s again, byte for byte, however it was cut", async (fixture) => {
    const bytes = new Uint8Array(readFileSync(join(fixturesFolder, fixture)));
    const cuts = [bytes.subarray(0, 7), bytes.subarray(7, 40), bytes.subarray(40)];
    const [id = ""] = await receive(dirname(fixture), ...cuts);
    expect(text(captured(id).bytes)).toBe(text(bytes));
  });

  test("a captured message has its own exchange of the session, and a note if the exchange has several messages", async () => {
    const one = frameOf(["MSH|^~\\&|LAB|V|||20261120100000||ORU^R01|1|P|2.3.1", "PID|1||1||Rex"]);
    const other = frameOf(["MSH|^~\\&|LAB|V|||20261120100000||ORU^R01|2|P|2.3.1", "PID|1||2||Max"]);
    const [first = "", second = ""] = await receive("generic-hl7", Buffer.concat([one, other]));
    expect([text(captured(first).bytes), text(captured(second).bytes)]).toEqual([text(one), text(other)]);
    const two = session(["H|\\^&|||A", "P|1|4711", "L|1|N", "H|\\^&|||A", "P|1|4712", "L|1|N"]);
    const [, , ...ids] = await receive("generic-astm", two);
    expect(ids).toHaveLength(2);
    for (const id of ids) {
      expect(text(captured(id).bytes)).toBe(text(two));
      expect(captured(id).notes[0]).toBe("the fixture holds 2 messages of one exchange");
    }
  });

  test("a captured message of an interrupted POCT1-A session starts with the HELLO of its device", async () => {
    const documents = readFileSync(join(fixturesFolder, "generic-poct1a/dog.poct1"), "latin1");
    const [hello = ""] = /^[^]*?<\/HEL\.R01>/.exec(documents) ?? [];
    expect(hello).not.toBe("");
    const number = used.spool.openSession("generic-poct1a", "generic-poct1a");
    for (const [kind, bytes] of [
      ["resume", Buffer.from(hello, "latin1")],
      ["chunk", Buffer.from(documents.slice(hello.length), "latin1")],
    ] as const) {
      const event = { device: "generic-poct1a", session: number, kind, bytes, durable: true };
      await new Promise<void>((resolve) => used.spool.append(event, () => resolve()));
    }
    await recover(used.spool, profileById);
    const [{ id }] = readSpool(used.folder, listMessages) as [MessageSummary];
    expect(text(captured(id).bytes)).toBe(documents);
  });

  test("a captured message has no names unless it is raw, and notes list the kept fields", async () => {
    const sent = frameOf(["MSH|^~\\&|LAB|V|||20261120100000||ORU^R01|1|P|2.3.1", "PID|1||4711||Yilmaz^Rex"]);
    const [id = ""] = await receive("generic-hl7", sent);
    expect(text(captured(id, false).bytes)).toBe(text(sent).replace("Yilmaz^Rex", "XXXXXX^XXX"));
    expect(captured(id, false).notes).toEqual([
      "names are replaced; identifiers, dates, comments and free text are kept: read the file before you give it away",
      "name it such as fixtures/generic-hl7/CASE.hl7",
    ]);
    expect(captured(id).notes[0]).toBe("names are kept");
  });

  test("a captured message with a text that its profile cannot read has a warning", async () => {
    const [id = ""] = await receive("fuji-dri-chem-nx", encodeBccText(Buffer.from("R,NORMAL ,nothing,Zeytin")));
    const { bytes, notes } = captured(id, false);
    expect(text(bytes)).toContain("Zeytin");
    expect(notes[0]).toBe("a text cannot be read: its names, if it has any, are kept");
  });

  test("a captured message is refused if the message is unknown, its session is pruned or its device is not configured", async () => {
    expect(() => captured("x")).toThrow("the spool has no message x, expected an id that messages shows");
    const [id = ""] = await receive("generic-hl7", frameOf(["MSH|^~\\&|LAB|V", "PID|1||1"]));
    const elsewhere = () => readSpool(used.folder, (db) => capture(db, used.folder, id, () => undefined, true));
    expect(elsewhere).toThrow("is from generic-hl7 with profile generic-hl7, which the configuration no longer has");
    const db = new Database(join(used.folder, "spool.db"));
    db.exec("DELETE FROM session");
    db.close();
    expect(() => captured(id)).toThrow(`the session of message ${id} is no longer kept`);
  });

  test("a captured message of an image is its file, and requires --raw", async () => {
    const db = new Database(join(used.folder, "spool.db"));
    db.exec(`INSERT INTO message (id, session, ordinal, device, profile, received_at, bytes, state)
      VALUES ('01M', 0, 1, 'us-1', 'dicom', 0, x'', 'filed')`);
    db.exec(`INSERT INTO instance (message, study_uid, sop_class_uid, sop_instance_uid, transfer_syntax_uid, calling_ae_title, sha256, file_bytes, header_bytes)
      VALUES ('01M', '1', '2', '3', '4', 'US1', '', 4, 4)`);
    mkdirSync(join(used.folder, "images"), { recursive: true });
    writeFileSync(imageFile(used.folder, "01M"), "DICM");
    expect(() => captured("01M", false)).toThrow(
      "message 01M is an image, whose names cannot be replaced: --raw writes",
    );
    expect(text(captured("01M").bytes)).toBe("DICM");
    db.exec("UPDATE instance SET removed_at = 0");
    db.close();
    expect(() => captured("01M")).toThrow("the file of image 01M was removed at 1970-01-01T00:00:00.000Z");
  });
});
