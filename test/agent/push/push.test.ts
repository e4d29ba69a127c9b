import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Push } from "../../../agent/push/push.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import type { StudyDraft } from "../../../agent/spool/queries/studies/revisions.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { timestampProblem } from "../../../shared/schema/timestamp.ts";
import { until } from "../../support/machine/processes.ts";
import { type ScriptedRequest, scriptedServer, type Step } from "../../support/peers/scripted-server.ts";
import { useSpool } from "../../support/spool.ts";
import { alt, studyDraft } from "../../support/clinic/study.ts";
import { TestClock } from "../../support/protocols/wire.ts";

// Goal: no study is lost or given up while it may still be filed. Method: a scripted HTTP server, a real spool, a test clock.

const used = useSpool();
let clock: TestClock;
let failures: string[];
let recovered: number;
let stop: () => Promise<void>;

beforeEach(async () => {
  clock = new TestClock();
  failures = [];
  recovered = 0;
  stop = () => Promise.resolve();
});

afterEach(async () => {
  await stop();
});

async function queue(count: number, from = 0): Promise<string[]> {
  const fps: string[] = [];
  for (let index = from; index < from + count; index++) {
    fps.push(...(await queueStudy(index, studyDraft({ dedupe_key: `key-${index}` }))));
  }
  return fps;
}

/** Queues the study of a message. @returns its fp */
async function queueStudy(index: number, draft: StudyDraft): Promise<string[]> {
  const id = `M${index}`;
  const message = { id, session: 1, ordinal: index, device: "chem-1", profile: "generic-astm", receivedAt: index };
  await used.spool.call("addMessage", { ...message, bytes: Buffer.from(id), incomplete: null });
  const settled = { message: id, state: "pending", reason: null, completes: [], at: index } as const;
  return used.spool.call("settle", { ...settled, studies: [draft] });
}

const filed = ({ body }: ScriptedRequest): Step => {
  const { studies } = body as { studies: { fp: string }[] };
  return { status: 200, body: { outcomes: studies.map(({ fp }) => ({ fp, outcome: "filed", reason: null })) } };
};

/** Creates a push to a server that plays the steps, then files every study. */
async function pushTo(steps: readonly (Step | ((request: ScriptedRequest) => Step))[]) {
  const left = [...steps];
  const server = await scriptedServer((request) => {
    const step = left.shift() ?? filed;
    return typeof step === "function" ? step(request) : step;
  });
  const events = {
    outcome: () => undefined,
    failed: (kind: string, reason: string) => void failures.push(`${kind}: ${reason}`),
    recovered: () => void (recovered += 1),
  };
  const push = new Push(
    used.spool,
    createServerClient(server.url, () => "sk_live_test", 2_000),
    events,
    {
      setTimer: clock.setTimer,
      random: () => 1,
    },
  );
  stop = async () => {
    await push.stop();
    await server.close();
  };
  return { push, server };
}

/** An error page of nginx. */
const PROXY_PAGE = "<html><head><title>error</title></head><body><center><h1>error</h1></center></body></html>";

function refusal(code: string) {
  return { success: false, error: { code, message: "no", severity: "error" } };
}

function rejection(fp: string) {
  return { fp, outcome: "rejected", reason: "no" };
}

const states = () => readSpool(used.folder, listMessages).map(({ state }) => state);
const allFiled = (count: number) =>
  until("all are filed", () => states().filter((state) => state === "filed").length === count);

test("studies are sent in their order of creation, at most 100 per request", async () => {
  const fps = await queue(130);
  const { push, server } = await pushTo([]);
  push.wake();
  await allFiled(130);
  const sent = server.requests.map(({ body }) => (body as { studies: { fp: string; revision: number }[] }).studies);
  expect(sent.map(({ length }) => length)).toEqual([100, 30]);
  expect(sent.flat().map(({ fp }) => fp)).toEqual(fps);
  expect(sent[0]![0]).toMatchObject({ fp: fps[0], revision: 1, dedupe_key: "key-0" });
});

