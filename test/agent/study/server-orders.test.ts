import { beforeEach, describe, expect, test } from "vitest";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { heartbeatTask } from "../../../agent/push/heartbeat.ts";
import { HostQueries } from "../../../agent/study/orders/host-query.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { syncOrders } from "../../../agent/study/server-orders.ts";
import type { AgentOrder } from "../../../shared/api/agent/agent-lists.ts";
import { cat, dog } from "../../support/runner/fixtures.ts";
import { scriptedServer } from "../../support/peers/scripted-server.ts";
import { useSpool } from "../../support/spool.ts";
import { astmDevice, hl7Device } from "../../support/clinic/profiles.ts";

const mindrayBs = hl7Device("mindray-bs");
const genericAstm = astmDevice("generic-astm");

// Method: a real spool, and a real HTTP server whose list of orders the test changes.

const used = useSpool();
const dogUlid = dog.fp.slice("patient_".length);
const now = Date.now();
const at = new Date(now - 60_000).toISOString();

let orders: (AgentOrder & { later_field?: string })[] | undefined;
let changedAt: string;
let isAway: boolean;
let server: Awaited<ReturnType<typeof scriptedServer>>;
let worklist: HostQueries;
let pages: { get: (path: string) => Promise<unknown> };

const order = (changes: Partial<AgentOrder> = {}): AgentOrder => ({
  ...{ fp: "order_01K9TEST000000000000000R01", accession: "T3467ACD", patient_fp: dog.fp, device: null },
  ...{ tests: ["ALT", "CREA"], ordered_at: at, state: "open" },
  ...changes,
});

beforeEach(async () => {
  [orders, changedAt, isAway] = [[order()], at, false];
  server = await scriptedServer(({ url }) => {
    if (isAway) return { status: 503 };
    if (!url.startsWith("/agent/v1/orders")) return { status: url.endsWith("heartbeat") ? 200 : 404, body: {} };
    if (orders === undefined) return { status: 404 };
    const { searchParams } = new URL(url, "http://server");
    const from = Number(searchParams.get("after") ?? 0);
    const next = from + 2 < orders.length ? String(from + 2) : null;
    const data = { items: orders.slice(from, from + 2), changed_at: changedAt, next };
    return { status: 200, body: { success: true, data } };
  });
  const client = createServerClient(server.url, () => "sk_live_test");
  pages = client;
  worklist = new HostQueries(used.spool, new Directory(used.spool, client));
  const bodies = [dog, cat].map((patient) => ({ fp: patient.fp, body: JSON.stringify(patient) }));
  await used.spool.call("upsertPatients", bodies, 0);
  return () => server.close();
});

/** @returns P and O of the reply to an ASTM query: O-3, O-5 and O-26 */
async function asked(query: string, device = "chem-1"): Promise<string[]> {
  const bytes = Buffer.from(`H|\\^&|||Analyzer\r${query}\rL|1|N\r`);
  const message = { id: "M1", device, profile: genericAstm.id, receivedAt: now, incomplete: null, bytes };
  const [reply] = await worklist.reply(message, genericAstm, "UTC");
  await used.spool.call("noteSentOrders", reply?.accessions ?? [], device, now);
  const records = Buffer.from(reply!.message).toString().split("\r");
  const fields = records.map((record) => record.split("|"));
  return fields.filter(([type]) => type === "O").map((o) => [o[2], o[4], o[25]].join(" "));
}

const all = "Q|1|ALL||ALL||||||||O";
const fresh = "Q|1|ALL||ALL||||||||N";

