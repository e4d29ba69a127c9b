import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { backupCommand } from "../../../server/cli/backup.ts";
import { damagedStudies } from "../../../server/cli/common/damaged-studies.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { clinic, connection, patient, startServer, study } from "../harness.ts";

// Goal: a backup of the server names the studies that the disk changed, and succeeds. PostgreSQL has its own tools for backups.

test("a backup names damaged studies with the remedy, and succeeds", async () => {
  const [ours, dog] = [newFp("clinic"), patient()];
  const { makeKey, push, database: data } = await startServer(clinic(ours), dog, connection(dog.fp, ours));
  const key = await makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest"]);
  const [bad, good] = [study({ patient_fp: dog.fp }), study({ patient_fp: dog.fp })];
  await push(key, bad, good);
  const file = path.join(data, "vetwire.db");
  expect(await damagedStudies(file)).toBeNull();

  const db = new Database(file);
  onTestFinished(() => void db.close());
  db.exec(`UPDATE study SET device_name = 'X' WHERE fp = '${bad.fp}'`);
  const errors = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const target = path.join(temporaryFolder(), "server.backup");
  await backupCommand.parseAsync([target, "--data", data], { from: "user" });
  const said = errors.mock.calls.join("");
  vi.restoreAllMocks();
  expect(fs.readdirSync(path.dirname(target))).toEqual(["server.backup"]);
  expect(said).toContain(`the disk changed 1 row of studies: ${bad.fp}; send it again with agent resend`);
  expect(said).not.toContain(good.fp);
});
