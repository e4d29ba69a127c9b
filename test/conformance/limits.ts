import assert from "node:assert/strict";
import { exhaust, read } from "./access.ts";
import { endpoints } from "./endpoints.ts";
import { type ApiCheck, errorOf } from "./read.ts";
import { type Answer, type Api, authorization } from "./server.ts";

// Rate limits. They spend the keys `limited`, `counted` and `waiting`, and the address's allowance of
// requests without a key: these checks run last.

export const limitChecks: readonly ApiCheck[] = [
  {
    number: 144,
    title: "every authenticated response tells limit, remaining and reset, and both windows as draft-10 has them",
    async run(api) {
      const { counted } = api.keys;
      let before = Number.NaN;
      for (const [path, status] of [
        ["/api/v1/patients", 200],
        ["/api/v1/patients?page=0", 400],
        ["/api/v1/patients/x", 404],
        [endpoints[2]?.path ?? "", 200],
        ["/api/v1/calendar/events", 200],
        ["/agent/v1/identifiers", 403],
      ] as const) {
        const answer = await api.send(path, { headers: authorization(path, counted) });
        assert.equal(answer.status, status, path);
        const { limit, remaining, reset } = told(answer);
        assert.ok(limit >= 1 && remaining >= 0 && remaining < limit && reset >= 1 && reset <= 3600, path);
        // The agent's routes have budgets of their own.
        if (path.startsWith("/api"))
          assert.ok(!(remaining !== before - 1 && before >= 0), `${path}: ${remaining} after ${before}`);
        if (path.startsWith("/api")) before = remaining;
        assert.match(answer.headers.get("ratelimit-policy") ?? "", /^("\w+";q=\d+;w=\d+(, |$))+$/);
        assert.match(answer.headers.get("ratelimit") ?? "", /^("\w+";r=\d+;t=\d+(, |$))+$/);
      }
      for (const path of ["/api/v1/patients", "/nothing"]) {
        assert.equal((await api.get(path, null)).headers.get("x-ratelimit-limit"), null);
      }
    },
  },
  {
    number: 141,
    title: "over the limit, patients, calendar and inventory are API_KEY.RATE_LIMIT_EXCEEDED, an error",
    async run(api) {
      await overLimit(api, "x-api-key", (answer) => {
        const { message } = errorOf(answer, 429, "API_KEY.RATE_LIMIT_EXCEEDED");
        assert.match(message, /retry after \d+ second/i);
      });
    },
  },
  {
    number: 142,
    title: "over the limit, SOAP and diagnostics are AUTH.RATE_LIMITED, a warning that names the seconds",
    async run(api) {
      await overLimit(api, "authorization", (answer) => {
        assert.match(errorOf(answer, 429, "AUTH.RATE_LIMITED", "warning").message, /\d+ second/);
      });
    },
  },
  {
    number: 143,
    title: "429 has Retry-After, whole seconds that remain, the ones of the message and of X-RateLimit-Reset",
    async run(api) {
      for (const header of ["x-api-key", "authorization"] as const) {
        let waited = 0;
        await overLimit(api, header, async (answer, again) => {
          const seconds = secondsToWait(answer);
          // Two seconds later it is less: the time that remains, not the length of the window.
          if (waited > 0 || seconds < 5) return;
          waited = 2;
          await new Promise((resolve) => setTimeout(resolve, waited * 1000));
          const later = secondsToWait(await again());
          assert.ok(later < seconds && later >= 1, `${later} s remain, ${waited} s after ${seconds} s did`);
        });
        assert.equal(waited, 2, "each window was about to end");
      }
    },
  },
  {
    number: 146,
    title: "requests without a valid key are limited by address and touch no key's budget",
    async run(api) {
      const { counted } = api.keys;
      const before = told(await read(api, counted)).remaining;
      let refused: Answer | undefined;
      for (let sent = 0; sent < 5000 && refused === undefined; sent += 50) {
        const answers = await Promise.all(Array.from({ length: 50 }, async () => api.send("/api/v1/patients")));
        refused = answers.find(({ status }) => status === 429);
        for (const { status } of answers) assert.ok(status === 401 || status === 429, String(status));
      }
      assert.ok(refused, "5000 requests without a key met no limit");
      errorOf(refused, 429, "API_KEY.RATE_LIMIT_EXCEEDED");
      assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
      const after = await read(api, counted);
      assert.deepEqual([after.status, told(after).remaining], [200, before - 1]);
    },
  },
  {
    number: 145,
    title: "a key that is over its limit holds up no other key of its clinic, and is let in when the window ends",
    async run(api) {
      const { waiting, counted } = api.keys;
      const seconds = Number((await exhaust(api, waiting)).headers.get("retry-after"));
      assert.equal((await read(api, counted)).status, 200);
      const refused = await read(api, waiting);
      assert.equal(refused.status, 429);
      // Both windows are there: the shorter one ends, the longer one goes on.
      assert.equal(refused.headers.get("ratelimit-policy")?.split(", ").length, 2);
      assert.ok(seconds <= 60, `${seconds} s to wait: the hour of this key is spent`);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      assert.equal((await read(api, waiting)).status, 200);
    },
  },
];

/** The seconds of an answer over the limit, the same wherever it names them. */
function secondsToWait(answer: Answer): number {
  assert.equal(answer.status, 429, `status with ${answer.text.slice(0, 300)}`);
  const retryAfter = answer.headers.get("retry-after") ?? "";
  assert.match(retryAfter, /^[1-9]\d*$/);
  assert.ok(Number(retryAfter) <= 3600, `Retry-After is ${retryAfter}`);
  assert.equal(/(\d+) second/.exec(answer.text)?.[1], retryAfter);
  assert.deepEqual([told(answer).remaining, told(answer).reset], [0, Number(retryAfter)]);
  return Number(retryAfter);
}

function told({ headers }: Answer): { limit: number; remaining: number; reset: number } {
  const [limit = Number.NaN, remaining = Number.NaN, reset = Number.NaN] = ["limit", "remaining", "reset"].map(
    (name) => {
      const text = headers.get(`x-ratelimit-${name}`) ?? "";
      assert.match(text, /^\d+$/, `x-ratelimit-${name}`);
      return Number(text);
    },
  );
  return { limit, remaining, reset };
}

/** Asks each endpoint of a header with a key that is over its limit. */
async function overLimit(
  api: Api,
  family: string,
  check: (answer: Answer, again: () => Promise<Answer>) => void | Promise<void>,
): Promise<void> {
  const { limited } = api.keys;
  for (const { path, header } of endpoints) {
    if (header !== family) continue;
    // Anew for each: the minute may have ended meanwhile.
    await exhaust(api, limited);
    const ask = async () => api.send(path, { headers: authorization(path, limited) });
    await check(await ask(), ask);
  }
}