describe("an order of the server", () => {
  test("for any device goes to each device that queries it, and is new to each of them", async () => {
    await syncOrders(used.spool, pages);
    expect(await asked("Q|1|^T3467ACD")).toEqual(["T3467ACD ^^^ALT\\^^^CREA Q"]);
    expect(await asked(fresh)).toEqual([]);
    expect(await asked(fresh, "hema-1")).toEqual(["T3467ACD ^^^ALT\\^^^CREA Q"]);
    expect(await asked(`Q|1|${dogUlid}`)).toEqual(["T3467ACD ^^^ALT\\^^^CREA Q"]);
  });

  test("for one device goes to that device alone", async () => {
    orders = [order({ device: "chem-1" })];
    await syncOrders(used.spool, pages);
    expect(await asked(all, "hema-1")).toEqual([]);
    expect(await asked(all)).toEqual(["T3467ACD ^^^ALT\\^^^CREA Q"]);
  });

  test("for any device has for a device with its own names only the tests that it knows", async () => {
    orders = [order(), order({ fp: "order_01K9TEST000000000000000R02", accession: "T3467ADN", device: "chem-2" })];
    await syncOrders(used.spool, pages);
    const repliedTo = async (accession: string) => {
      const segments = [
        `MSH|^~\\&|Mindray|BS-240|||20261121120000||QRY^Q02|1|P|2.3.1`,
        `QRD|20261121120000|R|D|1|||RD|${accession}|OTH|||T`,
      ];
      const bytes = Buffer.from(segments.map((segment) => `${segment}\r`).join(""));
      const message = { id: "M1", device: "chem-2", profile: mindrayBs.id, receivedAt: now, incomplete: null, bytes };
      const replies = await worklist.reply(message, mindrayBs, "UTC");
      return replies.map((reply) => Buffer.from(reply.message).toString()).join("");
    };
    expect(await repliedTo("T3467ADN")).toContain("ALT"); // a user chose this device, and its words
    expect(await repliedTo("T3467ACD")).not.toContain("ALT");
  });

  test("leaves the list of devices once it is cancelled, and its accession still names its patient", async () => {
    await syncOrders(used.spool, pages);
    orders = [order({ state: "cancelled" })];
    await syncOrders(used.spool, pages);
    expect(await asked(all)).toEqual([]);
    expect(await asked("Q|1|^T3467ACD")).toEqual(["T3467ACD  Y"]);
    const [known] = await used.spool.call("ordersByAccession", ["T3467ACD"]);
    expect(known).toMatchObject({ patientFp: dog.fp, state: "cancelled", fp: order().fp });
  });

  test("for any device stays with the others after a result of one, until the server has all its results", async () => {
    await syncOrders(used.spool, pages);
    await used.spool.call("noteOrders", ["T3467ACD"], "resulted");
    expect(await asked(all)).toHaveLength(1);
    orders = [order({ state: "resulted" })];
    await syncOrders(used.spool, pages);
    expect(await asked(all)).toEqual([]);
  });

  test("stays while the server is away, beside the agent's own orders", async () => {
    await syncOrders(used.spool, pages);
    isAway = true;
    await expect(syncOrders(used.spool, pages)).rejects.toThrow("503");
    const own = { accession: "V34679AC", device: "chem-1", patientFp: cat.fp, tests: ["GLU"], createdAt: now };
    expect(await used.spool.call("placeOrder", { ...own, state: "placed" })).toBe(true);
    expect(await asked(all)).toEqual(["T3467ACD ^^^ALT\\^^^CREA Q", "V34679AC ^^^GLU Q"]);
    expect(await used.spool.call("ordersByAccession", ["V34679AC"])).toEqual([{ ...own, state: "sent" }]);
  });

  test("never takes the accession of another one", async () => {
    await syncOrders(used.spool, pages);
    orders = [order({ fp: "order_01K9TEST000000000000000R02", patient_fp: cat.fp })];
    await syncOrders(used.spool, pages);
    expect(await used.spool.call("ordersByAccession", ["T3467ACD"])).toMatchObject([{ patientFp: dog.fp }]);
  });
});

describe("the pull of orders", () => {
  test("reads all pages, goes on at the last change with an overlap, and omits an order that it does not understand", async () => {
    const numbers = ["T3467ACD", "T3467ADN", "T3467AEX"];
    const fp = (index: number) => `order_01K9TEST000000000000000R0${index}`;
    orders = numbers.map((accession, index) => ({ ...order({ accession, fp: fp(index) }), later_field: "x" }));
    orders[1] = { ...orders[1]!, state: "frozen" as AgentOrder["state"] };
    await syncOrders(used.spool, pages);
    const known = await used.spool.call("ordersByAccession", numbers);
    expect(known.map(({ accession }) => accession)).toEqual(["T3467ACD", "T3467AEX"]);
    orders = [];
    await syncOrders(used.spool, pages);
    const since = new Date(Date.parse(at) - 15 * 60_000).toISOString();
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/agent/v1/orders",
      "/agent/v1/orders?after=2",
      `/agent/v1/orders?updated_since=${encodeURIComponent(since)}`,
    ]);
  });

  test("of an older server changes nothing, and an invalid response is refused", async () => {
    orders = undefined;
    await syncOrders(used.spool, pages);
    await expect(syncOrders(used.spool, { get: async () => ({ data: 1 }) })).rejects.toThrow(
      "invalid response of GET /agent/v1/orders: expected a list of orders",
    );
  });
});

test("a heartbeat reports each order that a device got once, as soon as there is one", async () => {
  await syncOrders(used.spool, pages);
  const config = { data: used.folder, devices: [], managed: false, server: { url: server.url, keyFile: "" } };
  const beat = heartbeatTask({
    config: { ...config, timeZone: "UTC" },
    version: "0.1.0",
    spool: used.spool,
    server: createServerClient(server.url, () => "sk_live_test"),
    devices: [],
    remote: null,
  });
  const offered = () =>
    server.requests
      .filter(({ url }) => url.endsWith("heartbeat"))
      .map(({ body }) => (body as { offered_orders?: object[] }).offered_orders);
  await beat();
  await asked("Q|1|^T3467ACD");
  await asked("Q|1|^T3467ACD", "hema-1");
  isAway = true;
  await expect(beat()).rejects.toThrow("503");
  isAway = false;
  await beat();
  await beat();
  const once = [{ fp: order().fp, at: new Date(now).toISOString() }];
  expect(offered()).toEqual([undefined, once, once]);
});
