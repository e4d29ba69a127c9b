import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/message-summaries.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { abaxisVetscanVs2 } from "../../../agent/devices/abaxis-vetscan-vs2.ts";
import { genericAstm } from "../../../agent/devices/generic-astm.ts";
import type { Profile } from "../../../agent/devices/profile.ts";
import { Filing } from "../../../agent/study/filing.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import type { StoredMessage } from "../../../agent/spool/queries/message-row.ts";
import { StorageError } from "../../../agent/spool/storage-error.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import type { Snapshot } from "../../../shared/api/study.ts";
import { vetScanRecords } from "../../support/astm.ts";
import { until } from "../../support/processes.ts";
import { scriptedServer } from "../../support/scripted-server.ts";
import { useSpool } from "../../support/spool.ts";

// Method: a real spool and directory, the server's patients in a list that the test changes.

const used = useSpool();
let server: Awaited<ReturnType<typeof scriptedServer>>;
let directory: Directory;
let filing: Filing;
let known: { fp: string; species: string }[];
let ranges: ClinicRanges | null;
let asked: number;
let faults: string[];
let ordinal: number;
/** The server answers nothing. */
let isAway: boolean;
/** The messages that were settled, in order. */
let settled: string[];

const cat = { fp: "patient_01K9TEST000000000000000002", species: "cat" };
const dog = { fp: "patient_01K9TEST000000000000000001", species: "dog" };
/** A table that breaks our code, as a bug in a profile would. */
const poisoned: Profile = {
  ...abaxisVetscanVs2,
  code: () => {
    throw new Error("a bug");
  },
};

beforeEach(async () => {
  known = [dog];
  asked = 0;
  faults = [];
  ordinal = 0;
  ranges = null;
  isAway = false;
  settled = [];
  server = await scriptedServer(({ url }) => {
    if (isAway) return { status: 503 };
    if (url === "/agent/v1/ranges") return { status: 200, body: { success: true, data: ranges } };
    if (!url.startsWith("/api/v1/patients")) return { status: 404 };
    asked += 1;
    const at = "2026-01-01T00:00:00.000Z";
    const rest = {
      name: "Test",
      breed: null,
      sex: null,
      date_of_birth: null,
      weight_kg: null,
      created_at: at,
      updated_at: at,
    };
    const items = known.map((patient) => ({
      ...patient,
      ...rest,
      owner_customer_fp: "customer_01K9TEST000000000000000D01",
    }));
    return {
      status: 200,
      body: {
        success: true,
        message: "OK",
        data: { items, total: items.length, page: 1, page_size: 100, has_more: false },
      },
    };
  });
  const devices = new Map<string, Profile>([
    ["chem-1", abaxisVetscanVs2],
    ["lab-1", genericAstm],
    ["broken-1", poisoned],
  ]);
  const deviceById = (id: string) => {
    const profile = devices.get(id);
    return profile === undefined ? undefined : { profile, timeZone: "UTC", model: null };
  };
  directory = new Directory(
    used.spool,
    createServerClient(server.url, () => "sk_live_test"),
  );
  filing = new Filing(used.spool, directory, deviceById, {
    outcomeStored: ({ id }) => void settled.push(id),
    fault: (message) => void faults.push(message.device),
  });
});

afterEach(async () => {
  await filing.idle();
  await server.close();
});

async function store(
  device: string,
  patient: string,
  alt: number,
  incomplete: string | null = null,
): Promise<StoredMessage> {
  const records = vetScanRecords({ patient, species: "Dog", collected: `2026010109${String(10 + ordinal)}00`, alt });
  const kept = incomplete === null ? records : records.slice(0, 4);
  const id = `M${ordinal++}`;
  const bytes = Buffer.from(kept.map((record) => `${record}\r`).join(""));
  const message = {
    id,
    session: 1,
    ordinal,
    device,
    profile: "abaxis-vetscan-vs2",
    receivedAt: ordinal,
    bytes,
    incomplete,
  };
  await used.spool.call("addMessage", message);
  return message;
}

const listed = () => readSpool(used.folder, listMessages).map(({ state, reason }) => [state, reason]);
const queuedValues = async () =>
  (await used.spool.call("takeQueued", 100, 1_000_000, 0)).batch.map(
    ({ body }) => (JSON.parse(body) as { results: { value: number }[] }).results[0]!.value,
  );

