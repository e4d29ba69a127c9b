import type { FastifyInstance } from "fastify";
import { expect } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { type Role, roles } from "../../../server/dashboard/types/settings/session.ts";
import { makeOperator, makeUser } from "../../dashboard/harness.ts";
import { type Dice, diceOf, pick } from "../../support/runner/dice.ts";
import { bodiesOf } from "./bodies.ts";
import { asKey, type MarkedClinic, type Route, routesOf, rowOf, send, startTwoClinics } from "./two-clinics.ts";

// A seeded client of two clinics, and of their operators. It draws route, caller, ids, parameters, body and ETag, sends sixteen
// requests at a time, and searches every response for the marker of the other clinic. A response of the operator's console may have
// the names of both clinics and no other text of either.

/** A request for a connection reaches the other clinic: the one lawful way from clinic to clinic. */
const BY_CONSENT = /\/connection$/;
/** A response that never ends, and work of a second for a password. */
const LEFT_OUT = /\/(events|set-up|sign-in|sign-out|sign-out-everywhere|docs.*|assets.*|users\/:user\/reset)$/;
/**
 * Commands that end what the client reads of a clinic, or make a password; no-data.test.ts has their responses. The export of a clinic
 * has its data; export.test.ts searches it for those of the other.
 */
const COMMANDS = /^\/operator\/v1\/clinics(\/:clinic\/(suspend|erase|quota|export))?$/;
const AT_ONCE = 16;

interface Request {
  readonly clinic: MarkedClinic;
  readonly route: Route;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: object | undefined;
}

/** Counts of a run. A response counts if it is 2xx and holds the marker of the caller's own clinic. */
interface Findings {
  readonly leaks: string[];
  readonly routes: Set<string>;
  own: number;
  /** Those of an operator who looks into a clinic. */
  looks: number;
  unchanged: number;
}

/** A fault that a test plants in a route. */
export interface Hole {
  readonly url: string;
  readonly plant: (app: FastifyInstance) => void;
}

/** Runs the client until it finds a leak. With a hole it draws its route alone, since a draw of all routes rarely comes there. */
export async function fuzzTenants(seed: number, requests: number, hole?: Hole): Promise<Findings> {
  const dice = diceOf(seed);
  // The parameters of a route are read from its first request, so that a new route is covered.
  const parameters = new Map<string, readonly string[]>();
  const { server, ours, theirs } = await startTwoClinics((app) => {
    app.addHook("onRequest", (request, _reply, done) => {
      const { url, config } = request.routeOptions;
      if (url !== undefined) parameters.set(url, Object.keys(config.parameters ?? {}));
      done();
    });
    hole?.plant(app);
  });
  const routes = routesOf(server.app).filter(
    ({ method, url }) =>
      (hole === undefined || url === hole.url) &&
      !(BY_CONSENT.test(url) || LEFT_OUT.test(url) || (COMMANDS.test(url) && method !== "GET" && method !== "HEAD")),
  );
  const etags = new Map<string, string>();
  const cookies = new Map<string, string>();
  const operators = new Map<string, TestOperator>();
  /** Gives the operator of a clinic a session of the console and one of the dashboard. */
  async function signInOperator({ fp }: MarkedClinic): Promise<void> {
    const operator = await makeOperator(server);
    operators.set(fp, operator);
    cookies.set(`${fp} look`, await lookInto(fp, operator));
  }
  for (const clinic of [ours, theirs]) await signInOperator(clinic);
  const tagged: Request[] = [];
  const found: Findings = { leaks: [], routes: new Set(), own: 0, looks: 0, unchanged: 0 };

  function draw(): Request {
    if (tagged.length > 0 && dice(8) === 0) return askedAgain(pick(dice, tagged));
    const [clinic, other] = dice(2) === 0 ? [ours, theirs] : [theirs, ours];
    const route = pick(dice, routes);
    const isConsole = isOfConsole(route);
    // Each operator looks into one clinic alone, so that the other one's data must not reach the operator.
    const isLook = isConsole && route.url.endsWith("/support");
    const named = isLook ? clinic.pathTo(route.url) : pathOf(dice, route, clinic, other);
    const url = named + queryOf(dice, parameters.get(route.url), clinic, other);
    const isPage = route.url.startsWith("/clinic/") || isConsole;
    const role = pick<Role | "look">(dice, [...roles, "admin", "admin", "look", "look"]);
    const user = cookies.get(`${clinic.fp} ${role}`) ?? (role === "look" ? "" : clinic.users.get(role)?.cookie) ?? "";
    const page = {
      cookie: isConsole ? `${operators.get(clinic.fp)?.cookie}${dice(4) === 0 ? `; ${user}` : ""}` : user,
    };
    const key = dice(4) === 0 || route.url.startsWith("/agent/") ? clinic.agentKey : clinic.key;
    const both = { ...asKey(key), ...page, "sec-fetch-site": "same-origin" };
    const caller = dice(8) === 0 ? both : isPage ? { ...page, "sec-fetch-site": "same-origin" } : asKey(key);
    const etag = etags.get(url);
    const headers = { ...caller, ...(etag !== undefined && dice(4) > 0 && { "if-none-match": etag }) };
    // The text of a body is the caller's, so that its repetition in the response is not a leak.
    const ids = dice(3) === 0 ? other.named : clinic.named;
    const body = bodiesOf({ marker: clinic.marker, named: { ...ids, devices: clinic.named.devices } })[rowOf(route)];
    return { clinic, route, url, headers, body };
  }

  /** Asks for content that the caller has. A draw of all routes rarely meets the same address twice. */
  function askedAgain(request: Request): Request {
    return { ...request, headers: { ...request.headers, "if-none-match": etags.get(request.url) ?? "" } };
  }

  async function check({ clinic, route, url, headers, body }: Request): Promise<void> {
    const { marker } = clinic === ours ? theirs : ours;
    const answer = await send(server.app, { ...route, url }, headers, body);
    const shown = `${JSON.stringify(answer.headers)} ${answer.body}`;
    const texts = isOfConsole(route) ? shown.replaceAll(/(Ours|Theirs)Mark clinic/g, "") : shown;
    const isLeak = texts.includes(marker) || (isOfConsole(route) && texts.includes(clinic.marker));
    if (isLeak) found.leaks.push(`${route.method} ${url} shows ${marker}: ${texts.slice(0, 200)}`);
    if (answer.statusCode === 304) {
      found.unchanged += 1;
      // A 304 means that the caller's own response has this ETag, which the other clinic's response must not have.
      const { "if-none-match": _sent, ...plain } = headers;
      await check({ clinic, route, url, headers: plain, body });
    }
    const { etag } = answer.headers;
    if (typeof etag === "string") etags.set(url, etag);
    if (answer.statusCode < 300 && shown.includes(clinic.marker)) {
      found.own += 1;
      if (headers["cookie"] === cookies.get(`${clinic.fp} look`)) found.looks += 1;
      found.routes.add(rowOf(route));
      if (etag !== undefined) tagged.push({ clinic, route, url, headers, body });
    }
    if (answer.statusCode === 401 && "cookie" in headers) {
      // The client ended its own session, by a new password or by the end of all sessions. An operator has 100 of them, and each
      // look into a clinic makes one.
      for (const role of roles) cookies.set(`${clinic.fp} ${role}`, (await makeUser(server, role, clinic.fp)).cookie);
      await signInOperator(clinic);
    }
  }

  for (let sent = 0; sent < requests && found.leaks.length === 0; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, async () => check(draw())));
  }
  // A busy database refuses some writes, which is not a fault here.
  const faults = server.log.filter((line) => line.includes('"level":50') && !line.includes("StoreUnavailable"));
  expect(faults, `SEED=${seed}`).toEqual([]);
  return found;
}

