import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { endpoints } from "./endpoints.ts";
import { awaitWindow, budgetOf, readPage, refusal } from "./limit-windows.ts";
import { type ApiCheck, errorOf } from "./read.ts";
import { type ApiResponse, authorization } from "./server.ts";

// Rate limits. They spend the keys `limited`, `counted` and `waiting`, and the address's budget of requests without a key.

const WAIT_S = 2;

export const limitChecks: readonly ApiCheck[] = [
  {
    number: 144,
    title: "every authenticated response reports limit, remaining and reset, and both windows of draft-10",
    async run(api) {
      const { counted } = api.keys;
      await awaitWindow(api, counted);
      let before = Number.NaN;
      for (const [path, status] of [
        ["/api/v1/patients", 200],
        ["/api/v1/patients?page=0", 400],
        ["/api/v1/patients/x", 404],
        [endpoints[2]?.path ?? "", 200],
        ["/api/v1/calendar/events", 200],
        ["/agent/v1/identifiers", 403],
      ] as const) {
        const response = await api.send(path, { headers: authorization(path, counted) });
        assert.equal(response.status, status, path);
        const { limit, remaining, reset } = budgetOf(response);
        assert.ok(limit >= 1 && remaining >= 0 && remaining < limit && reset >= 1 && reset <= 3600, path);
        // The agent's routes have their own budgets.
        if (path.startsWith("/api")) {
          if (before >= 0) assert.equal(remaining, before - 1, `remaining requests after ${path}`);
          before = remaining;
        }
        assert.match(response.headers.get("ratelimit-policy") ?? "", /^("\w+";q=\d+;w=\d+(, |$))+$/);
        assert.match(response.headers.get("ratelimit") ?? "", /^("\w+";r=\d+;t=\d+(, |$))+$/);
      }
      for (const path of ["/api/v1/patients", "/nothing"]) {
        assert.equal((await api.get(path, null)).headers.get("x-ratelimit-limit"), null);
      }
    },
  },
  {
    number: 141,
    title: "patients, calendar and inventory over the limit get API_KEY.RATE_LIMIT_EXCEEDED with severity error",
    async run(api) {
      for (const path of pathsWith("x-api-key")) {
        const response = await refusal(api, api.keys.limited, path);
        assert.match(errorOf(response, 429, "API_KEY.RATE_LIMIT_EXCEEDED").message, /retry after \d+ second/i);
      }
    },
  },
  {
    number: 142,
    title: "SOAP records and studies over the limit get AUTH.RATE_LIMITED with severity warning and the seconds",
    async run(api) {
      for (const path of pathsWith("authorization")) {
        const response = await refusal(api, api.keys.limited, path);
        assert.match(errorOf(response, 429, "AUTH.RATE_LIMITED", "warning").message, /\d+ second/);
      }
    },
  },
  {
    number: 143,
    title: "Retry-After of a 429 is the whole seconds that remain, as in its message and X-RateLimit-Reset",
    async run(api) {
      for (const header of ["x-api-key", "authorization"] as const) {
        for (const path of pathsWith(header)) secondsToWait(await refusal(api, api.keys.limited, path));
        // A later response names fewer seconds: the rest of the window, not its length.
        const [path = ""] = pathsWith(header);
        const seconds = secondsToWait(await refusal(api, api.keys.limited, path));
        await sleep(WAIT_S * 1000);
        const later = await api.send(path, { headers: authorization(path, api.keys.limited) });
        const left = secondsToWait(later);
        assert.ok(left < seconds, `${left} s remain ${WAIT_S} s after ${seconds} s remained`);
      }
    },
  },
  {
    number: 146,
    title: "requests without a valid key are limited by address and charge no key",
    async run(api) {
      const { counted } = api.keys;
      await awaitWindow(api, counted);
      const before = budgetOf(await readPage(api, counted)).remaining;
      let refused: ApiResponse | undefined;
      for (let sent = 0; sent < 5000 && refused === undefined; sent += 50) {
        const responses = await Promise.all(Array.from({ length: 50 }, async () => api.send("/api/v1/patients")));
        refused = responses.find(({ status }) => status === 429);
        for (const { status } of responses) assert.ok(status === 401 || status === 429, String(status));
      }
      assert.ok(refused, "expected a limit within 5000 requests without a key, got none");
      errorOf(refused, 429, "API_KEY.RATE_LIMIT_EXCEEDED");
      assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
      const after = await readPage(api, counted);
      assert.deepEqual([after.status, budgetOf(after).remaining], [200, before - 1]);
    },
  },
  {
    number: 145,
    title: "a key over its limit delays no other key of its clinic, and works again when its window ends",
    async run(api) {
      const { waiting, counted } = api.keys;
      const refused = await refusal(api, waiting, "/api/v1/patients");
      assert.equal((await readPage(api, counted)).status, 200);
      assert.equal((await readPage(api, waiting)).status, 429);
      // The shorter of the two windows ends, the longer one goes on.
      assert.equal(refused.headers.get("ratelimit-policy")?.split(", ").length, 2);
      const seconds = Number(refused.headers.get("retry-after"));
      assert.ok(seconds <= 60, `${seconds} s to wait, expected a minute at most: the budget of the hour is spent`);
      await sleep(seconds * 1000);
      assert.equal((await readPage(api, waiting)).status, 200);
    },
  },
];

function pathsWith(header: string): string[] {
  return endpoints.filter((endpoint) => endpoint.header === header).map(({ path }) => path);
}

/** The seconds of a 429, which its header, its message and its budget agree on. */
function secondsToWait(response: ApiResponse): number {
  assert.equal(response.status, 429, `status with ${response.text.slice(0, 300)}`);
  const retryAfter = response.headers.get("retry-after") ?? "";
  assert.match(retryAfter, /^[1-9]\d*$/);
  assert.ok(Number(retryAfter) <= 3600, `Retry-After is ${retryAfter}`);
  assert.equal(/(\d+) second/.exec(response.text)?.[1], retryAfter);
  const { remaining, reset } = budgetOf(response);
  assert.deepEqual([remaining, reset], [0, Number(retryAfter)]);
  return Number(retryAfter);
}
