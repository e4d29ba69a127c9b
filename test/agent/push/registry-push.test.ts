import { beforeEach, expect, test } from "vitest";
import { fileHeader } from "../../../agent/protocols/file/file-message.ts";
import { RegistryPush } from "../../../agent/push/registry-push.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import type { RegistryDraft } from "../../../agent/spool/queries/patients/registry-changes.ts";
import { useDelivery } from "../../support/clinic/delivery.ts";
import { until } from "../../support/machine/processes.ts";
import { type ScriptedRequest, scriptedServer, type Step } from "../../support/peers/scripted-server.ts";
import { useSpool } from "../../support/spool.ts";

// Changes of practice software reach the server in their order, and none is lost. Method: a scripted HTTP server, a real spool, a
// test clock.

const used = useSpool();
const delivery = useDelivery();
let ordinal: number;

beforeEach(() => {
  ordinal = 0;
});

const named = (name: string, source = "PIMS"): RegistryDraft => ({
  source,
  kind: "patient",
  body: JSON.stringify({ item: { external_id: "1", name } }),
});

/** Stores a message with a file, as a watched folder brings it. */
async function fileMessage(id: string, name: string, content: string): Promise<void> {
  const header = fileHeader({ name, bytes: Buffer.byteLength(content) });
  const bytes = Buffer.concat([header, Buffer.from(content)]);
  const stored = {
    id,
    session: 1,
    ordinal: ordinal++,
    device: "files",
    profile: "practice-files",
    receivedAt: ordinal,
  };
  await used.spool.call("addMessage", { ...stored, bytes, incomplete: null });
  const body = JSON.stringify({ name, bytes: Buffer.byteLength(content) });
  await settle(id, [{ source: "file", kind: "file", body }]);
}

/** Stores a message of a device with these changes. */
async function message(id: string, changes: readonly RegistryDraft[], device = "pims"): Promise<void> {
  const stored = { id, session: 1, ordinal: ordinal++, device, profile: "practice-system", receivedAt: ordinal };
  await used.spool.call("addMessage", { ...stored, bytes: Buffer.from(id), incomplete: null });
  await settle(id, changes);
}

function settle(id: string, changes: readonly RegistryDraft[]): Promise<string[]> {
  const settled = { message: id, state: "pending", reason: null, completes: [], at: 1 } as const;
  return used.spool.call("settle", { ...settled, studies: [], changes });
}

interface Sent {
  readonly source: string;
  readonly changes: readonly { readonly id: number; readonly item: { readonly name: string } }[];
}

const outcomes = (body: Sent, more: (name: string) => object = () => ({})): Step => ({
  status: 200,
  body: {
    outcomes: body.changes.map(({ id, item }) => ({
      ...{ id, outcome: "updated", fp: null, code: null, reason: null },
      ...more(item.name),
    })),
  },
});

const stored = (request: ScriptedRequest): Step => outcomes(request.body as Sent);

/** Creates a push to a server that plays the steps, then stores every change. @returns the names in each request */
async function pushTo(steps: readonly (Step | ((request: ScriptedRequest) => Step))[]) {
  const left = [...steps];
  const requests: string[][] = [];
  const server = await scriptedServer((request) => {
    requests.push((request.body as Sent).changes.map(({ item }) => item.name));
    const step = left.shift() ?? stored;
    return typeof step === "function" ? step(request) : step;
  });
  return { push: pushAt(server), requests };
}

/** Creates a push that the end of the test stops. */
function pushAt(server: { readonly url: string; close(): Promise<void> }): RegistryPush {
  return delivery.start(server, (client, events, timing) => {
    const more = { refused: (device: string, code: string) => void delivery.events.push(`${device} refused ${code}`) };
    return new RegistryPush(used.spool, client, { ...events, ...more }, timing);
  });
}

const states = () =>
  readSpool(used.folder, (db) => listMessages(db)).map(({ id, state, code, reason }) =>
    [id, state, code, reason].filter((part) => part != null).join(" "),
  );

const queued = () =>
  readSpool(used.folder, (db) =>
    db.prepare("SELECT COUNT(*) FROM registry_change WHERE state = 'queued'").pluck().get(),
  );

