import path from "node:path";
import Database from "better-sqlite3";
import { beforeEach, expect, test } from "vitest";
import { messageRow } from "../../../agent/spool/queries/messages/message-row.ts";
import { diceOf } from "../../support/runner/dice.ts";
import { FilingClinic, resultsOf } from "../../support/clinic/filing-clinic.ts";
import { noteFetched, useSpool } from "../../support/spool.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";

const genericHl7 = hl7Device("generic-hl7");

// Goal: a message of the spool that the disk changed is never filed, stops no other, and can be sent again.

const used = useSpool();
let clinic: FilingClinic;

beforeEach(async () => {
  await noteFetched(used.spool);
  clinic = new FilingClinic(used);
  clinic.devices.set("hema-1", { profile: genericHl7, timeZone: "UTC", model: null });
});

function change(sql: string, ...values: readonly unknown[]): void {
  const db = new Database(path.join(used.folder, "spool.db"));
  db.prepare(sql).run(...values);
  db.close();
}

/** Flips a bit of a stored message. */
function flip(id: string, bytes: Buffer, bit: number): void {
  const copy = Buffer.from(bytes);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  change("UPDATE message SET bytes = ? WHERE id = ?", copy, id);
}

test("a message with any flipped bit is quarantined with the reason, and its neighbours are filed", async () => {
  const dice = diceOf(7);
  const messages = Array.from({ length: 80 }, (_, number) => {
    const lines = [
      `MSH|^~\\&|LAB|V|||20261121100000||ORU^R01|${number}|P|2.3.1`,
      `PID|1||${4700 + number}`,
      `OBR|1|LAB-${number}||X|||20261121100000`,
      `OBX|1|NM|GLU||${100 + number}|mg/dL|||||F`,
    ];
    return { id: `M${number}`, bytes: Buffer.from(`${lines.join("\r")}\r`) };
  });
  const stored = { device: "hema-1", profile: "generic-hl7", receivedAt: 1, incomplete: null, session: 1 };
  const rows = messages.map((message, ordinal) => messageRow({ ...stored, ...message, ordinal }, null));
  await used.spool.call("addMessages", rows);
  for (const { id, bytes } of messages.slice(0, 40)) flip(id, bytes, dice(bytes.length * 8));
  await clinic.filing.acceptStored();
  await clinic.filing.idle();
  const quarantined = clinic.listed().filter(({ state }) => state === "quarantined");
  expect(quarantined.map(({ id }) => id).toSorted()).toEqual(
    messages
      .slice(0, 40)
      .map(({ id }) => id)
      .toSorted(),
  );
  expect(new Set(quarantined.map(({ reason }) => reason))).toEqual(
    new Set(["its stored bytes are damaged: send it again at the device, or restore a backup"]),
  );
  const pushed = (await clinic.push()).flatMap(resultsOf);
  expect(pushed).toEqual(messages.slice(40).map((_, index) => `GLU ${140 + index} mg/dL no flag catalogue`));
});

test("a resend of a damaged message is stored as a message of its own", async () => {
  const content = { device: "hema-1", profile: "generic-hl7", receivedAt: 1, incomplete: null, session: 1 };
  const row = (id: string, ordinal: number) =>
    messageRow({ ...content, id, ordinal, bytes: Buffer.from("MSH|GLU 95") }, "key");
  expect(await used.spool.call("addMessages", [row("A", 0), row("B", 1)])).toEqual(["A", "A"]);
  change("UPDATE message SET bytes = CAST(replace(bytes, '95', '35') AS BLOB)");
  expect(await used.spool.call("addMessages", [row("C", 2), row("D", 3)])).toEqual(["C", "C"]);
});