type TestOperator = Awaited<ReturnType<typeof makeOperator>>;

const isOfConsole = ({ url }: Route) => url.startsWith("/operator/");

/** Opens a clinic to its operator. @returns the Cookie header of the operator at the dashboard */
async function lookInto(fp: string, operator: TestOperator): Promise<string> {
  const reason = "ticket 7: nothing arrives";
  const { headers, text } = await operator.call("POST", `/clinics/${fp}/support`, { reason });
  const cookie = /\bvetwire=[^;]+/.exec(String(headers["set-cookie"]))?.[0];
  if (cookie === undefined) throw new Error(`expected a session of the dashboard, got none: ${text}`);
  return cookie;
}

/** Fills a path: mostly with ids of the caller that fit, else with those of the other clinic, of another kind or of nobody. */
function pathOf(dice: Dice, { url }: Route, clinic: MarkedClinic, other: MarkedClinic): string {
  const choice = dice(10);
  if (choice < 6) return clinic.pathTo(url);
  if (choice < 8) return other.pathTo(url.replace(":clinic", pick(dice, [clinic.fp, clinic.fp, other.fp])));
  return url.replaceAll(/:(\w+)/g, (_all, name: string) => {
    if (name === "clinic") return clinic.fp;
    const known = [...(clinic.ids[name] ?? []), ...(other.ids[name] ?? []), newFp("cds"), "x", "0"];
    return encodeURIComponent(pick(dice, known));
  });
}

/** Draws a query: mostly none, else one or two parameters with a value that may fit. */
function queryOf(dice: Dice, names: readonly string[] | undefined, clinic: MarkedClinic, other: MarkedClinic): string {
  if (names === undefined || names.length === 0 || dice(3) > 0) return "";
  // A search for the other clinic by half of its marker, since the response may repeat the words of the request.
  const half = other.marker.slice(0, -1);
  const values = [
    "1",
    "2",
    "0",
    "true",
    "dog",
    "2026-11-21",
    half,
    clinic.named.animal,
    other.named.animal,
    "",
    "%",
    "_",
    "UTC",
  ];
  const one = () => `${pick(dice, names)}=${encodeURIComponent(pick(dice, values))}`;
  return `?${one()}${dice(3) === 0 ? `&${one()}` : ""}`;
}
