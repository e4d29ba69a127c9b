import path from "node:path";
import Database from "better-sqlite3";
import { recoverImageFolder } from "../../../agent/imaging/image-folder.ts";
import { HeaderReader } from "../../../agent/imaging/header-reader.ts";
import { ImageStore } from "../../../agent/imaging/instance-store.ts";
import { removeOld } from "../../../agent/imaging/retention.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { messageRow } from "../../../agent/spool/queries/messages/message-row.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { newUlid } from "../../../shared/api/fp.ts";
import { CR_STORAGE, EXPLICIT } from "../../support/dicom.ts";

// The agent's upkeep of its data folder, without days of waiting: messages and images are stored, made old, and removed.

const [, , data] = process.argv as [string, string, string];
const DAY_MS = 24 * 60 * 60_000;
const ROUNDS = 12;
const say = (word: string, kind: string, mark: string) =>
  process.stdout.write(`${word} ${kind} ${mark} ${Date.now()}\n`);

/** Stores one message as a device's session does. */
async function addMessage(spool: Spool, number: number): Promise<void> {
  const mark = `upkeep-${number}-`;
  const bytes = Buffer.from(`MSH|^~\\&|${mark}|${"x".repeat(number * 50)}\r`);
  const session = spool.openSession("hl7-1", "generic-hl7");
  const framed = Buffer.concat([Buffer.of(0x0b), bytes, Buffer.of(0x1c, 0x0d)]);
  const event = { device: "hl7-1", session, kind: "chunk", bytes: framed, durable: true } as const;
  await new Promise<void>((resolve, reject) => {
    spool.append(event, (error) => (error === null ? resolve() : reject(error)));
  });
  say("acknowledged", "message", mark);
  const message = {
    id: newUlid(),
    device: "hl7-1",
    profile: "generic-hl7",
    receivedAt: Date.now(),
    bytes,
    incomplete: null,
  };
  await spool.saveMessage(() => messageRow({ ...message, session, ordinal: 0 }, null));
  spool.finishLater(session);
}

async function addImage(store: ImageStore, number: number): Promise<string> {
  const uid = `1.2.3.88.${number}`;
  const instance = { messageId: 1, sopClass: CR_STORAGE, sopInstance: uid, transferSyntax: EXPLICIT };
  const file = store.begin("xray", 1, { ...instance, callingAe: "DX1" });
  file.write(Buffer.alloc(20_000, number));
  const { status } = await file.store({ study: `1.2.3.${number}`, headerBytes: 100 });
  if (status !== STATUS.success) throw new Error(`expected status 0, got ${status}`);
  say("acknowledged", "instance", uid);
  return uid;
}

/** Makes an image old, forwarded and filed. */
function age(uid: string): void {
  const db = new Database(path.join(data, "spool.db"), { timeout: 5_000 });
  db.pragma("synchronous = FULL");
  const message = db.prepare("SELECT message FROM instance WHERE sop_instance_uid = ?").pluck().get(uid);
  db.prepare("DELETE FROM pending_image_study").run();
  db.prepare("UPDATE forward SET state = 'sent' WHERE message = ?").run(message);
  db.prepare("UPDATE message SET state = 'filed' WHERE id = ?").run(message);
  db.prepare("UPDATE instance SET stored_at = 1 WHERE message = ?").run(message);
  db.close();
}

for (const run of [0, 1]) {
  const spool = await Spool.open(data);
  await recoverImageFolder(data, spool);
  const store = new ImageStore(data, spool, new HeaderReader());
  for (let round = 1; round <= ROUNDS; round++) {
    const number = run * ROUNDS + round;
    await addMessage(spool, number);
    const uid = await addImage(store, number);
    if (number % 3 === 0) {
      age(uid);
      say("removes", "instance", uid);
      const { count } = await removeOld(data, spool, { keepMs: DAY_MS, bytesMax: null }, Date.now());
      if (count !== 1) throw new Error(`expected 1 removed image, got ${count}`);
    }
    // Everything of the release's spool that is settled.
    if (number % 4 === 0) while (await spool.call("prune", Date.now() - DAY_MS, 5));
  }
  store.close();
  await spool.close();
}
process.stdout.write("ended\n");
process.exit(0);
