import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { syncAppointments } from "../../../../agent/study/appointments.ts";
import { Directory } from "../../../../agent/study/patient-directory.ts";
import type { Profile } from "../../../../agent/devices/profile.ts";
import { parseMessage } from "../../../../agent/protocols/hl7/message/message.ts";
import type { OrderState, TestOrder } from "../../../../agent/spool/queries/orders/orders.ts";
import { createServerClient } from "../../../../agent/push/server-client.ts";
import { HostQueries } from "../../../../agent/study/orders/host-query.ts";
import { cat, dog } from "../../../support/runner/fixtures.ts";
import { scriptedServer } from "../../../support/peers/scripted-server.ts";
import { useSpool } from "../../../support/spool.ts";
import { astmDevice, hl7Device } from "../../../support/clinic/profiles.ts";
import { patiently } from "../../../support/runner/patience.ts";

const genericAstm = astmDevice("generic-astm");
const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");
const genericHl7 = hl7Device("generic-hl7");

// Method: a real spool with two patients, the orders of each test, and a server without patients.

const used = useSpool();
const HOUR_MS = 60 * 60_000;
/** The time of the tests, far from midnight. */
const noon = new Date().setUTCHours(12, 0, 0, 0);
const dogUlid = dog.fp.slice("patient_".length);
const catUlid = cat.fp.slice("patient_".length);

let worklist: HostQueries;

beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"], now: noon }));
afterAll(() => void vi.useRealTimers());

beforeEach(async () => {
  const server = await scriptedServer(() => ({ status: 404 }));
  worklist = new HostQueries(
    used.spool,
    new Directory(
      used.spool,
      createServerClient(server.url, () => "sk_live_test"),
    ),
  );
  await used.spool.call(
    "upsertPatients",
    [dog, cat].map((patient) => ({ fp: patient.fp, body: JSON.stringify(patient) })),
    0,
  );
  await used.spool.call("setIdentifiers", [{ patientFp: dog.fp, identifiers: ["4711"] }], 0);
  await place("VDAG0001", dog.fp);
  return () => server.close();
});

async function place(accession: string, patientFp: string, changes: Partial<TestOrder> = {}): Promise<void> {
  const usual = { device: "chem-1", tests: ["ALT"], createdAt: Date.now() - HOUR_MS, state: "placed" as OrderState };
  expect(await used.spool.call("placeOrder", { accession, patientFp, ...usual, ...changes })).toBe(true);
}

const visit = (patientFp: string, startAt: number) => ({ fp: `calevt_${startAt}`, patientFp, startAt });

interface Asked {
  readonly profile?: Profile;
  readonly incomplete?: string;
}

/** @returns P, O and L of the reply: type, P-3 or O-3, and O-5 with O-26 */
async function answered(query: string | readonly string[], { profile = genericAstm, incomplete }: Asked = {}) {
  const records = ["H|\\^&|||Analyzer", ...(typeof query === "string" ? [query] : query), "L|1|N"];
  const message = {
    id: "M1",
    device: "chem-1",
    profile: profile.id,
    receivedAt: Date.now(),
    incomplete: incomplete ?? null,
    bytes: Buffer.from(records.map((record) => `${record}\r`).join("")),
  };
  const [answer] = await worklist.reply(message, profile, "UTC");
  if (answer === undefined) return null;
  const lines = Buffer.from(answer.message).toString().split("\r").slice(1, -1);
  const short = lines
    .map((line) => line.split("|"))
    .map((field) => {
      return field[0] === "O" ? ["O", field[2], field[4], field[25]].join(" ") : `${field[0]} ${field[2]}`;
    });
  return { lines: short, accessions: answer.accessions };
}

