import { expect, test } from "vitest";
import type { Operations } from "../../../../../agent/spool/queries/operations.ts";
import { openOperations } from "../../../../support/spool-operations.ts";

const AT = "2026-01-01T00:00:00.000Z";
const patient = (fp: string, name = "Rex") => ({ fp, body: JSON.stringify({ fp, name, updated_at: AT }) });
const stored = (spool: Operations) =>
  spool.patientsAfter("", 10).map((body) => (JSON.parse(body) as { fp: string }).fp);
const withIdentifier = (spool: Operations, identifier: string) =>
  spool.resolveReferences({ accessions: [], fps: [], identifiers: [identifier] }).patients.length;

test("only new and changed patients count as changes", () => {
  const { spool } = openOperations();
  expect(spool.upsertPatients([patient("p1"), patient("p2")], null)).toBe(2);
  expect(spool.upsertPatients([patient("p1"), patient("p2", "Mia")], null)).toBe(1);
  expect(spool.patientByFp("p2")).toBe(patient("p2", "Mia").body);
});

test("a full sync removes the patients and identifiers that it did not find, and stores its progress", () => {
  const { spool } = openOperations();
  spool.upsertPatients([patient("p1"), patient("p2"), patient("p3")], 1);
  spool.setIdentifiers([{ patientFp: "p1", identifiers: ["4711"] }], 1);
  spool.setIdentifiers([{ patientFp: "p2", identifiers: ["4712"] }], 1);
  spool.upsertPatients([patient("p1"), patient("p3", "Mia")], 2);
  spool.setIdentifiers([{ patientFp: "p3", identifiers: ["4713"] }], 2);
  spool.endFullSync(2, "progress", false);
  expect(stored(spool)).toEqual(["p1", "p3"]);
  expect(["4711", "4712", "4713"].map((identifier) => withIdentifier(spool, identifier))).toEqual([0, 0, 1]);
  expect(spool.getMeta("directory")).toBe("progress");
});

test("a full sync after the clock was set back removes what the one before found and it did not", () => {
  const { spool } = openOperations();
  for (const [generation, fps] of [
    [9000, ["p1", "p2"]],
    [5000, ["p1"]],
  ] as const) {
    spool.upsertPatients(
      fps.map((fp) => patient(fp)),
      generation,
    );
    spool.setIdentifiers(
      fps.map((fp) => ({ patientFp: fp, identifiers: [`number of ${fp}`] })),
      generation,
    );
    spool.endFullSync(generation, "{}", false);
  }
  expect(stored(spool)).toEqual(["p1"]);
  expect(["p1", "p2"].map((fp) => withIdentifier(spool, `number of ${fp}`))).toEqual([1, 0]);
});

test("an incremental sync marks no patient as found", () => {
  const { spool } = openOperations();
  spool.upsertPatients([patient("p1")], 1);
  spool.upsertPatients([patient("p1")], null);
  spool.endFullSync(2, "{}", false);
  expect(stored(spool)).toEqual([]);
});

test("a patient that changed after its removal stays", () => {
  const { spool } = openOperations();
  spool.upsertPatients([patient("p1"), patient("p2")], null);
  const removed = [
    { fp: "p1", at: Date.parse(AT) - 1 },
    { fp: "p2", at: Date.parse(AT) },
    { fp: "unknown", at: Date.parse(AT) },
  ];
  expect(spool.removePatients(removed)).toBe(1);
  expect(stored(spool)).toEqual(["p1"]);
});

test("a change of a patient or an identifier raises the version of the directory", () => {
  const { spool } = openOperations();
  const version = () => spool.resolveReferences({ accessions: [], fps: [], identifiers: [] }).version;
  spool.upsertPatients([patient("p1")], null);
  spool.setIdentifiers([{ patientFp: "p1", identifiers: ["4711", "4712"] }], null);
  const before = version();
  spool.setIdentifiers([{ patientFp: "p1", identifiers: ["4712", "4711"] }], null);
  spool.upsertPatients([patient("p1")], null);
  expect(version()).toBe(before);
  spool.setIdentifiers([{ patientFp: "p1", identifiers: ["4712"] }], null);
  expect(version()).toBe(before + 1);
});
