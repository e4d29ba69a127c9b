import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { beforeEach, expect, test, vi } from "vitest";
import { backupCommand } from "../../../agent/cli/backup.ts";
import { runDoctor } from "../../../agent/doctor/run-doctor.ts";
import { type FilingClinic, useFilingClinic } from "../../support/clinic/filing-clinic.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { patient } from "../../server/harness.ts";
import { HEADER } from "../records.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");

// Goal: the doctor and a backup name the messages that the disk changed, with what can be rescued, and the backup succeeds.

let clinic: FilingClinic;
let config: string;
const dog = patient();

useFilingClinic((created) => (clinic = created));

beforeEach(async () => {
  clinic.devices.set("chem-1", { profile: genericAstm, timeZone: "UTC", model: null });
  await clinic.know(dog, "4711");
  await clinic.receive("chem-1", [
    HEADER,
    "P|1|4711",
    "O|1|S1||^^^P|R||20261121110000",
    "R|1|^^^413|118|mg/dL",
    "L|1|N",
  ]);
  const folder = temporaryFolder();
  config = path.join(folder, "agent.yaml");
  const devices = [{ id: "chem-1", profile: "generic-astm", connection: { listen: "127.0.0.1:4001" } }];
  const server = { url: "http://127.0.0.1:9", keyFile: "agent.key" };
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  fs.writeFileSync(config, JSON.stringify({ server, data: clinic.folder, timeZone: "UTC", devices }));
});

function damage(): void {
  const db = new Database(path.join(clinic.folder, "spool.db"));
  db.exec("UPDATE message SET received_at = received_at + 1");
  db.close();
}

const doctored = async () =>
  (await runDoctor({ configFile: config, isOffline: true })).filter(({ id }) => id.startsWith("database."));

async function backUp(): Promise<string> {
  const errors = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const file = path.join(temporaryFolder(), "agent.backup");
  await backupCommand.parseAsync([file, "--config", config], { from: "user" });
  const said = errors.mock.calls.join("");
  errors.mockRestore();
  expect(fs.existsSync(file)).toBe(true);
  return said;
}

const SENTENCE = "the disk changed 1 row of messages: M0 of chem-1";

test("the doctor reports damaged messages with the remedy, and nothing for an undamaged spool", async () => {
  expect((await doctored()).map(({ id }) => id)).toEqual(["database.whole"]);
  damage();
  expect(await doctored()).toMatchObject([
    {
      id: "database.messages",
      status: "problem",
      sentence: SENTENCE,
      remedy: expect.stringContaining("again") as string,
    },
  ]);
});

test("a backup with damaged messages succeeds and warns with the remedy, and one without them does not warn", async () => {
  expect(await backUp()).not.toContain("the disk changed");
  damage();
  const said = await backUp();
  expect(said).toContain(`warning: ${SENTENCE}; the backup has them so: send it again`);
});

test("a spool that another version has written is backed up without a check of its messages", async () => {
  const db = new Database(path.join(clinic.folder, "spool.db"));
  db.exec("UPDATE migration SET version = version - 1");
  db.close();
  expect(await backUp()).toContain("not checked for damage");
});