describe("a query for one sample", () => {
  test.each([
    ["by accession", "Q|1|^VDAG0001||ALL||||||||O"],
    ["by accession in the first component", "Q|1|VDAG0001"],
    ["by accession in small letters", "Q|1|^vdag0001"],
    ["by accession and the patient's own number", "Q|1|4711^VDAG0001"],
    ["by card number", "Q|1|4711"],
    ["by ULID", `Q|1|${dogUlid}`],
  ])("a query %s finds the order", async (_, query) => {
    expect(await answered(query)).toEqual({
      lines: [`P ${dogUlid}`, "O VDAG0001 ^^^ALT Q", "L F"],
      accessions: ["VDAG0001"],
    });
  });

  test.each([
    ["an unknown number", "Q|1|^1068687||ALL", ["P ", "O 1068687  Z", "L I"]],
    ["an unknown patient number", "Q|1|99", ["P 99", "O 99  Z", "L I"]],
    ["a card number as specimen", "Q|1|^4711", ["P ", "O 4711  Z", "L I"]],
    ["an accession with another patient's number", `Q|1|${catUlid}^VDAG0001`, [`P ${catUlid}`, "O VDAG0001  Z", "L I"]],
    ["a patient without an order", `Q|1|${catUlid}`, [`P ${catUlid}`, `O ${catUlid}  Y`, "L I"]],
    ["an unknown sample of a known patient", "Q|1|4711^X9", [`P ${dogUlid}`, "O X9  Y", "L I"]],
  ])("a query for %s finds no order", async (_, query, lines) => {
    expect(await answered(query)).toEqual({ lines, accessions: [] });
  });

  test("an accession of another device names its patient without an order", async () => {
    await place("VHEMA001", dog.fp, { device: "hema-1" });
    expect(await answered("Q|1|^VHEMA001")).toEqual({
      lines: [`P ${dogUlid}`, "O VHEMA001  Y", "L I"],
      accessions: [],
    });
  });

  test("a query for an accession finds its order after the result, and after a year", async () => {
    await used.spool.call("noteOrders", ["VDAG0001"], "resulted");
    await used.spool.call("noteOrders", ["VDAG0001"], "sent"); // queried once more
    await place("VQLD0001", dog.fp, { createdAt: Date.now() - 365 * 24 * HOUR_MS });
    expect((await answered("Q|1|^VDAG0001\\^VQLD0001"))?.accessions).toEqual(["VDAG0001", "VQLD0001"]);
    // A query for the patient selects only open orders.
    expect((await answered("Q|1|4711"))?.lines).toEqual([`P ${dogUlid}`, "O 4711  Y", "L I"]);
  });

  test("an accession of a removed patient names no patient", async () => {
    await place("VGQNE001", "patient_01K9TEST000000000000000009");
    expect((await answered("Q|1|4711^VGQNE001"))?.lines).toEqual(["P 4711", "O VGQNE001  Z", "L I"]);
    expect((await answered("Q|1|^VGQNE001"))?.lines).toEqual(["P ", "O VGQNE001  Z", "L I"]);
  });
});

describe("a query for some tests of an order (Q-5)", () => {
  beforeEach(() => place("VCAT0001", cat.fp, { tests: ["ALT", "CREA", "1742-6"] }));

  test.each([
    ["one", "^^^CREA", "^^^CREA"],
    ["two, in small letters", "^^^crea\\^^^alt", "^^^ALT\\^^^CREA"],
    ["by LOINC", "1742-6", "1742-6"],
    ["ALL", "ALL", "^^^ALT\\^^^CREA\\1742-6"],
  ])("the reply has only the queried tests: %s", async (_, tests, sent) => {
    expect(await answered(`Q|1|^VCAT0001||${tests}`)).toMatchObject({
      lines: [`P ${catUlid}`, `O VCAT0001 ${sent} Q`, "L F"],
    });
  });

  test("a query for tests that were not ordered finds no order", async () => {
    expect(await answered("Q|1|^VCAT0001||^^^GLU")).toEqual({
      lines: [`P ${catUlid}`, "O VCAT0001  Y", "L I"],
      accessions: [],
    });
  });

  test("a partly queried order does not count as sent", async () => {
    expect((await answered("Q|1|^VCAT0001||^^^CREA"))?.accessions).toEqual([]);
    expect((await answered("Q|1|^VCAT0001||^^^CREA\\^^^ALT\\1742-6"))?.accessions).toEqual(["VCAT0001"]);
  });

  test("a query for tests of all samples selects only the samples with one of them", async () => {
    await used.spool.call("setAppointments", [visit(cat.fp, noon), visit(dog.fp, noon)]);
    expect(await answered("Q|1|ALL||^^^CREA")).toEqual({
      lines: [`P ${catUlid}`, "O VCAT0001 ^^^CREA Q", "L F"],
      accessions: [],
    });
    const animals = (await answered("Q|1|ALL||^^^CREA||||||||D"))?.lines;
    expect(animals?.toSorted()).toEqual(["L F", `P ${catUlid}`, `P ${dogUlid}`]);
  });
});

