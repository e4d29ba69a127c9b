import fs from "node:fs";
import { expect, test } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";

// A session that ended in the future would keep the events of all later ones until then, and the spool would only grow.

test("events and the end of a session have the agreed time, not that of a machine whose clock is ahead", async () => {
  const folder = temporaryFolder();
  const right = Date.parse("2020-01-01T00:00:00.000Z");
  const spool = await Spool.open(folder, { now: () => right });
  const session = spool.openSession("chem", "generic-astm");
  const event = { device: "chem", session, kind: "chunk", bytes: Uint8Array.of(5), durable: true } as const;
  await new Promise((resolve) => spool.append(event, resolve));
  spool.finishLater(session);
  const times = () =>
    readSpool(folder, (db) =>
      db.prepare("SELECT s.finished_at, e.at FROM session s JOIN event e ON e.session = s.id").raw().all(),
    );
  await until("the session is finished", () => (times() as number[][])[0]?.[0] != null);
  expect(times()).toEqual([[right, right]]);
  await spool.close();
  fs.rmSync(folder, { recursive: true });
});