test.each([
  ["500", { status: 500 }, "uncertain"],
  ["503", { status: 503 }, "uncertain"],
  ["429", { status: 429 }, "transient"],
  ["a redirection", { status: 302, headers: { location: "/" } }, "uncertain"],
  ["a cut connection", "cut", "uncertain"],
  ["a response that is not JSON", { status: 200, body: "<html>" }, "uncertain"],
  ["a response without outcomes", { status: 200, body: {} }, "uncertain"],
  ["outcomes of other studies", { status: 200, body: { outcomes: [] } }, "uncertain"],
  ["a proxy's 400", { status: 400, body: PROXY_PAGE }, "uncertain"],
  ["a proxy's 401", { status: 401, body: PROXY_PAGE }, "uncertain"],
  ["a proxy's 404", { status: 404, body: PROXY_PAGE }, "uncertain"],
  ["a proxy's 405", { status: 405, body: "" }, "uncertain"],
  ["a proxy's 413", { status: 413, body: PROXY_PAGE }, "uncertain"],
  ["a 404 in another program's JSON", { status: 404, body: { error: "not found" } }, "uncertain"],
  ["400 in our envelope", { status: 400 }, "uncertain"],
  ["404 of a route in our envelope", { status: 404, body: refusal("ROUTE.NOT_FOUND") }, "uncertain"],
  ["404 of a record in our envelope", { status: 404, body: refusal("RECORD.NOT_FOUND") }, "uncertain"],
  ["405 in our envelope", { status: 405, body: refusal("ROUTE.METHOD_NOT_ALLOWED") }, "uncertain"],
  ["409 in our envelope", { status: 409 }, "transient"],
  ["413 in our envelope", { status: 413, body: refusal("REQUEST.TOO_LARGE") }, "uncertain"],
  ["422 in another program's envelope", { status: 422, body: refusal("invalid") }, "uncertain"],
  ["an error envelope with 200", { status: 200, body: refusal("X") }, "uncertain"],
  ["outcomes with another fp", { status: 200, body: { outcomes: [rejection("cds_other")] } }, "uncertain"],
  ["401", { status: 401 }, "unauthorized"],
  ["403", { status: 403 }, "unauthorized"],
] as const)("after %s the study stays queued and is sent again", async (_, step, kind) => {
  await queue(1);
  const { push, server } = await pushTo([step]);
  push.wake();
  await until("the failure", () => failures.length);
  expect(failures[0]).toMatch(new RegExp(`^${kind}: `));
  expect(states()).toEqual(["pending"]);
  clock.advance(60_000);
  await allFiled(1);
  expect(server.requests).toHaveLength(2);
  expect(server.requests[0]!.body).toEqual(server.requests[1]!.body);
  await until("the recovery is reported", () => recovered === 1);
});

const NO_ROOM = "the clinic stores as many studies as this server allows";

/** A server without room for new studies: it defers first revisions and files later ones. */
const full = ({ body }: ScriptedRequest): Step => {
  const { studies } = body as { studies: { fp: string; revision: number }[] };
  const outcomes = studies.map(({ fp, revision }) =>
    revision > 1 ? { fp, outcome: "filed", reason: null } : { fp, outcome: "deferred", reason: NO_ROOM },
  );
  return { status: 200, body: { outcomes } };
};

test("a deferred study stays queued with its reason and is sent again until the server takes it", async () => {
  await queue(2);
  const { push, server } = await pushTo([full, full]);
  push.wake();
  await until("the failure", () => failures.length);
  expect(failures).toEqual([`transient: ${NO_ROOM}`]);
  expect(states()).toEqual(["pending", "pending"]);
  expect(await used.spool.call("outbox")).toMatchObject({ depth: 2, reason: NO_ROOM });
  clock.advance(60_000);
  await until("the second refusal", () => server.requests.length === 2 && clock.pending.length === 1);
  clock.advance(60_000);
  await allFiled(2);
  await until("the recovery is reported", () => recovered === 1);
  expect(await used.spool.call("outbox")).toEqual({ depth: 0, oldestAt: null, reason: null, code: null });
});