describe("a sample number after a tray position", () => {
  test("rack and position name no patient and return with the order", async () => {
    await used.spool.call("setIdentifiers", [{ patientFp: cat.fp, identifiers: ["2"] }], 0);
    expect(await answered("Q|1|2^1^     VDAG0001^B||ALL")).toEqual({
      lines: [`P ${dogUlid}`, "O 2^1^VDAG0001^B ^^^ALT Q", "L F"],
      accessions: ["VDAG0001"],
    });
    expect((await answered("Q|1|2^1^X9^B||ALL"))?.lines.at(-1)).toBe("L I");
  });

  test("an order for another device is not found", async () => {
    await place("VHEMA001", dog.fp, { device: "hema-1" });
    expect((await answered("Q|1|2^1^VHEMA001||ALL"))?.lines).toEqual([`P ${dogUlid}`, "O 2^1^VHEMA001  Y", "L I"]);
  });
});

test("a query for results gets no information", async () => {
  expect(await answered("Q|1|^VDAG0001||ALL||||||||F")).toEqual({ lines: ["L I"], accessions: [] });
  expect(await answered("Q|1|ALL||ALL||||||||F\\C")).toEqual({ lines: ["L I"], accessions: [] });
});

test("the reply has several samples in the order of the query, with the unknown ones", async () => {
  await place("VCAT0001", cat.fp, { tests: ["ALT", "CREA"] });
  expect((await answered(["Q|1|^VDAG0001\\^X9", "Q|2|^VCAT0001"]))?.lines).toEqual([
    `P ${dogUlid}`,
    "O VDAG0001 ^^^ALT Q",
    "P ",
    "O X9  Z",
    `P ${catUlid}`,
    "O VCAT0001 ^^^ALT\\^^^CREA Q",
    "L F",
  ]);
});

test("a query for an unknown patient syncs the directory first", async () => {
  const fresh = { ...cat, fp: "patient_01K9TEST000000000000000007" };
  const page = { success: true, data: { items: [fresh], total: 1, has_more: false } };
  const server = await scriptedServer(({ url }) =>
    url.startsWith("/api/v1/patients") ? { status: 200, body: page } : { status: 404 },
  );
  worklist = new HostQueries(
    used.spool,
    new Directory(
      used.spool,
      createServerClient(server.url, () => "sk_live_test"),
    ),
  );
  const ulid = fresh.fp.slice("patient_".length);
  expect((await answered(`Q|1|${ulid}`))?.lines).toEqual([`P ${ulid}`, `O ${ulid}  Y`, "L I"]);
  await server.close();
});

test("a server that hangs delays the reply by less than 2 s", async () => {
  const hanging = await scriptedServer(() => "hang");
  worklist = new HostQueries(
    used.spool,
    new Directory(
      used.spool,
      createServerClient(hanging.url, () => "sk_live_test"),
    ),
  );
  const from = performance.now();
  expect((await answered("Q|1|^X9\\^X8\\^X7"))?.lines.at(-1)).toBe("L I");
  expect(performance.now() - from).toBeLessThan(patiently(2_000));
  await hanging.close();
});

