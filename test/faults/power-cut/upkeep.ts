import path from "node:path";
import Database from "better-sqlite3";
import { removeOld } from "../../../agent/imaging/retention.ts";
import { addImage, addMessage, instanceUid, messageMark, openAgent } from "./stored-results.ts";

// The agent's upkeep of its data folder, without days of waiting: messages and images are stored, made old, and removed.

const [, , data] = process.argv as [string, string, string];
const DAY_MS = 24 * 60 * 60_000;
const ROUNDS = 12;
const say = (word: string, kind: string, mark: string) =>
  process.stdout.write(`${word} ${kind} ${mark} ${Date.now()}\n`);

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
  const agent = await openAgent(data);
  const { spool } = agent;
  for (let round = 1; round <= ROUNDS; round++) {
    const number = run * ROUNDS + round;
    await addMessage(agent, number, () => say("acknowledged", "message", messageMark(number)));
    await addImage(agent, number);
    const uid = instanceUid(number);
    say("acknowledged", "instance", uid);
    if (number % 3 === 0) {
      age(uid);
      say("removes", "instance", uid);
      const { count } = await removeOld(data, spool, { keepMs: DAY_MS, bytesMax: null }, Date.now());
      if (count !== 1) throw new Error(`expected 1 removed image, got ${count}`);
    }
    // Everything of the release's spool that is settled.
    if (number % 4 === 0) while (await spool.call("prune", Date.now() - DAY_MS, 5));
  }
  await agent.close();
}
process.exit(0);