test("changes leave in their order, and their messages are filed", async () => {
  await message("M1", [named("a"), named("b")]);
  await message("M2", [named("c")]);
  const { push, requests } = await pushTo([]);
  push.wake();
  await until("all are sent", () => queued() === 0);
  expect(requests).toEqual([["a", "b", "c"]]);
  expect(states()).toEqual(["M1 filed", "M2 filed"]);
  expect(delivery.events).toEqual([]);
});

test("changes of a suspended clinic wait in their order, and go once the clinic is served again", async () => {
  await message("M1", [named("a"), named("b")]);
  await message("M2", [named("c")]);
  const error = { code: "CLINIC.SUSPENDED", message: "The operator of this server has suspended the clinic." };
  const suspended: Step = { status: 403, body: { success: false, error } };
  const { push, requests } = await pushTo([suspended, suspended]);
  push.wake();
  await until("the first request is refused", () => delivery.events.length > 0);
  push.serverResponded();
  await until("the second request is refused", () => requests.length === 2);
  await message("M3", [named("d")]);
  await until("all are sent", () => {
    push.serverResponded();
    return queued() === 0;
  });
  expect(requests).toEqual([
    ["a", "b", "c"],
    ["a", "b", "c"],
    ["a", "b", "c", "d"],
  ]);
  expect(states()).toEqual(["M1 filed", "M2 filed", "M3 filed"]);
});

test("a change that is sent again has its key, and one that is read again has another", async () => {
  await message("M1", [named("a"), named("b")]);
  const keys: string[][] = [];
  const note = (request: ScriptedRequest) =>
    keys.push((request.body as { changes: { key: string }[] }).changes.map(({ key }) => key));
  const refuse = () => ({ outcome: "rejected", code: "X", reason: "no" });
  const { push } = await pushTo([
    (request) => (note(request), { status: 503 }),
    (request) => (note(request), outcomes(request.body as Sent, refuse)),
    (request) => (note(request), stored(request)),
  ]);
  push.wake();
  await until("the first try failed", () => delivery.events.length === 1);
  push.serverResponded();
  await until("both are refused", () => queued() === 0);
  expect(keys).toEqual([
    ["M1/1", "M1/2"],
    ["M1/1", "M1/2"],
  ]);
  await settle("M1", [named("a"), named("b")]);
  push.wake();
  await until("both are stored", () => states()[0] === "M1 filed");
  expect(keys[2]).toEqual(["M1/3", "M1/4"]);
});

test("the change of an animal has the time of its message, and no other change has one", async () => {
  const merge = { source: "PIMS", kind: "merge", body: JSON.stringify({ survivor: "1", merged: "2" }) };
  await message("M1", [
    merge,
    named("a"),
    { ...named("b"), body: JSON.stringify({ item: { name: "b" }, only_new: true }) },
  ]);
  const sent: unknown[] = [];
  const refuse = ({ body }: ScriptedRequest): Step => {
    const { changes } = body as { changes: { id: number }[] };
    sent.push(...changes);
    const no = { outcome: "rejected", fp: null, code: "X", reason: "no" };
    return { status: 200, body: { outcomes: changes.map(({ id }) => ({ id, ...no })) } };
  };
  pushAt(await scriptedServer(refuse)).wake();
  await until("all are refused", () => queued() === 0);
  const updated_at = "1970-01-01T00:00:00.001Z";
  expect(sent).toEqual([
    { id: 1, key: "M1/1", kind: "merge", survivor: "1", merged: "2" },
    { id: 2, key: "M1/2", kind: "patient", item: { external_id: "1", name: "a", updated_at } },
    { id: 3, key: "M1/3", kind: "patient", item: { name: "b", updated_at }, only_new: true },
  ]);
});

test("a refused change is settled with its code and words, and the next one goes", async () => {
  await message("M1", [named("a"), named("bad")]);
  await message("M2", [named("c")]);
  const refuse = (name: string) =>
    name === "bad" ? { outcome: "rejected", code: "REGISTRY.UNKNOWN_SPECIES", reason: "no such species" } : {};
  const { push } = await pushTo([(request) => outcomes(request.body as Sent, refuse)]);
  push.wake();
  await until("all are sent", () => queued() === 0);
  expect(states()).toEqual(["M1 quarantined REGISTRY.UNKNOWN_SPECIES no such species", "M2 filed"]);
  await until("it is reported", () => delivery.events.length > 0);
  expect(delivery.events).toEqual(["pims refused REGISTRY.UNKNOWN_SPECIES"]);
});

