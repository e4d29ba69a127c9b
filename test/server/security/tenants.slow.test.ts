import { randomInt } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { fuzzTenants, type Hole } from "./tenants.ts";

// No response crosses from clinic to clinic, whatever a client of both sends. A soak run draws a seed of its own. A failing run
// prints its seed; SEED=<number> replays it.

// One hundredth of the soak run, since this test runs with each `npm run check`.
const SOAK = process.env["ALL"] === "1";
const REQUESTS = SOAK ? 100_000 : 1000;
const seed = Number(process.env["SEED"] ?? (SOAK ? randomInt(2 ** 31) : 1));
/** Requests for a route within which the client finds a planted hole. */
const CONTROL_REQUESTS = 1000;

test(`a client of two clinics finds nothing of the other one in ${REQUESTS} requests`, {
  timeout: SOAK ? 3_600_000 : 240_000,
}, async () => {
  // Before the run, which may also fail with an error of its own.
  if (SOAK) process.stdout.write(`SEED=${seed}\n`);
  const { leaks, own, unchanged, routes, looks } = await fuzzTenants(seed, REQUESTS);
  expect(leaks, `SEED=${seed}`).toEqual([]);
  // A client that reaches no content proves nothing.
  expect(own, `answers with the own marker, SEED=${seed}`).toBeGreaterThan(REQUESTS / 10);
  expect(unchanged, `answers 304, SEED=${seed}`).toBeGreaterThan(REQUESTS / 1000);
  expect(routes.size, `routes with content, SEED=${seed}`).toBeGreaterThan(30);
  const ofConsole = [...routes].filter((route) => route.startsWith("GET /operator/"));
  expect(ofConsole, `routes of the console with content, SEED=${seed}`).not.toEqual([]);
  expect(looks, `answers with the own marker to an operator who looks, SEED=${seed}`).toBeGreaterThan(REQUESTS / 200);
});

test("the same client finds a route that responds with the other clinic, on the way to the cache and at the console as well", {
  timeout: 240_000,
}, async () => {
  const holes = [
    swapKeys("/api/v1/inventory"),
    swapClinics("/clinic/v1/clinics/:clinic/stock"),
    addText("/operator/v1/clinics/:clinic", "OursMark dog"),
  ];
  for (const hole of holes) {
    const { leaks } = await fuzzTenants(seed, CONTROL_REQUESTS, hole);
    expect(leaks, `${hole.url}, SEED=${seed}`).not.toEqual([]);
  }
});

type Context = FastifyRequest["context"];

/** Plants a hole: every second request of a route runs with the key of the request before. */
function swapKeys(url: string): Hole {
  const plant = (app: FastifyInstance): void => {
    let last: Context["key"] = null;
    app.addHook("preHandler", (request, _reply, done) => {
      if (request.routeOptions.url === url)
        [last, request.context.key] = [request.context.key, last ?? request.context.key];
      done();
    });
  };
  return { url, plant };
}

/** Plants a hole: a page of the dashboard takes the clinic of the request before. */
function swapClinics(url: string): Hole {
  const plant = (app: FastifyInstance): void => {
    let last: NonNullable<Context["signedIn"]>["clinic"] = null;
    app.addHook("preHandler", (request, _reply, done) => {
      const { signedIn } = request.context;
      if (request.routeOptions.url === url && signedIn !== null) {
        [last, signedIn.clinic] = [signedIn.clinic, last ?? signedIn.clinic];
      }
      done();
    });
  };
  return { url, plant };
}

/** Plants a hole: a page of the operator's console has a text of a clinic. */
function addText(url: string, text: string): Hole {
  const plant = (app: FastifyInstance): void => {
    app.addHook("onSend", (request, _reply, payload, done) => {
      const isHole = request.routeOptions.url === url && typeof payload === "string";
      done(null, isHole ? `${payload}${text}` : payload);
    });
  };
  return { url, plant };
}
