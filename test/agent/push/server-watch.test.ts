import { expect, test } from "vitest";
import type { ServerClient } from "../../../agent/push/server-client.ts";
import { watchServer } from "../../../agent/push/server-watch.ts";
import { SendError } from "../../../agent/runtime/send-error.ts";

// Method: a client whose outcomes the test names; the states as they are reported.

const unused = () => Promise.reject(new Error("not used"));

async function statesAfter(...outcomes: (object | null | SendError)[]): Promise<string[]> {
  const states: string[] = [];
  const next = () => {
    const outcome = outcomes.shift();
    return outcome instanceof SendError ? Promise.reject(outcome) : Promise.resolve(outcome);
  };
  const client: ServerClient = { get: next, post: next, put: unused, putPng: unused, download: unused };
  const watched = watchServer(client, ({ is }) => void states.push(is));
  while (outcomes.length > 0) await watched.get("/some").catch(() => undefined);
  return states;
}

const failure = (status: number) => new SendError("uncertain", `the server answered ${status}`, { status });

test("a missing route does not count as a server that is reached", async () => {
  expect(await statesAfter(null)).toEqual([]);
  expect(await statesAfter(failure(404), null, null)).toEqual(["does not work"]);
  expect(await statesAfter(failure(404), null, {})).toEqual(["does not work", "reached"]);
});

test("a server that lacks a route of a later version stays reached", async () => {
  expect(await statesAfter({}, null, {})).toEqual(["reached"]);
});

test("a suspended clinic is not a fault of the server or of the key", async () => {
  const suspended = new SendError("transient", "the server answered 403: CLINIC.SUSPENDED", { status: 403 });
  expect(await statesAfter(suspended, {})).toEqual(["reached"]);
});

test.each([400, 404, 405, 409, 413, 422])(
  "a server that responds with %i does not count as reached",
  async (status) => {
    expect(await statesAfter(failure(status))).toEqual(["does not work"]);
  },
);

test("a held request that is cut says nothing about the server, and one with a response reached it", async () => {
  const states: string[] = [];
  const outcomes: (object | null | SendError)[] = [failure(504), null, {}, failure(504)];
  const get = () => {
    const outcome = outcomes.shift();
    return outcome instanceof SendError ? Promise.reject(outcome) : Promise.resolve(outcome);
  };
  const client: ServerClient = { get, post: unused, put: unused, putPng: unused, download: unused };
  const watched = watchServer(client, ({ is }) => void states.push(is));
  const held = { timeoutMs: 50_000, signal: new AbortController().signal };
  await expect(watched.get("/agent/v1/news", held)).rejects.toThrow("the server answered 504");
  expect(await watched.get("/agent/v1/news", held)).toBe(null);
  expect(states).toEqual([]);
  await watched.get("/agent/v1/news", held);
  await watched.get("/agent/v1/news", held).catch(() => undefined);
  expect(states).toEqual(["reached"]);
});
