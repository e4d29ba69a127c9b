import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../../server/store/database/open.ts";
import { viewStudy } from "../../../../server/store/studies/history.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  dumpServer,
  migrateServer,
  newerServerMigrations,
  serverMigrations,
} from "../../../support/planted-migrations.ts";
import { clinic, connection, connectTo, patient, startServer, study, temporaryDatabase } from "../../harness.ts";

// Goal: an older server continues with a database that a newer one migrated and wrote. Method: each migration with an undo is
// applied and taken back, and a database is used under migrations that no version has.

/** Number of migrations of 0.1.0, which have no undo. */
const WITHOUT_UNDO = 16;

/** The times of the migrations differ. */
function withoutTimes(dump: string): string {
  return dump.replaceAll(/\b1[6-9]\d{11}\b/g, "TIME");
}

test("each migration has an undo that takes the schema back to the one before", async () => {
  const database = await temporaryDatabase();
  const migrations = serverMigrations(database);
  expect(migrations.slice(WITHOUT_UNDO).filter(({ undo }) => undo === null)).toEqual([]);
  await migrateServer(database, { migrations: migrations.slice(0, WITHOUT_UNDO) });
  for (let version = WITHOUT_UNDO + 1; version <= migrations.length; version += 1) {
    const before = dumpServer(database);
    await migrateServer(database, { migrations: migrations.slice(0, version) });
    const after = dumpServer(database);
    expect(after).not.toBe(before);
    await migrateServer(database, { migrations: migrations.slice(0, version - 1), undoNewer: true });
    expect(dumpServer(database)).toBe(before);
    await migrateServer(database, { migrations: migrations.slice(0, version) });
    expect(withoutTimes(dumpServer(database))).toBe(withoutTimes(after));
  }
});

test("studies that were acknowledged under a newer schema are there after the undo", async () => {
  const [ours, dog] = [newFp("clinic"), patient({ external_ids: ["10021"] })];
  const server = await startServer(clinic(ours), dog, connection(dog.fp, ours));
  const { database } = server;
  const key = await server.makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest"]);
  const before = dumpServer(database);
  const migrations = newerServerMigrations(database);
  await migrateServer(database, { migrations });
  const [first, second] = [study({ patient_fp: dog.fp }), study()];
  const outcomes = await server.push(key, first, second);
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["filed", "unmatched"]);

  await expect(openStore(database)).rejects.toThrow(
    /schema \d+ of version \S+, this version .*: install version \S+ or/,
  );
  const older = await openStore(database, 1000, true);
  onTestFinished(() => older.close());
  expect((await viewStudy(older, first.fp))?.study).toMatchObject({ fp: first.fp, patient_fp: dog.fp });
  expect((await viewStudy(older, second.fp))?.study).toMatchObject({ fp: second.fp, patient_fp: "" });
  const schema = (dump: string) =>
    dump.replaceAll(/^INSERT .*\n|^COPY [^]*?^\\\.\n|^SELECT pg_catalog\.setval.*/gm, "");
  expect(schema(dumpServer(database))).toBe(schema(before));
  // The next upgrade goes forward again.
  await migrateServer(database, { migrations });
  await expect(openStore(database)).rejects.toThrow(/install version/);
});

test("servers that start together take a newer schema back once", async () => {
  const database = await temporaryDatabase();
  await migrateServer(database, { migrations: newerServerMigrations(database) });
  const stores = await Promise.all([1, 2, 3].map(() => openStore(database, 5000, true)));
  await Promise.all(stores.map((store) => store.close()));
  await (await openStore(database)).close();
  expect(dumpServer(database)).not.toContain("signed_by");
});

test("an undo that fails leaves the database of the newer server", async () => {
  const database = await temporaryDatabase();
  await migrateServer(database, { migrations: newerServerMigrations(database) });
  const other = await connectTo(database);
  // The undo of the first migration finds its index missing, after that of the second one.
  await other.run("drop index study_operator");
  await other.close();
  const before = dumpServer(database);
  await expect(openStore(database, 1000, true)).rejects.toThrow(
    /could not be updated and stays as it was \(.*study_operator.*\): install the version before again/,
  );
  expect(dumpServer(database)).toBe(before);
});