test("new studies that the server defers hold up no later revision", async () => {
  const fps = await queue(250);
  const { push, server } = await pushTo([full, full, full]);
  push.wake();
  await until("the failure", () => failures.length);
  expect(server.requests.map(({ body }) => (body as { studies: unknown[] }).studies.length)).toEqual([100, 100, 100]);
  expect(await queueStudy(250, studyDraft({ dedupe_key: "key-249", results: [alt(60)] }))).toEqual([fps[249]]);
  clock.advance(60_000);
  const { body } = await until("the next request", () => server.requests[3]);
  const [next] = (body as { studies: { fp: string; revision: number }[] }).studies;
  expect(next).toMatchObject({ fp: fps[249], revision: 2 });
});

test("an unreachable server is retried with delays of up to five minutes", async () => {
  await queue(1);
  const { push, server } = await pushTo([]);
  await server.close();
  push.wake();
  const waits: number[] = [];
  for (let attempt = 0; attempt < 11; attempt++) {
    await until("the next wait", () => clock.pending.length);
    waits.push(clock.pending[0]!);
    clock.advance(clock.pending[0]!);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1000));
  expect(failures).toHaveLength(1); // one report for all attempts
});

test("the next request waits for Retry-After", async () => {
  await queue(1);
  const { push } = await pushTo([{ status: 429, headers: { "retry-after": "17" } }]);
  push.wake();
  await until("the wait", () => clock.pending.length);
  expect(clock.pending).toEqual([17_000]);
});

test("a study whose response is lost is sent again and filed once", async () => {
  const fps = await queue(1);
  const held = new Set<string>();
  const idempotent = ({ body }: ScriptedRequest): Step => {
    const { studies } = body as { studies: { fp: string }[] };
    const outcomes = studies.map(({ fp }) => ({ fp, outcome: held.has(fp) ? "unchanged" : "filed", reason: null }));
    for (const { fp } of studies) held.add(fp);
    return { status: 200, body: { outcomes } };
  };
  const lost = (request: ScriptedRequest): Step => {
    idempotent(request);
    return "cut";
  };
  const { push } = await pushTo([lost, idempotent]);
  push.wake();
  await until("the failure", () => failures.length);
  clock.advance(1_000);
  await allFiled(1);
  expect([...held]).toEqual(fps);
});

/** A server that refuses each request with one of these studies. */
const refusing =
  (fps: readonly (string | undefined)[]) =>
  (request: ScriptedRequest): Step => {
    const { studies } = request.body as { studies: { fp: string }[] };
    return studies.some(({ fp }) => fps.includes(fp)) ? { status: 400, body: refusal("TEST.REFUSED") } : filed(request);
  };

test("a study whose requests are refused stays queued after the others, with the reason", async () => {
  const fps = await queue(5);
  const { push } = await pushTo(Array.from({ length: 20 }, () => refusing([fps[2]])));
  push.wake();
  await until("the failure", () => failures.length);
  expect(states()).toEqual(["filed", "filed", "pending", "filed", "filed"]);
  expect(await used.spool.call("outbox")).toMatchObject({
    depth: 1,
    reason: "the server answered 400: TEST.REFUSED no",
  });
});

/** A server that ends at each request with that study. */
const endingAt =
  (fp: string | undefined) =>
  (request: ScriptedRequest): Step =>
    (request.body as { studies: { fp: string }[] }).studies.some((study) => study.fp === fp) ? "cut" : filed(request);

test("a study that ends the server at each send stops no other, and is sent alone", async () => {
  const fps = await queue(5);
  const { push, server } = await pushTo(Array.from({ length: 40 }, () => endingAt(fps[2])));
  const sent = () => server.requests.map(({ body }) => (body as { studies: unknown[] }).studies.length);
  push.wake();
  await until("the failure", () => failures.length);
  clock.advance(1_000);
  await until("the second failure", async () => (await used.spool.call("outbox")).reason !== null);
  await until("the next wait", () => clock.pending.length);
  clock.advance(2_000);
  await allFiled(4);
  await until("the third failure", () => sent().length === 7);
  expect(sent()).toEqual([5, 1, 1, 1, 1, 1, 1]);
  expect(await used.spool.call("outbox")).toMatchObject({
    depth: 1,
    reason: "the server cannot be reached: the connection broke off (ECONNRESET)",
  });
});