describe("a query for all samples", () => {
  test("a query for all samples selects the open orders by patient, then the other patients of today", async () => {
    await used.spool.call("setAppointments", [visit(dog.fp, noon), visit(cat.fp, noon + 1)]);
    await place("VDAG0002", dog.fp);
    await place("VHEMA001", cat.fp, { device: "hema-1" });
    await place("VQLD0001", cat.fp, { createdAt: Date.now() - 8 * 24 * HOUR_MS });
    await place("VDQNE001", cat.fp, { state: "resulted" });
    expect(await answered("Q|1|ALL")).toEqual({
      lines: [`P ${dogUlid}`, "O VDAG0001 ^^^ALT Q", "O VDAG0002 ^^^ALT Q", `P ${catUlid}`, "L F"],
      accessions: ["VDAG0001", "VDAG0002"],
    });
  });

  test("Q-13 N leaves out received orders, and patients without an order", async () => {
    await used.spool.call("setAppointments", [visit(cat.fp, noon)]);
    await place("VDAG0002", dog.fp);
    await used.spool.call("noteOrders", ["VDAG0001"], "sent");
    const query = "Q|1|ALL||||||||||O\\N";
    expect((await answered(query))?.lines).toEqual([`P ${dogUlid}`, "O VDAG0002 ^^^ALT Q", "L F"]);
    await used.spool.call("noteOrders", ["VDAG0002"], "sent");
    expect((await answered(query))?.lines).toEqual(["L I"]);
  });

  test("Q-13 D selects only patients, and none of their orders counts as sent", async () => {
    expect(await answered("Q|1|ALL||||||||||D")).toEqual({ lines: [`P ${dogUlid}`, "L F"], accessions: [] });
  });

  test("Q-7 and Q-8 select the orders placed within them, and a date is a full day", async () => {
    await place("VQLD0001", dog.fp, { createdAt: Date.UTC(2026, 0, 15, 23, 30) });
    await place("VQLD0002", dog.fp, { createdAt: Date.UTC(2026, 0, 16, 0, 30) });
    const accessions = async (query: string) => (await answered(query))?.accessions;
    expect(await accessions("Q|1|ALL||ALL|R|20260115|20260115")).toEqual(["VQLD0001"]);
    expect(await accessions("Q|1|ALL||ALL|R|20260101|20260116")).toEqual(["VQLD0001", "VQLD0002"]);
    expect(await accessions("Q|1|ALL||ALL|R|20260101|20260116003000")).toEqual(["VQLD0001"]);
  });

  test("the appointments of yesterday select no patient today", async () => {
    await used.spool.call("setAppointments", [visit(cat.fp, noon - 24 * HOUR_MS)]);
    expect((await answered("Q|1|ALL"))?.lines).not.toContain(`P ${catUlid}`);
  });

  test("an invalid date is an error in the request", async () => {
    expect(await answered("Q|1|ALL||ALL|R|yesterday")).toEqual({ lines: ["L Q"], accessions: [] });
  });
});

test.each([
  ["a message without Q", ["P|1|4711", "O|1|VDAG0001", "R|1|^^^GLU|5"], {}],
  ["a device whose profile takes no orders", "Q|1|ALL", { profile: abaxisVetscanVs2 }],
  ["another sender than the profile's", "Q|1|ALL", { profile: { ...genericAstm, sender: /^Somebody/ } }],
  ["a cut query", "Q|1|ALL", { incomplete: "the session ended before the L record" }],
])("%s gets no reply", async (_, query, asked) => {
  expect(await answered(query, asked)).toBeNull();
});

describe("today's appointments", () => {
  const event = (n: number, changes: object = {}) => ({
    fp: `calevt_01K9TEST00000000000000000${n}`,
    title: "Check",
    type: "CHECKUP",
    status: "SCHEDULED",
    start_at: new Date(noon).toISOString(),
    end_at: new Date(noon).toISOString(),
    patient_fp: cat.fp,
    assigned_user_fp: null,
    ...changes,
  });
  const visitors = async () =>
    (await used.spool.call("appointedPatients", noon - 24 * HOUR_MS, noon + 24 * HOUR_MS)).map(
      (body) => (JSON.parse(body) as { fp: string }).fp,
    );
  const syncFrom = async (status: number, body: unknown) => {
    const server = await scriptedServer(() => ({ status, body }));
    const http = createServerClient(server.url, () => "sk_live_test");
    try {
      await syncAppointments(used.spool, http, "Europe/Istanbul");
    } finally {
      await server.close();
    }
    return server.requests.map(({ url }) => new URL(url, "http://server"));
  };

  test("appointments are limited to the day in the agent's time zone, without cancelled ones", async () => {
    const events = [
      event(1),
      event(2, { patient_fp: dog.fp, status: "CANCELLED" }),
      event(3, { patient_fp: null }),
      event(4),
    ];
    const [url] = await syncFrom(200, events);
    expect(await visitors()).toEqual([cat.fp]);
    expect(url!.pathname).toBe("/api/v1/calendar/events");
    const [start, end] = ["start_date", "end_date"].map((name) => url!.searchParams.get(name)!);
    expect([start!.slice(11), end!.slice(11)]).toEqual(["21:00:00.000Z", "21:00:00.000Z"]); // midnight in Istanbul
    expect(Date.parse(end!) - Date.parse(start!)).toBe(24 * HOUR_MS);
    expect(Date.parse(start!)).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(end!)).toBeGreaterThan(Date.now());
  });

  test("a sync replaces the appointments of the last one", async () => {
    await syncFrom(200, [event(1)]);
    await syncFrom(200, [event(2, { patient_fp: dog.fp })]);
    expect(await visitors()).toEqual([dog.fp]);
  });

  test("a refused key and an invalid response leave the appointments unchanged", async () => {
    await syncFrom(200, [event(1)]);
    await expect(syncFrom(403, {})).rejects.toThrow(/403/);
    await expect(syncFrom(200, { data: [] })).rejects.toThrow(/expected a list of events/);
    expect(await visitors()).toEqual([cat.fp]);
  });

  test("a missing route leaves the appointments unchanged, because it may be a wrong path", async () => {
    await syncFrom(200, [event(1)]);
    await expect(syncFrom(404, undefined)).rejects.toThrow(/is server.url right/);
    expect(await visitors()).toEqual([cat.fp]);
  });
});