test("what is to be known of a stored change is said at its message", async () => {
  await message("M1", [named("a")]);
  const note = () => ({ outcome: "unchanged", code: "REGISTRY.MERGED", reason: "it was merged" });
  const { push } = await pushTo([(request) => outcomes(request.body as Sent, note)]);
  push.wake();
  await until("it is filed", () => states()[0] === "M1 filed REGISTRY.MERGED it was merged");
  expect(delivery.events).toEqual([]);
});

test("while the server is away all changes stay, and go in their order when it is back", async () => {
  await message("M1", [named("a")]);
  const { push, requests } = await pushTo([{ status: 503 }, { status: 404 }]);
  push.wake();
  await until("the first try failed", () => delivery.events.length === 1);
  await message("M2", [named("b")]);
  push.wake();
  expect(states()).toEqual(["M1 pending", "M2 pending"]);
  push.serverResponded();
  await until("the second try failed", () => requests.length === 2);
  await until("a retry is scheduled", () => delivery.clock.pending.length > 0);
  delivery.clock.advance(5 * 60_000);
  await until("all are sent", () => queued() === 0);
  expect(requests.at(-1)).toEqual(["a", "b"]);
  await until("the loop has recovered", () => delivery.events.length === 2);
  expect(delivery.events).toEqual(["uncertain", "recovered"]);
});

test("a response that is lost, or of other changes, settles nothing", async () => {
  await message("M1", [named("a")]);
  const other = { outcomes: [{ id: 99, outcome: "updated", fp: null, code: null, reason: null }] };
  const { push } = await pushTo([{ status: 200, body: other }]);
  push.wake();
  await until("it failed", () => delivery.events.length === 1);
  expect(states()).toEqual(["M1 pending"]);
});

test("a request at fault is sent change by change, and stops its own source alone", async () => {
  await message("M1", [named("a"), named("poison"), named("c")]);
  await message("M2", [named("d", "OTHER")], "other");
  const fail = (request: ScriptedRequest): Step => {
    const names = (request.body as Sent).changes.map(({ item }) => item.name);
    return names.includes("poison") ? { status: 500 } : stored(request);
  };
  const { push, requests } = await pushTo(Array(10).fill(fail));
  push.wake();
  await until("the loop waits", () => delivery.events.includes("transient") || delivery.events.includes("uncertain"));
  expect(requests).toEqual([["a", "poison", "c"], ["a"], ["poison"], ["d"]]);
  expect(states()).toEqual(["M1 pending", "M2 filed"]);
  expect(queued()).toBe(2);
  // A later change of the other source waits for no retry, and repeats none.
  await message("M3", [named("e", "OTHER")], "other");
  push.wake();
  await until("the other source is served", () => states()[2] === "M3 filed");
  expect(requests.slice(4)).toEqual([["e"]]);
  expect(delivery.events).toHaveLength(1);
});

test("the changes of one source leave in one order, although two devices bring them and one is at fault", async () => {
  await message("M1", [named("a")], "front desk");
  await message("M2", [named("b")], "surgery");
  await message("M3", [named("poison")], "front desk");
  await message("M4", [named("c")], "surgery");
  const fail = (request: ScriptedRequest): Step => {
    const names = (request.body as Sent).changes.map(({ item }) => item.name);
    return names.includes("poison") ? { status: 500 } : stored(request);
  };
  const { push, requests } = await pushTo(Array(10).fill(fail));
  push.wake();
  await until("the loop waits", () => delivery.events.includes("transient") || delivery.events.includes("uncertain"));
  expect(requests).toEqual([["a", "b", "poison", "c"], ["a"], ["b"], ["poison"]]);
  expect(states()).toEqual(["M1 filed", "M2 filed", "M3 pending", "M4 pending"]);
});

