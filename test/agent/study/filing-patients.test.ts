import { beforeEach, describe, expect, test } from "vitest";
import type { StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { Filing } from "../../../agent/study/filing.ts";
import type { PushedStudy, Snapshot } from "../../../shared/api/study.ts";
import { cat, dog, type TestFiling, useFiling } from "../../support/clinic/filing.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

// Method: a real spool and directory, and a server whose patients the test changes.

let clinic: TestFiling;
useFiling((created) => (clinic = created));

test("a result for an unknown patient syncs the directory first", async () => {
  clinic.known = [];
  await clinic.filing.accept(await clinic.store("chem-1", dog.fp, 1));
  expect(clinic.patientRequests).toBe(1);
  clinic.known = [dog];
  await clinic.filing.accept(await clinic.store("chem-1", dog.fp, 2));
  expect(clinic.patientRequests).toBe(1); // once for both messages
  expect(clinic.listed().map(([, reason]) => reason)).toEqual(
    Array.from({ length: 2 }, () => `no patient has the identifier "${dog.fp}"`),
  );
});

test("a result is flagged by the clinic's own interval, whose version is sent with the study", async () => {
  const about = { species: "dog", analyte: "ALT", unit: "U/L", low: "20", high: "90" } as const;
  clinic.ranges = {
    version: "v1",
    low_quality: false,
    rows: [{ id: "alt-dog", ...about, effective_from: "2025-01-01" }],
  };
  await clinic.filing.accept(await clinic.store("chem-1", dog.fp, 95));
  const [study] = (await clinic.spool.call("takeQueued", 100, 1_000_000, 0)).batch;
  const snapshot = JSON.parse(study?.snapshot ?? "") as Snapshot;
  expect([snapshot.ranges, snapshot.rows[0]?.interval_id]).toEqual(["v1", "clinic:alt-dog"]);
  expect(JSON.parse(study?.body ?? "")).toMatchObject({
    results: [{ reference_range: "20-90", flag: "high" }, { analyte: "GLU" }],
  });
});

test("a result without an identifier matches by name only if the clinic allows it", async () => {
  await clinic.directory.sync();
  const startAt = Date.parse("2026-01-01T12:00:00.000Z");
  await clinic.spool.call("setAppointments", [{ fp: "calevt_1", patientFp: dog.fp, startAt }]);
  const devices = () => ({ profile: abaxisVetscanVs2, timeZone: "UTC", model: null });
  const events = { outcomeStored: () => undefined, fault: () => undefined };
  const results: (string | null)[] = [];
  for (const matchPatientsByName of [false, true]) {
    const message = await clinic.store("chem-1", "", 50);
    const named = { ...message, bytes: Buffer.from(message.bytes.toString().replace("P|1||||||", "P|1||||TEST||")) };
    const own = new Filing(clinic.spool, clinic.directory, devices, events, matchPatientsByName);
    await own.accept(named);
    const queued = (await clinic.spool.call("takeQueued", 100, 1_000_000, 0)).batch.at(-1);
    results.push(queued?.patientFp ?? null, (JSON.parse(queued?.snapshot ?? "") as Snapshot).notes[0] ?? null);
  }
  expect(results).toEqual([
    null,
    "unmatched: the device sent no patient identifier",
    dog.fp,
    `matched ${dog.fp} by its name: the only dog with it, and with an event on that day`,
  ]);
});

test("stored patients match while the server is away", async () => {
  await clinic.filing.accept(await clinic.store("chem-1", dog.fp, 1)); // fetched now
  await clinic.server.close();
  await clinic.filing.accept(await clinic.store("chem-1", dog.fp, 2));
  expect(clinic.listed().map(([, reason]) => reason)).toEqual([null, null]);
});

describe("a result with an accession of the agent", () => {
  const order = { accession: "V34679AC", device: "lab-1", patientFp: dog.fp, tests: ["ALT"], createdAt: 0 };

  async function file(patient: string, specimen: string) {
    await clinic.spool.call("placeOrder", { ...order, state: "sent" });
    const records = ["H|\\^&|||Analyzer", `P|1|${patient}`, `O|1|${specimen}`, "R|1|^^^ALT|52|U/L", "L|1|N"];
    const bytes = Buffer.from(records.map((record) => `${record}\r`).join(""));
    const where = { id: "M1", session: 1, ordinal: 1, device: "lab-1", profile: "generic-astm", receivedAt: 1 };
    const message = { ...where, bytes, incomplete: null };
    await clinic.spool.call("addMessage", message);
    await clinic.filing.accept(message);
    const { batch } = await clinic.spool.call("takeQueued", 1, 1_000_000, 0);
    const [stored] = await clinic.spool.call("ordersByAccession", [order.accession]);
    return { filedTo: batch[0]!.patientFp, reason: clinic.listed()[0]![1], order: stored!.state };
  }

  beforeEach(async () => {
    clinic.known = [dog, cat];
    await clinic.spool.call("setMeta", "directory", "{}");
    await clinic.directory.sync();
  });

  test.each([
    ["in O-3 alone", "", "V34679AC"],
    ["in O-4, the instrument's own", "", "17|V34679AC"],
    ["in small letters", "", "v34679ac"],
    ["typed as the patient's number", "V34679AC", ""],
    ["with an unknown number", "99", "V34679AC"],
    ["with the patient's own fp", dog.fp, "V34679AC"],
  ])("an accession %s files the result to the patient of the order", async (_, patient, specimen) => {
    expect(await file(patient, specimen)).toEqual({ filedTo: dog.fp, reason: null, order: "resulted" });
  });

  test("an accession with another patient's fp files to neither, and the order stays open", async () => {
    const reason = "accession V34679AC was issued for another patient than the identifiers name";
    expect(await file(cat.fp, "V34679AC")).toEqual({ filedTo: null, reason, order: "sent" });
  });

  test("an accession of the server names its order to the server", async () => {
    const known = { fp: "order_01K9TEST000000000000000R01", accession: "T3467ACD", patientFp: dog.fp, device: null };
    await clinic.spool.call("storeServerOrders", [{ ...known, tests: ["ALT"], createdAt: 0, state: "open" }]);
    const orderOf = async () => {
      const { batch } = await clinic.spool.call("takeQueued", 9, 1_000_000, 0);
      const { order_fp, patient_fp, matched_by } = JSON.parse(batch.at(-1)!.body) as PushedStudy;
      return { order_fp, patient_fp, by: matched_by?.by };
    };
    await file("", known.accession);
    expect(await orderOf()).toEqual({ order_fp: known.fp, patient_fp: dog.fp, by: "accession" });
  });

  test("a result that comes before its order is filed once the order is pulled", async () => {
    const early = await file("", "T3467ACD");
    expect([early.filedTo, early.reason]).toEqual([null, "the device sent no patient identifier"]);
    const pulled = { fp: "order_01K9TEST000000000000000R01", accession: "T3467ACD", patientFp: dog.fp, device: null };
    await clinic.spool.call("storeServerOrders", [{ ...pulled, tests: ["ALT"], createdAt: 0, state: "open" }]);
    await clinic.filing.rematch(["lab-1"]);
    const { batch } = await clinic.spool.call("takeQueued", 9, 1_000_000, 0);
    expect(batch.map(({ patientFp }) => patientFp)).toContain(dog.fp);
  });

  test("an accession with one wrong letter files to no patient", async () => {
    const reason = "the device sent no patient identifier";
    expect(await file("", "V34679AD")).toEqual({ filedTo: null, reason, order: "sent" });
  });
});

describe("a result whose patient is not known yet", () => {
  const NEVER_FETCHED = "the clinic's patients were never fetched: waiting for the first list";
  const unknown = `no patient has the identifier "${dog.fp}"`;
  const queued = async () => {
    const { batch } = await clinic.spool.call("takeQueued", 100, 1_000_000, 0);
    return batch.map(({ revision, patientFp }) => [revision, patientFp]);
  };
  const rematch = () => clinic.filing.rematch(["chem-1", "lab-1"]);

  test("a result before the first sync is matched after it", async () => {
    clinic.isAway = true;
    await clinic.filing.accept(await clinic.store("chem-1", dog.fp, 143));
    await clinic.filing.accept(await clinic.store("chem-1", cat.fp, 50));
    expect(clinic.listed()).toEqual([
      ["pending", NEVER_FETCHED],
      ["pending", NEVER_FETCHED],
    ]);
    clinic.isAway = false;
    await clinic.directory.sync();
    await rematch();
    expect(clinic.listed()).toEqual([
      ["pending", null],
      ["pending", `no patient has the identifier "${cat.fp}"`],
    ]);
    expect(await queued()).toEqual([
      [1, null],
      [1, null],
      [2, dog.fp],
    ]);
  });

  test("a result without an identifier keeps its reason before the first sync", async () => {
    clinic.isAway = true;
    await clinic.filing.accept(await clinic.store("chem-1", "", 143));
    expect(clinic.listed()).toEqual([["pending", "the device sent no patient identifier"]]);
  });

  test("a sync that adds the patient matches the result, and no other message", async () => {
    clinic.known = [];
    await clinic.directory.sync();
    const first = await clinic.store("chem-1", dog.fp, 143);
    const other = await clinic.store("chem-1", cat.fp, 50);
    for (const message of [first, other]) await clinic.filing.accept(message);
    expect(clinic.listed().map(([, reason]) => reason)).toEqual([unknown, `no patient has the identifier "${cat.fp}"`]);
    clinic.settled = [];
    await clinic.directory.sync();
    await rematch();
    expect(clinic.settled).toEqual([]);
    clinic.known = [dog];
    await clinic.directory.sync();
    await rematch();
    expect(clinic.settled).toEqual([first.id]);
    const { batch } = await clinic.spool.call("takeQueued", 100, 1_000_000, 0);
    const { fp, revision, patientFp, body } = batch.at(-1)!;
    expect([fp, revision, patientFp]).toEqual([batch[0]!.fp, 2, dog.fp]);
    expect(JSON.parse(body)).toMatchObject({ results: [{ analyte: "ALT", flag: "high" }, { analyte: "GLU" }] });
  });

  test("a rematched result follows the newer messages of its device", async () => {
    clinic.known = [];
    const early = await clinic.store("chem-1", dog.fp, 1);
    await clinic.filing.accept(early);
    clinic.known = [dog];
    await clinic.directory.sync();
    clinic.settled = [];
    const late: StoredMessage[] = [];
    for (let alt = 2; alt <= 9; alt++) late.push(await clinic.store("chem-1", dog.fp, alt));
    await Promise.all([...late.map((message) => clinic.filing.accept(message)), rematch()]);
    expect(clinic.settled).toEqual([...late, early].map(({ id }) => id));
  });

  test("a result with another species than its patient's stays unmatched until that is corrected", async () => {
    clinic.known = [];
    await clinic.filing.accept(await clinic.store("chem-1", dog.fp, 143));
    clinic.known = [{ ...dog, species: "cat" }];
    await clinic.directory.sync();
    await rematch();
    expect(clinic.listed()).toEqual([["pending", "species contradiction: the device says dog, the patient is a cat"]]);
    clinic.known = [dog];
    await clinic.directory.sync();
    await rematch();
    expect(clinic.listed()).toEqual([["pending", null]]);
    expect(await queued()).toEqual([
      [1, null],
      [2, dog.fp],
    ]);
  });

  test("an accession matches once the patient of its order is added again", async () => {
    clinic.known = [];
    const order = { accession: "V34679AC", device: "lab-1", patientFp: dog.fp, tests: ["ALT"], createdAt: 0 };
    await clinic.spool.call("placeOrder", { ...order, state: "sent" });
    const records = ["H|\\^&|||Analyzer", "P|1", "O|1|V34679AC", "R|1|^^^ALT|52|U/L", "L|1|N"];
    const bytes = Buffer.from(records.map((record) => `${record}\r`).join(""));
    const where = { id: "M1", session: 1, ordinal: 1, device: "lab-1", profile: "generic-astm", receivedAt: 1 };
    await clinic.spool.call("addMessage", { ...where, bytes, incomplete: null });
    await clinic.filing.acceptStored();
    await clinic.filing.idle();
    clinic.known = [dog];
    await clinic.directory.sync();
    await rematch();
    expect(await queued()).toEqual([
      [1, null],
      [2, dog.fp],
    ]);
  });

  test("a result waits while the configuration lacks its device", async () => {
    clinic.known = [];
    await clinic.filing.accept(await clinic.store("chem-1", dog.fp, 143));
    clinic.known = [dog];
    await clinic.directory.sync();
    await clinic.filing.rematch([]);
    expect(clinic.listed()).toEqual([["pending", unknown]]);
    await clinic.filing.rematch(["chem-1"]);
    expect(clinic.listed()).toEqual([["pending", null]]);
  });

  test("a crash between the sync and the match leaves the result to the next rematch", async () => {
    clinic.known = [];
    await clinic.filing.accept(await clinic.store("chem-1", dog.fp, 143));
    clinic.known = [dog];
    await clinic.directory.sync();
    // The directory of the next process finds no change.
    const next = clinic.newDirectory();
    expect(await next.sync()).toEqual({ whole: false, changed: 0 });
    await rematch();
    expect(clinic.listed()).toEqual([["pending", null]]);
  });
});