test("studies during whose request the agent ended are sent one by one", async () => {
  const fps = await queue(3);
  await used.spool.call("takeQueued", 100, 1_000_000, Date.now());
  fps.push(...(await queue(2, 3)));
  const { push, server } = await pushTo([]);
  push.wake();
  await allFiled(5);
  const sent = server.requests.map(({ body }) =>
    (body as { studies: { fp: string }[] }).studies.map(({ fp }) => fps.indexOf(fp)),
  );
  expect(sent).toEqual([[3, 4], [0], [1], [2]]);
});

test("a study that is alone in its refused request waits after the later ones, too", async () => {
  await queue(1);
  const { push } = await pushTo([{ status: 413, body: refusal("TEST.REFUSED") }]);
  push.wake();
  await until("the failure", () => failures.length);
  expect(await used.spool.call("outbox")).toMatchObject({ depth: 1, reason: expect.stringContaining("413") as string });
});

test("studies that are filed later wait for no study whose requests are refused", async () => {
  const fps = await queue(2);
  const { push } = await pushTo(Array.from({ length: 20 }, () => refusing([fps[0]])));
  push.wake();
  await until("the failure", () => failures.length);
  await queue(1, 2);
  push.wake(); // without any change of the clock
  await until("the new study is filed", () => states()[2] === "filed");
  expect(states()).toEqual(["pending", "filed", "filed"]);
});

test("the oldest studies stop no other, however many of them are refused", async () => {
  const fps = await queue(12);
  const { push } = await pushTo(Array.from({ length: 200 }, () => refusing(fps.slice(0, 7))));
  push.wake();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await until("the wait", () => clock.pending.length);
    clock.advance(clock.pending[0]!);
  }
  await until("the others are filed", () => states().filter((state) => state === "filed").length === 5);
  expect(states().slice(0, 7)).toEqual(Array.from({ length: 7 }, () => "pending"));
});

test("a program that refuses everything gets a few requests at a time, and no study is lost", async () => {
  await queue(147);
  const { push, server } = await pushTo([
    ...Array.from({ length: 4 }, () => ({ status: 400, body: refusal("TEST.REFUSED") })),
  ]);
  push.wake();
  await until("the failure", () => failures.length);
  expect(server.requests).toHaveLength(4); // the batch, and three studies alone
  clock.advance(1_000);
  await allFiled(147);
});

test("a study that the server holds unmatched under another fp is unmatched, with the server's reason", async () => {
  const [fp = ""] = await queue(1);
  const held = { fp, outcome: "unmatched", reason: "no patient has it", existing_fp: "cds_01K9TEST000000000000000009" };
  const { push } = await pushTo([{ status: 200, body: { outcomes: [held] } }]);
  push.wake();
  await until("it is settled", () => states().every((state) => state !== "pending"));
  const [message] = readSpool(used.folder, listMessages);
  expect([message?.state, message?.reason, message?.study_fps]).toEqual([
    "unmatched",
    "no patient has it",
    [held.existing_fp],
  ]);
});

test("a batch that a proxy refuses for its length is sent study by study", async () => {
  const fps = await queue(3);
  const narrow = (request: ScriptedRequest): Step => {
    const { studies } = request.body as { studies: { fp: string }[] };
    return studies.length > 1 || studies[0]?.fp === fps[1] ? { status: 413, body: PROXY_PAGE } : filed(request);
  };
  const { push } = await pushTo(Array.from({ length: 4 }, () => narrow));
  push.wake();
  await until("the others are filed", () => states().filter((state) => state === "filed").length === 2);
  expect(states()).toEqual(["filed", "pending", "filed"]);
});

