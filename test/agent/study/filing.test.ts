import { unprocessedMessages } from "../../support/spool.ts";
import { describe, expect, test } from "vitest";
import type { StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { StorageError } from "../../../agent/spool/thread/storage-error.ts";
import { Filing } from "../../../agent/study/filing.ts";
import { dog, type TestFiling, useFiling } from "../../support/clinic/filing.ts";
import { until } from "../../support/machine/processes.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

// Method: a real spool and directory, and a server whose patients the test changes.

let clinic: TestFiling;
useFiling((created) => (clinic = created));

test("a message with an internal error is quarantined, and later ones are filed", async () => {
  const messages = [
    await clinic.store("broken-1", dog.fp, 1),
    await clinic.store("chem-1", dog.fp, 2),
    await clinic.store("broken-1", dog.fp, 3),
  ];
  await Promise.all(messages.map((message) => clinic.filing.accept(message)));
  expect(clinic.faults).toEqual(["broken-1", "broken-1"]);
  expect(clinic.listed()).toEqual([
    ["quarantined", "internal error: a bug"],
    ["pending", null],
    ["quarantined", "internal error: a bug"],
  ]);
});

test("the messages of a device become studies in their order of receipt", async () => {
  const messages: StoredMessage[] = [];
  for (let alt = 1; alt <= 10; alt++) messages.push(await clinic.store("chem-1", dog.fp, alt));
  await Promise.all(messages.map((message) => clinic.filing.accept(message)));
  expect(await clinic.queuedValues()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("messages without an outcome are filed once at the next start", async () => {
  await clinic.store("chem-1", dog.fp, 1);
  await clinic.store("chem-1", dog.fp, 2);
  await clinic.filing.acceptStored();
  await clinic.filing.idle();
  await clinic.filing.acceptStored();
  await clinic.filing.idle();
  expect(await clinic.queuedValues()).toEqual([1, 2]);
});

test("stored messages are filed in their order of receipt, although the clock was set back", async () => {
  const first = await clinic.store("chem-1", dog.fp, 111);
  clinic.ordinal -= 1; // the same measurement
  const bytes = Buffer.from(first.bytes.toString().replace("|111|", "|222|"));
  await clinic.spool.call("addMessage", {
    ...first,
    id: "corrected",
    session: 2,
    ordinal: 1,
    receivedAt: first.receivedAt - 1,
    bytes,
  });
  await clinic.filing.acceptStored();
  await clinic.filing.idle();
  expect(await clinic.queuedValues()).toEqual([111, 222]);
});

test("a message whose outcome the spool refuses is filed later, without a fault", async () => {
  let left = 2;
  const spool = Object.create(clinic.spool) as typeof clinic.spool;
  spool.call = (name, ...args) => {
    const isLocked = ["incompleteMessages", "settle"].includes(name) && left-- > 0;
    return isLocked ? Promise.reject(new StorageError("database is locked")) : clinic.spool.call(name, ...args);
  };
  const events = { outcomeStored: () => undefined, fault: (message: StoredMessage) => void faultsOf.push(message.id) };
  const faultsOf: string[] = [];
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  await new Filing(spool, clinic.directory, () => device, events).accept(await clinic.store("chem-1", dog.fp, 1));
  expect([left < 0, faultsOf, clinic.listed()]).toEqual([true, [], [["pending", null]]]);
});

test("a message whose outcome the spool refuses does not delay a stop and is left to the next start", async () => {
  const spool = Object.create(clinic.spool) as typeof clinic.spool;
  spool.call = (name, ...args) =>
    name === "settle" ? Promise.reject(new StorageError("disk is full")) : clinic.spool.call(name, ...args);
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  const events = { outcomeStored: () => undefined, fault: () => undefined };
  const own = new Filing(spool, clinic.directory, () => device, events);
  void own.accept(await clinic.store("chem-1", dog.fp, 1));
  await own.stop();
  expect((await unprocessedMessages(clinic.spool, "chem-1")).map(({ id }) => id)).toEqual(["M0"]);
});

test("a stop files no message ahead of an earlier one whose outcome the spool refused", async () => {
  let isRefused = false;
  const spool = Object.create(clinic.spool) as typeof clinic.spool;
  spool.call = (name, ...args) => {
    if (name !== "settle" || isRefused) return clinic.spool.call(name, ...args);
    isRefused = true;
    return Promise.reject(new StorageError("disk is full"));
  };
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  const events = { outcomeStored: () => undefined, fault: () => undefined };
  const own = new Filing(spool, clinic.directory, () => device, events);
  for (const alt of [1, 2]) void own.accept(await clinic.store("chem-1", dog.fp, alt));
  void own.accept(await clinic.store("chem-2", dog.fp, 3));
  await own.stop();
  expect(await clinic.queuedValues()).toEqual([3]);
  await clinic.filing.acceptStored();
  await clinic.filing.idle();
  expect(await clinic.queuedValues()).toEqual([3, 1, 2]);
});

test("a stop files the accepted messages and ends a rematch that the spool refuses", async () => {
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  const events = { outcomeStored: () => undefined, fault: () => undefined };
  const own = new Filing(clinic.spool, clinic.directory, () => device, events);
  for (const alt of [1, 2, 3]) void own.accept(await clinic.store("chem-1", dog.fp, alt));
  await own.stop();
  expect(await clinic.queuedValues()).toEqual([1, 2, 3]);

  const due = await Promise.all(Array.from({ length: 100 }, () => clinic.store("chem-1", dog.fp, 1)));
  const refusing = Object.create(clinic.spool) as typeof clinic.spool;
  refusing.call = (name, ...args) => {
    if (name === "dueMessages") return Promise.resolve(due) as never;
    return name === "settle" ? Promise.reject(new StorageError("disk is full")) : clinic.spool.call(name, ...args);
  };
  const full = new Filing(refusing, clinic.directory, () => device, events);
  const rematching = full.rematch(["chem-1"]);
  await full.stop();
  await rematching;
  expect(await clinic.queuedValues()).toEqual([1, 2, 3]);
});

test("a stop ends a backlog that the spool refuses", async () => {
  const stored = await Promise.all(Array.from({ length: 100 }, () => clinic.store("chem-1", dog.fp, 1)));
  const refusing = Object.create(clinic.spool) as typeof clinic.spool;
  let batches = 0;
  refusing.call = (name, ...args) => {
    if (name === "unprocessedMessages") batches += 1;
    return name === "settle" ? Promise.reject(new StorageError("disk is full")) : clinic.spool.call(name, ...args);
  };
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  const own = new Filing(refusing, clinic.directory, () => device, {
    outcomeStored: () => undefined,
    fault: () => undefined,
  });
  const backlog = own.acceptStored();
  await own.stop();
  await backlog;
  expect([stored.length, batches]).toEqual([100, 1]);
});

test("a message whose outcome cannot be stored is quarantined, and the next one is filed", async () => {
  const spool = Object.create(clinic.spool) as typeof clinic.spool;
  let left = 1;
  spool.call = (name, ...args) =>
    name === "settle" && left-- > 0 ? Promise.reject(new Error("a bug")) : clinic.spool.call(name, ...args);
  const faultsOf: string[] = [];
  const events = { outcomeStored: () => undefined, fault: (message: StoredMessage) => void faultsOf.push(message.id) };
  const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
  const own = new Filing(spool, clinic.directory, () => device, events);
  const messages = [await clinic.store("chem-1", dog.fp, 1), await clinic.store("chem-1", dog.fp, 2)];
  await Promise.all(messages.map((message) => own.accept(message)));
  expect([faultsOf, clinic.listed(), await clinic.queuedValues()]).toEqual([
    [messages[0]?.id],
    [
      ["quarantined", "internal error: a bug"],
      ["pending", null],
    ],
    [2],
  ]);
});

describe("a backlog of an earlier process", () => {
  /** Creates a filing that stores the outcome of these messages after `release`. */
  function gated(...ids: readonly string[]) {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const spool = Object.create(clinic.spool) as typeof clinic.spool;
    const begun: string[] = [];
    spool.call = async (name, ...args) => {
      const [settlement] = args as unknown as { message: string }[];
      if (name === "settle") begun.push(settlement!.message);
      if (name === "settle" && ids.includes(settlement!.message)) await gate;
      return clinic.spool.call(name, ...args);
    };
    const order: string[] = [];
    const events = { outcomeStored: ({ id }: StoredMessage) => void order.push(id), fault: () => undefined };
    const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
    return {
      own: new Filing(spool, clinic.directory, () => device, events),
      spool,
      order,
      begun,
      release: () => release(),
    };
  }
  const storeMany = async (device: string, count: number) => {
    for (let stored = 0; stored < count; stored++) await clinic.store(device, dog.fp, 50 + stored);
  };

  test("a backlog is filed before new messages of its device, and delays no other device", async () => {
    await storeMany("chem-1", 45);
    const { own, order, begun, release } = gated("M0");
    await own.acceptStored();
    void own.accept(await clinic.store("chem-1", dog.fp, 1));
    await own.accept(await clinic.store("chem-2", dog.fp, 2));
    await until("the first message", () => begun.includes("M0"));
    expect(order).toEqual(["M46"]);
    release();
    await own.idle();
    expect(order).toEqual(["M46", ...Array.from({ length: 46 }, (_, index) => `M${index}`)]);
  });

  test("a backlog delays no rematch of another device", async () => {
    const due = [await clinic.store("chem-1", dog.fp, 1)];
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

  test("a stopped backlog is filed at the next start, before newer messages", async () => {
    await storeMany("chem-1", 45);
    const first = gated("M0");
    await first.own.acceptStored();
    void first.own.accept(await clinic.store("chem-1", dog.fp, 1));
    await until("the first message", () => first.begun.includes("M0"));
    const stopped = first.own.stop();
    first.release();
    await stopped;
    expect(first.order).toEqual(["M0"]);
    const next = gated();
    await next.own.acceptStored();
    await next.own.idle();
    expect(next.order).toEqual(Array.from({ length: 45 }, (_, index) => `M${index + 1}`));
  });

  test("a backlog is read again after a refusal of the spool", async () => {
    await storeMany("chem-1", 2);
    let refusals = 2;
    const spool = Object.create(clinic.spool) as typeof clinic.spool;
    spool.call = (name, ...args) =>
      name === "unprocessedMessages" && refusals-- > 0
        ? Promise.reject(new StorageError("database is locked"))
        : clinic.spool.call(name, ...args);
    const device = { profile: abaxisVetscanVs2, timeZone: "UTC", model: null };
    const own = new Filing(spool, clinic.directory, () => device, {
      outcomeStored: () => undefined,
      fault: () => undefined,
    });
    await own.acceptStored();
    await own.idle();
    expect(await clinic.queuedValues()).toEqual([50, 51]);
  });
});

test("a message of a device outside the configuration is quarantined", async () => {
  await clinic.filing.accept(await clinic.store("gone-1", dog.fp, 1));
  expect(clinic.listed()).toEqual([["quarantined", "no device gone-1 in the configuration"]]);
});

test("a host query is for no patient", async () => {
  const bytes = Buffer.from("H|\\^&|||Analyzer\rQ|1|^V34679AC||ALL||||||||O\rL|1|N\r");
  const where = { id: "M1", session: 1, ordinal: 1, device: "lab-1", profile: "generic-astm", receivedAt: 1 };
  await clinic.spool.call("addMessage", { ...where, bytes, incomplete: null });
  await clinic.filing.acceptStored();
  await clinic.filing.idle();
  expect(clinic.listed()).toEqual([["not-for-patients", "host query"]]);
});