const resultsOf = (body: string) =>
  (JSON.parse(body) as { results: { analyte: string; value: number }[] }).results.map(({ analyte, value }) => [
    analyte,
    value,
  ]);

test("a message that breaks our code is quarantined, and the next ones of every device are filed", async () => {
  const messages = [
    await store("broken-1", dog.fp, 1),
    await store("chem-1", dog.fp, 2),
    await store("broken-1", dog.fp, 3),
  ];
  await Promise.all(messages.map((message) => filing.accept(message)));
  expect(faults).toEqual(["broken-1", "broken-1"]);
  expect(listed()).toEqual([
    ["quarantined", "internal error: a bug"],
    ["pending", null],
    ["quarantined", "internal error: a bug"],
  ]);
});

test("the messages of a device become studies in the order they came", async () => {
  const messages: StoredMessage[] = [];
  for (let alt = 1; alt <= 10; alt++) messages.push(await store("chem-1", dog.fp, alt));
  await Promise.all(messages.map((message) => filing.accept(message)));
  expect(await queuedValues()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("what a crash left unsettled is settled at the next start, once", async () => {
  await store("chem-1", dog.fp, 1);
  await store("chem-1", dog.fp, 2);
  await filing.acceptStored();
  await filing.idle();
  await filing.acceptStored();
  await filing.idle();
  expect(await queuedValues()).toEqual([1, 2]);
});

test("after a crash the messages are settled in the order they came, though the clock was set back between them", async () => {
  const first = await store("chem-1", dog.fp, 111);
  ordinal -= 1; // the same measurement
  const bytes = Buffer.from(first.bytes.toString().replace("|111|", "|222|"));
  await used.spool.call("addMessage", {
    ...first,
    id: "corrected",
    session: 2,
    ordinal: 1,
    receivedAt: first.receivedAt - 1,
    bytes,
  });
  await filing.acceptStored();
  await filing.idle();
  expect(await queuedValues()).toEqual([111, 222]);
});

test("a message is settled once the disk lets it be, and its fault is no verdict", async () => {
  let left = 2;
  const spool = Object.create(used.spool) as typeof used.spool;
  spool.call = (name, ...args) => {
    const isLocked = ["incompleteMessages", "settle"].includes(name) && left-- > 0;
    return isLocked ? Promise.reject(new StorageError("database is locked")) : used.spool.call(name, ...args);
  };
  const events = { outcomeStored: () => undefined, fault: (message: StoredMessage) => void faultsOf.push(message.id) };
  const faultsOf: string[] = [];
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  await new Filing(spool, directory, () => device, events).accept(await store("chem-1", dog.fp, 1));
  expect([left < 0, faultsOf, listed()]).toEqual([true, [], [["pending", null]]]);
});

test("a message that the disk never lets be settled does not hold up the stop, and is left to the next start", async () => {
  const spool = Object.create(used.spool) as typeof used.spool;
  spool.call = (name, ...args) =>
    name === "settle" ? Promise.reject(new StorageError("disk is full")) : used.spool.call(name, ...args);
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  const events = { outcomeStored: () => undefined, fault: () => undefined };
  const own = new Filing(spool, directory, () => device, events);
  void own.accept(await store("chem-1", dog.fp, 1));
  await own.stop();
  expect(
    (await used.spool.call("unprocessedMessages", "chem-1", Number.MAX_SAFE_INTEGER, 10)).map(({ id }) => id),
  ).toEqual(["M0"]);
});

test("a stop settles what was accepted before it, and ends a rematch that the disk refuses", async () => {
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  const events = { outcomeStored: () => undefined, fault: () => undefined };
  const own = new Filing(used.spool, directory, () => device, events);
  for (const alt of [1, 2, 3]) void own.accept(await store("chem-1", dog.fp, alt));
  await own.stop();
  expect(await queuedValues()).toEqual([1, 2, 3]);

  const due = await Promise.all(Array.from({ length: 100 }, () => store("chem-1", dog.fp, 1)));
  const refusing = Object.create(used.spool) as typeof used.spool;
  refusing.call = (name, ...args) => {
    if (name === "dueMessages") return Promise.resolve(due) as never;
    return name === "settle" ? Promise.reject(new StorageError("disk is full")) : used.spool.call(name, ...args);
  };
  const full = new Filing(refusing, directory, () => device, events);
  const rematching = full.rematch(["chem-1"]);
  await full.stop();
  await rematching;
  expect(await queuedValues()).toEqual([1, 2, 3]);
});

test("a stop ends the settling of a backlog that the disk refuses", async () => {
  const stored = await Promise.all(Array.from({ length: 100 }, () => store("chem-1", dog.fp, 1)));
  const refusing = Object.create(used.spool) as typeof used.spool;
  let batches = 0;
  refusing.call = (name, ...args) => {
    if (name === "unprocessedMessages") batches += 1;
    return name === "settle" ? Promise.reject(new StorageError("disk is full")) : used.spool.call(name, ...args);
  };
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  const own = new Filing(refusing, directory, () => device, { outcomeStored: () => undefined, fault: () => undefined });
  const backlog = own.acceptStored();
  await own.stop();
  await backlog;
  expect([stored.length, batches]).toEqual([100, 1]);
});

test("a message that our own fault keeps from being settled is quarantined, and the next of its device is filed", async () => {
  const spool = Object.create(used.spool) as typeof used.spool;
  let left = 1;
  spool.call = (name, ...args) =>
    name === "settle" && left-- > 0 ? Promise.reject(new Error("a bug")) : used.spool.call(name, ...args);
  const faultsOf: string[] = [];
  const events = { outcomeStored: () => undefined, fault: (message: StoredMessage) => void faultsOf.push(message.id) };
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  const own = new Filing(spool, directory, () => device, events);
  const messages = [await store("chem-1", dog.fp, 1), await store("chem-1", dog.fp, 2)];
  await Promise.all(messages.map((message) => own.accept(message)));
  expect([faultsOf, listed(), await queuedValues()]).toEqual([
    [messages[0]?.id],
    [
      ["quarantined", "internal error: a bug"],
      ["pending", null],
    ],
    [2],
  ]);
});

test("a patient registered a moment ago is asked for before a result is called unmatched", async () => {
  known = [];
  await filing.accept(await store("chem-1", dog.fp, 1));
  expect(asked).toBe(1);
  known = [dog];
  await filing.accept(await store("chem-1", dog.fp, 2));
  expect(asked).toBe(1); // not for every message
  expect(listed().map(([, reason]) => reason)).toEqual(
    Array.from({ length: 2 }, () => `no patient has the identifier "${dog.fp}"`),
  );
});

test("a result is flagged by the clinic's own interval, and its version goes to the server with the study", async () => {
  const about = { species: "dog", analyte: "ALT", unit: "U/L", low: "20", high: "90" } as const;
  ranges = { version: "v1", low_quality: false, rows: [{ id: "alt-dog", ...about, effective_from: "2025-01-01" }] };
  await filing.accept(await store("chem-1", dog.fp, 95));
  const [study] = (await used.spool.call("takeQueued", 100, 1_000_000, 0)).batch;
  const snapshot = JSON.parse(study?.snapshot ?? "") as Snapshot;
  expect([snapshot.ranges, snapshot.rows[0]?.interval_id]).toEqual(["v1", "clinic:alt-dog"]);
  expect(JSON.parse(study?.body ?? "")).toMatchObject({
    results: [{ reference_range: "20-90", flag: "high" }, { analyte: "GLU" }],
  });
});

test("where the clinic lets names match, a nameless number is no hindrance: the only one called so who comes that day", async () => {
  await directory.sync();
  const startAt = Date.parse("2026-01-01T12:00:00.000Z");
  await used.spool.call("setAppointments", [{ fp: "calevt_1", patientFp: dog.fp, startAt }]);
  const devices = () => ({ profile: abaxisVetscanVs2, timeZone: "UTC", model: null });
  const events = { outcomeStored: () => undefined, fault: () => undefined };
  const told: (string | null)[] = [];
  for (const matchPatientsByName of [false, true]) {
    const message = await store("chem-1", "", 50);
    const named = { ...message, bytes: Buffer.from(message.bytes.toString().replace("P|1||||||", "P|1||||TEST||")) };
    const own = new Filing(used.spool, directory, devices, events, matchPatientsByName);
    await own.accept(named);
    const queued = (await used.spool.call("takeQueued", 100, 1_000_000, 0)).batch.at(-1);
    told.push(queued?.patientFp ?? null, (JSON.parse(queued?.snapshot ?? "") as Snapshot).notes[0] ?? null);
  }
  expect(told).toEqual([
    null,
    "unmatched: the device sent no patient identifier",
    dog.fp,
    `matched ${dog.fp} by its name: the only dog with it, and with an event on that day`,
  ]);
});

describe("a backlog of an earlier process", () => {
  /** A filing whose settlements of these messages wait for `release`. */
  function gated(...ids: readonly string[]) {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const spool = Object.create(used.spool) as typeof used.spool;
    const begun: string[] = [];
    spool.call = async (name, ...args) => {
      const [settlement] = args as unknown as { message: string }[];
      if (name === "settle") begun.push(settlement!.message);
      if (name === "settle" && ids.includes(settlement!.message)) await gate;
      return used.spool.call(name, ...args);
    };
    const order: string[] = [];
    const events = { outcomeStored: ({ id }: StoredMessage) => void order.push(id), fault: () => undefined };
    const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
    return { own: new Filing(spool, directory, () => device, events), spool, order, begun, release: () => release() };
  }
  const storeMany = async (device: string, count: number) => {
    for (let stored = 0; stored < count; stored++) await store(device, dog.fp, 50 + stored);
  };

  test("is settled ahead of the device's new messages, and holds up no other device", async () => {
    await storeMany("chem-1", 45);
    const { own, order, begun, release } = gated("M0");
    await own.acceptStored();
    void own.accept(await store("chem-1", dog.fp, 1));
    await own.accept(await store("chem-2", dog.fp, 2));
    await until("the first is under way", () => begun.includes("M0"));
    expect(order).toEqual(["M46"]);
    release();
    await own.idle();
    expect(order).toEqual(["M46", ...Array.from({ length: 46 }, (_, index) => `M${index}`)]);
  });

  test("holds up no rematch of another device", async () => {
    const due = [await store("chem-1", dog.fp, 1)];
    const { own, spool, order, release } = gated("M0");
    const gate = spool.call.bind(spool);
    spool.call = (name, ...args) => {
      if (name !== "dueMessages") return gate(name, ...args);
      const [devices] = args as unknown as [string[]];
      return Promise.resolve(due.filter(({ device }) => devices.includes(device))) as never;
    };
    await own.acceptStored();
    await own.rematch(["chem-1", "chem-2"]);
    expect(order).toEqual([]);
    release();
    await own.idle();
    await own.rematch(["chem-1", "chem-2"]);
    expect(order).toEqual(["M0", "M0"]);
  });

  test("is left where a stop finds it, with the new messages behind it, and settled at the next start in its order", async () => {
    await storeMany("chem-1", 45);
    const first = gated("M0");
    await first.own.acceptStored();
    void first.own.accept(await store("chem-1", dog.fp, 1));
    await until("the first is under way", () => first.begun.includes("M0"));
    const stopped = first.own.stop();
    first.release();
    await stopped;
    expect(first.order).toEqual(["M0"]);
    const next = gated();
    await next.own.acceptStored();
    await next.own.idle();
    expect(next.order).toEqual(Array.from({ length: 45 }, (_, index) => `M${index + 1}`));
  });

  test("is read again where the disk refuses", async () => {
    await storeMany("chem-1", 2);
    let refusals = 2;
    const spool = Object.create(used.spool) as typeof used.spool;
    spool.call = (name, ...args) =>
      name === "unprocessedMessages" && refusals-- > 0
        ? Promise.reject(new StorageError("database is locked"))
        : used.spool.call(name, ...args);
    const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
    const own = new Filing(spool, directory, () => device, { outcomeStored: () => undefined, fault: () => undefined });
    await own.acceptStored();
    await own.idle();
    expect(await queuedValues()).toEqual([50, 51]);
  });
});

test("with the server away the patients on disk decide", async () => {
  await filing.accept(await store("chem-1", dog.fp, 1)); // fetched now
  await server.close();
  await filing.accept(await store("chem-1", dog.fp, 2));
  expect(listed().map(([, reason]) => reason)).toEqual([null, null]);
});

test.each([
  ["of which nothing was known before", false],
  ["of which no message was cut short before", true],
])(
  "a message cut short waits in quarantine, and is filed with the one that holds all of it: a device %s",
  async (_, started) => {
    if (started) await filing.acceptStored();
    await filing.idle();
    const cut = await store("chem-1", dog.fp, 5, "the connection closed before the L record");
    await filing.accept(cut);
    expect(listed()).toEqual([["quarantined", "incomplete: the connection closed before the L record"]]);
    ordinal -= 1; // the same time of collection
    const again = { ...(await store("chem-1", dog.fp, 5)), id: "M-again" };
    await used.spool.call("addMessage", { ...again, session: 2, ordinal: 1 });
    await filing.accept(again);
    expect(listed()[0]).toEqual(["pending", "incomplete, completed by M-again"]);
  },
);

test("a message cut short and the rest of it, under repeated parents, become one study", async () => {
  const [header, patient, order, comment, alt, glucose, end] = vetScanRecords({
    patient: dog.fp,
    species: "Dog",
    collected: "20260101090000",
    alt: 143,
  }) as [string, string, string, string, string, string, string];
  const part = (id: string, incomplete: string | null, records: readonly string[]) => ({
    id,
    session: ordinal,
    ordinal: ordinal++,
    device: "chem-1",
    profile: "abaxis-vetscan-vs2",
    receivedAt: ordinal,
    bytes: Buffer.from(records.map((record) => `${record}\r`).join("")),
    incomplete,
  });
  const cut = part("cut", "the device fell silent before the L record", [header, patient, order, comment, alt]);
  const rest = part("rest", null, [header, patient, order, glucose, end]);
  const again = part("again", null, [header, patient, order, comment, alt, glucose, end]);
  for (const message of [cut, rest, rest, again]) {
    await used.spool.call("addMessage", message);
    await filing.accept(message);
  }
  // Read again, the rest is still the rest; to any other message the cut one is settled.
  const completing = (id: string) => used.spool.call("incompleteMessages", "chem-1", id);
  expect((await completing("rest")).map(({ id }) => id)).toEqual(["cut"]);
  expect(await completing("again")).toEqual([]);
  const { batch: studies } = await used.spool.call("takeQueued", 100, 1_000_000, 0);
  expect(studies.map(({ revision, body }) => [revision, resultsOf(body)])).toEqual([
    [
      1,
      [
        ["ALT", 143],
        ["GLU", 95],
      ],
    ],
  ]);
  expect(listed().map(([, reason]) => reason)).toEqual(["incomplete, completed by rest", null, null]);
});

test("a corrected result is a new revision of the same study", async () => {
  const records = vetScanRecords({ patient: dog.fp, species: "Dog", collected: "20260101090000", alt: 143 });
  const corrected = records.map((record) => record.replace("|143|U/L|10 to 118|N|||F", "|34|U/L|10 to 118|N|||C"));
  for (const [id, lines] of [
    ["first", records],
    ["again", records],
    ["corrected", corrected],
  ] as const) {
    const bytes = Buffer.from(lines.map((record) => `${record}\r`).join(""));
    const message = {
      id,
      session: ordinal,
      ordinal,
      device: "chem-1",
      profile: "",
      receivedAt: ordinal++,
      bytes,
      incomplete: null,
    };
    await used.spool.call("addMessage", message);
    await filing.accept(message);
  }
  const { batch: studies } = await used.spool.call("takeQueued", 100, 1_000_000, 0);
  expect(new Set(studies.map(({ fp }) => fp)).size).toBe(1);
  expect(studies.map(({ revision, body }) => [revision, resultsOf(body)])).toEqual([
    [
      1,
      [
        ["ALT", 143],
        ["GLU", 95],
      ],
    ],
    [
      2,
      [
        ["ALT", 34],
        ["GLU", 95],
      ],
    ],
  ]);
});

test("a message of a device that the configuration has no more is quarantined, not lost", async () => {
  await filing.accept(await store("gone-1", dog.fp, 1));
  expect(listed()).toEqual([["quarantined", "no device gone-1 in the configuration"]]);
});

describe("a result that carries an accession of ours", () => {
  const order = { accession: "V34679AC", device: "lab-1", patientFp: dog.fp, tests: ["ALT"], createdAt: 0 };

  async function file(patient: string, specimen: string) {
    await used.spool.call("placeOrder", { ...order, state: "sent" });
    const records = ["H|\\^&|||Analyzer", `P|1|${patient}`, `O|1|${specimen}`, "R|1|^^^ALT|52|U/L", "L|1|N"];
    const bytes = Buffer.from(records.map((record) => `${record}\r`).join(""));
    const where = { id: "M1", session: 1, ordinal: 1, device: "lab-1", profile: "generic-astm", receivedAt: 1 };
    const message = { ...where, bytes, incomplete: null };
    await used.spool.call("addMessage", message);
    await filing.accept(message);
    const { batch } = await used.spool.call("takeQueued", 1, 1_000_000, 0);
    const [stored] = await used.spool.call("ordersByAccession", [order.accession]);
    return { filedTo: batch[0]!.patientFp, reason: listed()[0]![1], order: stored!.state };
  }

  beforeEach(async () => {
    known = [dog, cat];
    await used.spool.call("setMeta", "directory", "{}");
    await directory.sync();
  });

  test.each([
    ["in O-3 alone", "", "V34679AC"],
    ["in O-4, the instrument's own", "", "17|V34679AC"],
    ["in small letters", "", "v34679ac"],
    ["typed as the patient's number", "V34679AC", ""],
    ["beside a number that nobody has", "99", "V34679AC"],
    ["beside the patient's own fp", dog.fp, "V34679AC"],
  ])("%s is filed to the ordered patient, and the order has its result", async (_, patient, specimen) => {
    expect(await file(patient, specimen)).toEqual({ filedTo: dog.fp, reason: null, order: "resulted" });
  });

  test("beside another patient's fp is filed to neither, and the order waits", async () => {
    const reason = "accession V34679AC was issued for another patient than the identifiers name";
    expect(await file(cat.fp, "V34679AC")).toEqual({ filedTo: null, reason, order: "sent" });
  });

  test("with one wrong letter is nobody's", async () => {
    const reason = "the device sent no patient identifier";
    expect(await file("", "V34679AD")).toEqual({ filedTo: null, reason, order: "sent" });
  });
});

describe("a result whose patient is not known yet", () => {
  const NEVER_FETCHED = "the clinic's patients were never fetched: waiting for the first list";
  const nobody = `no patient has the identifier "${dog.fp}"`;
  const queued = async () => {
    const { batch } = await used.spool.call("takeQueued", 100, 1_000_000, 0);
    return batch.map(({ revision, patientFp }) => [revision, patientFp]);
  };
  const rematch = () => filing.rematch(["chem-1", "lab-1"]);

  test("says that the first list is awaited, and is matched once it is here", async () => {
    isAway = true;
    await filing.accept(await store("chem-1", dog.fp, 143));
    await filing.accept(await store("chem-1", cat.fp, 50));
    expect(listed()).toEqual([
      ["pending", NEVER_FETCHED],
      ["pending", NEVER_FETCHED],
    ]);
    isAway = false;
    await directory.sync();
    await rematch();
    expect(listed()).toEqual([
      ["pending", null],
      ["pending", `no patient has the identifier "${cat.fp}"`],
    ]);
    expect(await queued()).toEqual([
      [1, null],
      [1, null],
      [2, dog.fp],
    ]);
  });

  test("keeps every other reason while the first list is awaited", async () => {
    isAway = true;
    await filing.accept(await store("chem-1", "", 143));
    expect(listed()).toEqual([["pending", "the device sent no patient identifier"]]);
  });

  test("is matched with its flags after the sync that brings the patient, and no other message is touched", async () => {
    known = [];
    await directory.sync();
    const first = await store("chem-1", dog.fp, 143);
    const other = await store("chem-1", cat.fp, 50);
    for (const message of [first, other]) await filing.accept(message);
    expect(listed().map(([, reason]) => reason)).toEqual([nobody, `no patient has the identifier "${cat.fp}"`]);
    settled = [];
    await directory.sync();
    await rematch();
    expect(settled).toEqual([]);
    known = [dog];
    await directory.sync();
    await rematch();
    expect(settled).toEqual([first.id]);
    const { batch } = await used.spool.call("takeQueued", 100, 1_000_000, 0);
    const { fp, revision, patientFp, body } = batch.at(-1)!;
    expect([fp, revision, patientFp]).toEqual([batch[0]!.fp, 2, dog.fp]);
    expect(JSON.parse(body)).toMatchObject({ results: [{ analyte: "ALT", flag: "high" }, { analyte: "GLU" }] });
  });

  test("is matched behind the messages that its device sent since", async () => {
    known = [];
    const early = await store("chem-1", dog.fp, 1);
    await filing.accept(early);
    known = [dog];
    await directory.sync();
    settled = [];
    const late: StoredMessage[] = [];
    for (let alt = 2; alt <= 9; alt++) late.push(await store("chem-1", dog.fp, alt));
    await Promise.all([...late.map((message) => filing.accept(message)), rematch()]);
    expect(settled).toEqual([...late, early].map(({ id }) => id));
  });

  test("stays unmatched where its patient is of another species, until that is corrected", async () => {
    known = [];
    await filing.accept(await store("chem-1", dog.fp, 143));
    known = [{ ...dog, species: "cat" }];
    await directory.sync();
    await rematch();
    expect(listed()).toEqual([["pending", "species contradiction: the device says dog, the patient is a cat"]]);
    known = [dog];
    await directory.sync();
    await rematch();
    expect(listed()).toEqual([["pending", null]]);
    expect(await queued()).toEqual([
      [1, null],
      [2, dog.fp],
    ]);
  });

  test("is matched by the accession of an order whose patient is back", async () => {
    known = [];
    const order = { accession: "V34679AC", device: "lab-1", patientFp: dog.fp, tests: ["ALT"], createdAt: 0 };
    await used.spool.call("placeOrder", { ...order, state: "sent" });
    const records = ["H|\\^&|||Analyzer", "P|1", "O|1|V34679AC", "R|1|^^^ALT|52|U/L", "L|1|N"];
    const bytes = Buffer.from(records.map((record) => `${record}\r`).join(""));
    const where = { id: "M1", session: 1, ordinal: 1, device: "lab-1", profile: "generic-astm", receivedAt: 1 };
    await used.spool.call("addMessage", { ...where, bytes, incomplete: null });
    await filing.acceptStored();
    await filing.idle();
    known = [dog];
    await directory.sync();
    await rematch();
    expect(await queued()).toEqual([
      [1, null],
      [2, dog.fp],
    ]);
  });

  test("waits on while the configuration lacks its device", async () => {
    known = [];
    await filing.accept(await store("chem-1", dog.fp, 143));
    known = [dog];
    await directory.sync();
    await filing.rematch([]);
    expect(listed()).toEqual([["pending", nobody]]);
    await filing.rematch(["chem-1"]);
    expect(listed()).toEqual([["pending", null]]);
  });

  test("is matched after a crash that came between the sync and the match", async () => {
    known = [];
    await filing.accept(await store("chem-1", dog.fp, 143));
    known = [dog];
    await directory.sync();
    // The next process has a directory of its own and finds nothing new.
    const next = new Directory(
      used.spool,
      createServerClient(server.url, () => "sk_live_test"),
    );
    expect(await next.sync()).toEqual({ whole: false, changed: 0 });
    await rematch();
    expect(listed()).toEqual([["pending", null]]);
  });
});

test("a host query is for no patient, and needs none", async () => {
  const bytes = Buffer.from("H|\\^&|||Analyzer\rQ|1|^V34679AC||ALL||||||||O\rL|1|N\r");
  const where = { id: "M1", session: 1, ordinal: 1, device: "lab-1", profile: "generic-astm", receivedAt: 1 };
  await used.spool.call("addMessage", { ...where, bytes, incomplete: null });
  await filing.acceptStored();
  await filing.idle();
  expect(listed()).toEqual([["not-for-patients", "host query"]]);
});
