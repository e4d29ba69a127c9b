import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { backupCommand } from "../../../server/cli/backup.ts";
import { damagedRows } from "../../../server/cli/damaged-rows.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { temporaryFolder } from "../../support/processes.ts";
import { clinic, connection, patient, startServer, study } from "../harness.ts";

// Goal: a backup of the server names the rows that the disk changed, and succeeds. PostgreSQL has its own tools for backups.

test("a backup names damaged studies, revisions and patients with the remedy, and succeeds", async () => {
  const [ours, dog] = [newFp("clinic"), patient()];
  const { makeKey, push, database: data } = await startServer(clinic(ours), dog, connection(dog.fp, ours));
  const key = await makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest"]);
  const [bad, good, old] = [1, 2, 3].map(() => study({ patient_fp: dog.fp }));
  await push(key, bad, good, old);
  await push(key, { ...old, revision: 2, device_name: "Y" });
  const file = path.join(data, "vetwire.db");
  expect(await damagedRows(file)).toEqual([]);

  const db = new Database(file);
  onTestFinished(() => void db.close());
  const change = (table: string, where: string, column: string) => {
    const sum = db.prepare(`SELECT checksum FROM ${table} WHERE ${where}`).pluck().get();
    db.exec(`UPDATE ${table} SET ${column} WHERE ${where}`);
    // A trigger clears the checksum of a change by an older program; the disk leaves it.
    db.prepare(`UPDATE ${table} SET checksum = ? WHERE ${where}`).run(sum);
  };
  change("study", `fp = '${bad!.fp}'`, "device_name = 'X'");
  change("study_revision", "revision = 1", "body = body || ' '");
  change("patient", `fp = '${dog.fp}'`, "weight_kg = 99");
  const errors = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const target = path.join(temporaryFolder(), "server.backup");
  await backupCommand.parseAsync([target, "--data", data], { from: "user" });
  const said = errors.mock.calls.join("");
  vi.restoreAllMocks();
  expect(fs.readdirSync(path.dirname(target))).toEqual(["server.backup"]);
  expect(said).toContain(`the disk changed 1 row of studies: ${bad!.fp}; send it again with agent resend`);
  expect(said).toContain(`the disk changed 1 row of revisions: 1 of ${old!.fp}`);
  expect(said).toContain(`the disk changed 1 row of patients: ${dog.fp}; import it again`);
  expect(said).not.toContain(good!.fp);
});