test("one study that fails the server stays queued and does not block the others", async () => {
  const fps = await queue(5);
  const breaking = (request: ScriptedRequest): Step => {
    const { studies } = request.body as { studies: { fp: string }[] };
    return studies.some(({ fp }) => fp === fps[2]) ? { status: 500 } : filed(request);
  };
  const { push } = await pushTo(Array.from({ length: 20 }, () => breaking));
  push.wake();
  await until("the others are filed", () => states().filter((state) => state === "filed").length === 4);
  expect(states()).toEqual(["filed", "filed", "pending", "filed", "filed"]);
});

test("studies queued during a request are sent after it", async () => {
  await queue(1);
  const { push } = await pushTo([]);
  push.wake();
  await queue(1, 1);
  push.wake();
  await allFiled(2);
  expect(failures).toEqual([]);
});

/** A server whose clock the test sets. It refuses a later time as the real one does. */
function serverAt(clockOf: () => number) {
  return ({ body }: ScriptedRequest): Step => {
    const { studies } = body as { studies: { fp: string; acquired_at: string }[] };
    const outcomes = studies.map(({ fp, acquired_at }) => {
      const problem = timestampProblem(acquired_at, clockOf());
      const reason = problem === null ? null : `acquired_at is ${acquired_at}, expected ${problem}`;
      return reason === null
        ? { fp, outcome: "filed", reason }
        : { fp, outcome: "rejected", reason, code: "STUDY.AFTER_CLOCK" };
    });
    return { status: 200, body: { outcomes } };
  };
}

test("a study that a server with a wrong clock refused is sent again once the clocks agree, in its order", async () => {
  const now = Date.parse("2026-06-01T00:00:00.000Z");
  let serverClock = now - 3 * 365 * 86_400_000;
  const fps = await queue(3);
  const { push, server } = await pushTo(Array.from({ length: 20 }, () => serverAt(() => serverClock)));
  push.wake();
  await until("all are refused", () => states().every((state) => state === "quarantined"));
  await push.retryRefusedTimes(now - 365 * 86_400_000); // a time before the studies': the refusal was right
  expect(states()).toEqual(["quarantined", "quarantined", "quarantined"]);
  serverClock = now;
  await queue(1, 3);
  push.wake();
  await until("the next one is filed", () => states()[3] === "filed");
  await stop();
  const again = await pushTo([serverAt(() => serverClock)]);
  await again.push.retryRefusedTimes(now);
  expect(states()).toEqual(["pending", "pending", "pending", "filed"]);
  again.push.wake();
  await allFiled(4);
  expect(readSpool(used.folder, listMessages).map(({ reason }) => reason)).toEqual([null, null, null, null]);
  const [request] = again.server.requests;
  expect((request!.body as { studies: { fp: string }[] }).studies.map(({ fp }) => fp)).toEqual(fps);
  expect(server.requests).toHaveLength(2);
});

test("studies are looked through for such refusals at most once an hour, and not without a new one", async () => {
  let serverClock = 0;
  await queue(1);
  const { push } = await pushTo(Array.from({ length: 20 }, () => serverAt(() => serverClock)));
  const looks = vi.spyOn(used.spool, "call");
  const count = () => looks.mock.calls.filter(([name]) => name === "queueRefusedTimes").length;
  const now = Date.parse("2026-06-01T00:00:00.000Z");
  await push.retryRefusedTimes(now);
  await push.retryRefusedTimes(now);
  expect(count()).toBe(1); // refusals of an earlier process
  push.wake();
  await until("it is refused", () => states().every((state) => state === "quarantined"));
  // The push receives the outcome a moment after the disk.
  await expect
    .poll(async () => {
      await push.retryRefusedTimes(now);
      return count();
    })
    .toBe(2);
  push.wake();
  await until("it is refused again", () => states().every((state) => state === "quarantined"));
  await push.retryRefusedTimes(now);
  serverClock = now;
  expect(count()).toBe(2);
  looks.mockRestore();
});
