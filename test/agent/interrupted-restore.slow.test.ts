import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../agent/spool/thread/schema.ts";
import { Spool } from "../../agent/spool/spool.ts";
import { commitPlan } from "../../shared/platform/care/restore-steps.ts";
import { temporaryFolder } from "../support/machine/processes.ts";

test("the start of the agent finishes an interrupted restore before it opens the spool", async () => {
  const data = temporaryFolder();
  onTestFinished(() => fs.rmSync(data, { recursive: true, force: true }));
  await (await Spool.open(data)).close();
  fs.mkdirSync(path.join(data, "restoring"));
  const restored = new Database(path.join(data, "restoring", "spool.db"));
  migrate(restored);
  restored.exec("INSERT INTO meta VALUES ('restored', 'yes')");
  restored.close();
  commitPlan(data, { backup: "b", database: "spool.db", files: [], later: [], aside: "before-restore-x" });
  const spool = await Spool.open(data);
  onTestFinished(() => spool.close());
  expect(await spool.call("getMeta", "restored")).toBe("yes");
  expect(fs.existsSync(path.join(data, "before-restore-x", "spool.db"))).toBe(true);
  expect(fs.readdirSync(data).filter((name) => name.startsWith("resto"))).toEqual([]);
});
