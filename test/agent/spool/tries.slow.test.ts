import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { onTestFinished, expect, test } from "vitest";
import { imageFile } from "../../../agent/imaging/files/image-folder.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { messageRow } from "../../../agent/spool/queries/messages/message-row.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { SET_ASIDE } from "../../../agent/spool/tries.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// Method: a stage of the agent starts on a spool in which one item kills the process with SIGKILL, until it survives.

const SCRIPT = path.resolve("test/support/machine/killed-work.ts");

/** Fills a spool, then starts the stage until the process survives. @returns the number of killed starts, and the folder */
async function starts(stage: string, fill: (spool: Spool, folder: string) => Promise<unknown>) {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const spool = await Spool.open(folder);
  await fill(spool, folder);
  await spool.close();
  for (let killed = 0; killed < 7; killed++) {
    const { signal, status, stderr } = spawnSync(process.execPath, [SCRIPT, stage, folder], { encoding: "utf8" });
    if (signal === "SIGKILL") continue;
    if (status !== 0) throw new Error(stderr);
    return { killed, folder };
  }
  throw new Error("killed at each start");
}

const states = (folder: string) =>
  Object.fromEntries(
    readSpool(folder, listMessages).map(({ id, state, code }) => [id, code === SET_ASIDE ? "set aside" : state]),
  );

function message(id: string, device: string, ordinal: number) {
  const received = { device, profile: "generic-astm", receivedAt: Date.now(), incomplete: null };
  return messageRow({ id, session: 1, ordinal, ...received, bytes: Buffer.from("H|\\^&\rL|1|N\r") }, null);
}

test("a message that ends the agent is set aside after five starts, and the others are filed", async () => {
  const { killed, folder } = await starts("message", (spool) =>
    spool.call("addMessages", [message("M1", "chem-1", 0), message("M2", "bad", 1), message("M3", "hema-1", 2)]),
  );
  expect(killed).toBe(5);
  expect(states(folder)).toEqual({ M1: "not-for-patients", M2: "set aside", M3: "not-for-patients" });
});

test("a message that ends the agent when its patient appears is set aside, too", async () => {
  const { killed, folder } = await starts("message", async (spool, data) => {
    await spool.call("addMessages", [message("M1", "chem-1", 0), message("M2", "bad", 1)]);
    const db = new Database(path.join(data, "spool.db"));
    db.exec("UPDATE message SET state = 'unmatched', processed_at = 1");
    db.exec("INSERT INTO pending_match (match_key, message, due) VALUES ('4711', 'M1', 1), ('4711', 'M2', 1)");
    db.close();
  });
  expect(killed).toBe(5);
  expect(states(folder)).toEqual({ M1: "not-for-patients", M2: "set aside" });
});

test("a session whose replay ends the agent becomes a message of its bytes, and the others are replayed", async () => {
  const bytes = Buffer.from("\x05");
  const { killed, folder } = await starts("session", async (spool) => {
    for (const profile of ["generic-astm", "bad", "generic-astm"]) {
      const session = spool.openSession("chem-1", profile);
      await new Promise((resolve) =>
        spool.append({ device: "chem-1", session, kind: "chunk", bytes, durable: true }, resolve),
      );
    }
  });
  expect(killed).toBe(5);
  expect(Object.values(states(folder))).toEqual(["set aside"]);
  const spool = await Spool.open(folder);
  expect(await spool.call("unfinishedSessions")).toEqual([]);
  await spool.close();
});

/** Stores an image in a study of its own. */
async function image(spool: Spool, folder: string, id: string) {
  const uids = { study: `1.2.${id}`, sopClass: "1.2", sopInstance: `1.2.${id}`, transferSyntax: "1.2.840.10008.1.2.1" };
  const sizes = { head: new Uint8Array(0), sha256: id, fileBytes: 1, headerBytes: 1 };
  const received = { device: "xray", receivedAt: Date.now(), quietMs: 0, callingAe: "DX1" };
  await spool.call("addInstance", { message: id, ...received, ...uids, ...sizes });
  fs.mkdirSync(path.dirname(imageFile(folder, id)), { recursive: true });
  fs.writeFileSync(imageFile(folder, id), "x");
}

test("an image study that ends the agent is set aside after two starts, and the others are filed", async () => {
  const { killed, folder } = await starts("images", async (spool, data) => {
    for (const id of ["I1", "Ibad", "I3"]) await image(spool, data, id);
  });
  expect(killed).toBe(2);
  expect(states(folder)).toEqual({ I1: "quarantined", Ibad: "set aside", I3: "quarantined" });
  expect(fs.existsSync(imageFile(folder, "Ibad"))).toBe(true);
});

test("an image whose forwarding ends the agent stays queued, and ends only two starts", async () => {
  const { killed, folder } = await starts("forward", async (spool, data) => {
    await spool.call("setDestinations", ["pacs"]);
    await image(spool, data, "Ibad");
  });
  expect(killed).toBe(2);
  const spool = await Spool.open(folder);
  expect(await spool.call("countForwards")).toEqual([{ destination: "pacs", state: "queued", count: 1 }]);
  await spool.close();
});