test("each change of a request at fault goes alone, and the next ones together again", async () => {
  // Three of these changes fill a request.
  const long = ["1", "2", "3", "4", "5", "6", "7"].map((name) => named(name.padEnd(340_000)));
  await message("M1", long);
  const { push, requests } = await pushTo([{ status: 500 }]);
  push.wake();
  await until("all are sent", () => queued() === 0);
  const names = requests.map((request) => request.map((name) => name.trim()).join(" "));
  expect(names).toEqual(["1 2 3", "1", "2", "3", "4 5 6", "7"]);
});

test("a message that is read again sends what was refused or is different alone", async () => {
  await message("M1", [named("a"), named("bad")]);
  const refuse = (name: string) => (name === "bad" ? { outcome: "rejected", code: "X", reason: "no" } : {});
  const { push, requests } = await pushTo([(request) => outcomes(request.body as Sent, refuse)]);
  push.wake();
  await until("it is refused", () => states()[0]?.startsWith("M1 quarantined") === true);
  await settle("M1", [named("a"), named("bad")]);
  push.wake();
  await until("it is filed", () => states()[0] === "M1 filed");
  await settle("M1", [named("a"), named("good")]);
  push.wake();
  await until("it is filed again", () => requests.length === 3 && states()[0] === "M1 filed");
  await settle("M1", [named("a"), named("good")]);
  expect(states()).toEqual(["M1 filed"]);
  expect(requests.slice(1)).toEqual([["bad"], ["good"]]);
});

test("changes that come one by one leave together, and a long queue in full requests", async () => {
  const { push, requests } = await pushTo([]);
  await message("M0", [named("first")]);
  push.scheduleSend();
  delivery.clock.advance(0);
  await until("the first is sent", () => queued() === 0);
  for (let n = 1; n <= 5; n++) {
    await message(`M${n}`, [named(`n${n}`)]);
    push.scheduleSend();
  }
  expect(delivery.clock.pending).toHaveLength(1);
  delivery.clock.advance(200);
  await until("the others are sent", () => queued() === 0);
  expect(requests).toEqual([["first"], ["n1", "n2", "n3", "n4", "n5"]]);
  await message(
    "M6",
    Array.from({ length: 120 }, (_, n) => named(String(n))),
  );
  push.wake();
  await until("all are sent", () => queued() === 0);
  expect(requests.slice(2).map(({ length }) => length)).toEqual([50, 50, 20]);
});

test("a request has the changes of one source", async () => {
  await message("M1", [named("a"), named("b", "OTHER"), named("c")]);
  const { push, requests } = await pushTo([]);
  push.wake();
  await until("all are sent", () => queued() === 0);
  expect(requests).toEqual([["a", "c"], ["b"]]);
});

test("the changes of a message go with it", async () => {
  await message("M1", [named("a")]);
  const { push } = await pushTo([]);
  push.wake();
  await until("it is filed", () => states()[0] === "M1 filed");
  await used.spool.call("prune", Date.now() + 1, 100);
  expect(states()).toEqual([]);
  expect(readSpool(used.folder, (db) => db.prepare("SELECT COUNT(*) FROM registry_change").pluck().get())).toBe(0);
});

test("files leave one by one as their bytes, and a refused one keeps the server's reason", async () => {
  await fileMessage("A", "hasta listesi & ek.csv", "Id;Name\n1;Şans\n");
  await fileMessage("B", "b.csv", "Id;Name\n");
  const requests: string[][] = [];
  const server = await scriptedServer(({ url, body }) => {
    requests.push([url, (body as Buffer).toString()]);
    const [outcome, code] = requests.length === 1 ? ["created", null] : ["rejected", "REGISTRY.FILE_FAULT"];
    return { status: 200, body: { outcomes: [{ id: 0, outcome, fp: null, code, reason: code && "no line" }] } };
  });
  pushAt(server).wake();
  await until("both files are settled", () => queued() === 0);
  expect(requests).toEqual([
    ["/agent/v1/registry/file?name=hasta+listesi+%26+ek.csv", "Id;Name\n1;Şans\n"],
    ["/agent/v1/registry/file?name=b.csv", "Id;Name\n"],
  ]);
  await until("it is reported", () => delivery.events.length > 0);
  expect(delivery.events).toEqual(["files refused REGISTRY.FILE_FAULT"]);
  expect(states()).toEqual(["A filed", "B quarantined REGISTRY.FILE_FAULT no line"]);
});