describe("a query of an HL7 analyzer", () => {
  const header = (type: string) => `MSH|^~\\&|BS-240|Mindray|||20261121090000||${type}|7|P|2.3.1`;
  const askedByCode = (code: string) => [header("QRY^Q02"), `QRD|20261121090000|R|D|1|||RD|${code}|OTH|||T|`];

  /** @returns MSH-9, QAK-2 and the sample numbers of each reply */
  async function hl7Answers(segments: readonly string[], profile: Profile = genericHl7) {
    const message = {
      id: "M1",
      device: "chem-1",
      profile: profile.id,
      receivedAt: Date.now(),
      incomplete: null,
      bytes: Buffer.from(segments.map((segment) => `${segment}\r`).join("")),
    };
    const answers = await worklist.reply(message, profile, "Europe/Istanbul");
    return answers.map(({ message: bytes, accessions }) => {
      const parsed = parseMessage(bytes);
      if ("problem" in parsed) throw new Error(parsed.problem);
      const state = parsed.segments.find(({ name }) => name === "QAK")?.field(2) ?? "";
      return [parsed.header.component(9, 1), state, ...accessions].join(" ").trim();
    });
  }

  test.each([
    ["QRY^Q02", askedByCode("VDAG0001"), ["QCK OK", "DSR OK VDAG0001"]],
    ["ORM^O01", [header("ORM^O01"), "ORC|RF||VDAG0001||IP"], ["ORR  VDAG0001"]],
    ["QBP^Q11", [header("QBP^Q11"), "QPD|WOS|t|VDAG0001"], ["RSP OK", "OML  VDAG0001"]],
    ["QRY^Q02 of all", askedByCode(""), ["QCK OK", "DSR OK VDAG0001"]],
    ["QRY^Q02, an unknown sample", askedByCode("1068687"), ["QCK NF"]],
    ["QRY^Q02, a card number as sample", askedByCode("4711"), ["QCK NF"]],
    ["QBP^Q11 by patient", [header("QBP^Q11"), "QPD|WOS_BY_PATIENT|t|4711"], ["RSP OK", "OML  VDAG0001"]],
    ["QBP^Q11 without a sample", [header("QBP^Q11"), "QPD|WOS|t"], ["RSP NF"]],
    ["a result", [header("ORU^R01"), "OBR|1|VDAG0001"], []],
  ])("gets the reply of its kind: %s", async (_, segments, expected) => {
    expect(await hl7Answers(segments)).toEqual(expected);
  });

  test("a query for all samples selects the orders that the device has not received", async () => {
    await used.spool.call("noteOrders", ["VDAG0001"], "sent");
    await place("VCAT0001", cat.fp);
    expect(await hl7Answers(askedByCode(""))).toEqual(["QCK OK", "DSR OK VCAT0001"]);
    expect(await hl7Answers(askedByCode("VDAG0001"))).toEqual(["QCK OK", "DSR OK VDAG0001"]);
  });

  test("gets no reply of the worklist if the device takes no orders", async () => {
    const { orders: _, ...deaf } = genericHl7;
    expect(await hl7Answers(askedByCode("VDAG0001"), deaf)).toEqual([]);
  });
});
