import type { Command } from "commander";
import * as fc from "fast-check";
import type { FastifyInstance } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { agentProgram } from "../../../agent/cli/program.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { createPageApp } from "../../../agent/page/page-app.ts";
import { serverProgram } from "../../../server/cli/program.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, importText, patient, startServer, study } from "../../server/harness.ts";
import { headersAt, routesOf, startTwoClinics } from "../../server/security/two-clinics.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { TestAgent } from "../../support/peers/running-agent.ts";

// Goal: no regular expression, no word of a schema library and no fault of a program reaches a person. Method: wrong input at every
// door, and a look at every sentence that comes back, without the quotes of what was sent.

const FORBIDDEN =
  /\^[^\s"]*\$|\\[dwsSpP]\b|\bpattern\b|anyOf|oneOf|allOf|additionalProperties|unevaluated|\bconst\b|\/body\/|\bbody\/|querystring|\bundefined\b|\[object |\bNaN\b|\n\s+at |\bmust (not|match|be|have)\b|instancePath|is not a function|Cannot read|not iterable|\bTypeError\b|text of another form/;

/** Removes what a sentence quotes of its input. */
const unquoted = (text: string) => text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');

function wrongWords(sentences: readonly string[]): string[] {
  return sentences.filter((sentence) => FORBIDDEN.test(unquoted(sentence)));
}

/** Any value without the marks of a regular expression, since some sentences name files and words without quotes. */
const harmless = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll(/[$^]|\\\\/g, "_")) as unknown);

/** Values that fit no field. */
const WRONG: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  1e300,
  "",
  " ",
  "x",
  ":a:",
  "\0",
  "a".repeat(6000),
  [],
  [[]],
  {},
  { a: { b: 1 } },
  [null, 7, "x", {}],
];

describe("agent.yaml", () => {
  const bucket = {
    endpoint: "https://s3.example",
    bucket: "images",
    region: "eu-1",
    prefix: "a/b",
    accessKeyId: "A",
    secretFile: "s",
    encryption: "aws:kms",
    kmsKeyId: "k",
    pathStyle: true,
    ca: "ca.pem",
  };
  const serial = { path: "COM3", baudRate: 9600, dataBits: 8, parity: "none", stopBits: 1, rtscts: false };
  const VALID = {
    server: { url: "https://127.0.0.1:8080", keyFile: "agent.key", pin: "x" },
    data: "data",
    timeZone: "UTC",
    matchPatientsByName: true,
    proxy: "http://vet@proxy.example:3128",
    proxyPasswordFile: "p",
    noProxy: ["10.0.0.0/8"],
    ca: "ca.pem",
    managed: true,
    status: { listen: "127.0.0.1:8081" },
    images: { retainDays: 1, maxGigabytes: 1, minFreeGigabytes: 1 },
    backup: { folder: "b", at: "03:30", keep: 1, images: true },
    log: { file: "l", maxMegabytes: 1, keep: 1 },
    destinations: [
      { id: "a", dial: "h:1", aeTitle: "A", callingAeTitle: "B" },
      { id: "b", stow: "http://x", authorizationFile: "t" },
      { id: "c", s3: bucket },
    ],
    devices: [
      {
        id: "d",
        profile: "generic-hl7",
        connection: { serial, replyConnection: { dial: "h:1", listen: "1" } },
        tls: { certificate: "c", key: "k", ca: "a" },
        allow: ["10.0.0.1"],
        model: "m",
        timeZone: "UTC",
        charset: "utf-8",
        ackMode: "aa",
        operatorListFile: "o",
        codes: { a: "GLU" },
        matchBySampleId: true,
      },
      {
        id: "x",
        profile: "dicom",
        connection: { listen: "0.0.0.0:11112" },
        aeTitle: "V",
        callingAeTitles: ["D"],
        quietSeconds: 6,
        modality: "RADIOLOGY",
        commitmentScp: "h:1",
      },
    ],
  };

  /** The paths of all fields. */
  function places(value: unknown, at: readonly string[] = []): string[][] {
    if (typeof value !== "object" || value === null) return [[...at]];
    return [[...at], ...Object.entries(value).flatMap(([name, inner]) => places(inner, [...at, name]))];
  }

  function replaced(value: unknown, [step, ...rest]: readonly string[], by: unknown): unknown {
    if (step === undefined) return by;
    const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<
      string,
      unknown
    >;
    copy[step] = replaced(copy[step], rest, by);
    return copy;
  }

  test("with any wrong value at any place is refused in words", () => {
    const folder = temporaryFolder();
    const all = places(VALID);
    expect(all.length).toBeGreaterThan(80);
    const problemsOf = (config: unknown) => {
      const checked = checkConfig(JSON.stringify(config), folder);
      return "problems" in checked ? checked.problems.map(({ message }) => message) : [];
    };
    for (const place of all) {
      for (const wrong of WRONG) {
        const found = problemsOf(replaced(VALID, place, wrong));
        expect([place, wrong, wrongWords(found)]).toEqual([place, wrong, []]);
      }
      expect(wrongWords(problemsOf(replaced(VALID, [...place, "unknown"], 1)))).toEqual([]);
    }
    fc.assert(
      fc.property(fc.constantFrom(...all), harmless, (place, value) => {
        expect(wrongWords(problemsOf(replaced(VALID, place, value)))).toEqual([]);
      }),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (any) => {
        // Some sentences name a key without quotes.
        const text = any.replaceAll(/[\\^$]/g, "_");
        const checked = checkConfig(text, folder);
        // The YAML parser's messages name what an indentation must be, and an alias must not.
        const said =
          "problems" in checked ? checked.problems.map(({ message }) => message.replace(/\bmust (be|not)\b/, "")) : [];
        expect(wrongWords(said)).toEqual([]);
      }),
    );
  });
});

/** The names of a body's fields as its refusals give them away. */
function namesIn(message: string): string[] {
  return [...message.matchAll(/([\w/]+) is missing/g)].map(([, name = ""]) => name);
}

function withField(body: unknown, place: string, value: unknown): unknown {
  const [step = "", ...rest] = place.split("/");
  const copy = { ...(body as Record<string, unknown>) };
  copy[step] = rest.length === 0 ? value : withField(copy[step] ?? {}, rest.join("/"), value);
  return copy;
}

type Send = (payload: unknown) => Promise<string>;

/** Sends wrong bodies: of other types, empty, and with each named field of other types. @returns all sentences */
async function sentencesOf(send: Send): Promise<string[]> {
  const found: string[] = [];
  for (const body of WRONG) found.push(await send(body));
  const names = namesIn(await send({}));
  for (const wrong of WRONG) {
    found.push(await send(names.reduce<unknown>((body, name) => withField(body, name, wrong), { unexpected: 1 })));
  }
  return found;
}

function sender(app: FastifyInstance, method: string, url: string, headers: Record<string, string>): Send {
  return async (payload) => {
    const asked = { method: method as "POST", url, headers: { "content-type": "application/json", ...headers } };
    const { statusCode, body } = await app.inject({ ...asked, payload: JSON.stringify(payload) });
    if (statusCode < 400) return "";
    const { error } = JSON.parse(body) as { error: { message: string; details?: unknown } };
    return `${error.message} ${JSON.stringify(error.details ?? "")}`;
  };
}

const isWrite = (method: string) => method !== "GET" && method !== "HEAD";

describe("a request", () => {
  test("with any wrong body or query at any route of the server is refused in words", async () => {
    const { server, ours } = await startTwoClinics();
    const wrong: string[] = [];
    let refusals = 0;
    for (const { method, url } of routesOf(server.app)) {
      if (!/^\/(api|agent|clinic)\/v1\//.test(url) || /events$|sign-out|previews|releases/.test(url)) continue;
      const path = ours.pathTo(url);
      const headers = headersAt(url, ours);
      const parameters = [
        "page",
        "page_size",
        "updated_since",
        "after",
        "species",
        "search",
        "status",
        "from",
        "rows",
        "order",
        "type",
      ];
      const found = isWrite(method)
        ? await sentencesOf(sender(server.app, method, path, headers))
        : await Promise.all(
            parameters.flatMap((name) =>
              ["", "x", "-1", "1e9", ":a:"].map(async (value) => {
                const asked = { method: "GET" as const, url: `${path}?${name}=${encodeURIComponent(value)}`, headers };
                const { statusCode, body } = await server.app.inject(asked);
                return statusCode < 400
                  ? ""
                  : ((JSON.parse(body) as { error: { message: string } }).error.message ?? "");
              }),
            ),
          );
      refusals += found.filter(Boolean).length;
      wrong.push(...wrongWords(found).map((sentence) => `${method} ${url}: ${sentence.slice(0, 200)}`));
    }
    expect([...new Set(wrong)]).toEqual([]);
    expect(refusals).toBeGreaterThan(1000);
  }, 120_000);

  test("with any wrong body or query at any form of the agent's page is refused in words", async () => {
    const agent = new TestAgent();
    onTestFinished(() => agent.close());
    await agent.run([]);
    const app = await createPageApp(agent.host);
    onTestFinished(() => app.close());
    const wrong: string[] = [];
    for (const { method, url } of routesOf(app)) {
      if (!url.startsWith("/local/") || /events|stream|doctor/.test(url)) continue;
      const path = url.replaceAll(/:\w+/g, "1").replace("*", "x");
      const found = await sentencesOf(
        sender(app, isWrite(method) ? method : "POST", isWrite(method) ? path : `${path}?x=1`, {}),
      );
      for (const query of ["frame=x", "frame=-1", "side=3", "frame=:a:"]) {
        const { statusCode, body } = await app.inject({ method: "GET", url: `${path}?${query}` });
        if (statusCode >= 400 && body.startsWith("{"))
          found.push((JSON.parse(body) as { error: { message: string } }).error.message);
      }
      wrong.push(...wrongWords(found).map((sentence) => `${method} ${url}: ${sentence.slice(0, 200)}`));
    }
    expect([...new Set(wrong)]).toEqual([]);
  }, 60_000);
});

test("an import with any wrong field of any entity is refused in words", async () => {
  const ours = newFp("clinic");
  const server = await startServer(clinic(ours));
  const animal = patient();
  const entities = [clinic(ours), animal, { ...study({ patient_fp: animal.fp }), type: "study" }] as Record<
    string,
    unknown
  >[];
  const sentences: string[] = [];
  for (const entity of entities) {
    for (const name of [...Object.keys(entity), "unknown"]) {
      const lines = WRONG.map((wrong) => JSON.stringify({ ...entity, [name]: wrong }));
      // Each line alone: the first faults of a file end its report.
      for (const line of lines) {
        const outcome = await importText(server.store, line).then(
          () => "",
          (error: unknown) => JSON.stringify(error) + (error as Error).message,
        );
        sentences.push(outcome);
      }
    }
  }
  expect(wrongWords(sentences).map((text) => text.slice(0, 200))).toEqual([]);
  expect(sentences.filter(Boolean).length).toBeGreaterThan(100);
}, 120_000);

test.each([
  ["agent", agentProgram],
  ["server", serverProgram],
])("an option of the %s with any wrong value is refused in words", async (_, { commands }) => {
  const sentences: string[] = [];
  const visit = (command: Command) => {
    for (const option of command.options) {
      if (option.parseArg === undefined) continue;
      for (const wrong of ["", "x", ":a:", "-1", "1e400", "[]", "\0", "a=b", "a".repeat(500)]) {
        try {
          option.parseArg(wrong, option.defaultValue);
        } catch (error) {
          sentences.push((error as Error).message);
        }
      }
    }
    for (const inner of command.commands) visit(inner);
  };
  for (const load of commands.values()) visit(await load());
  expect(wrongWords(sentences)).toEqual([]);
  expect(sentences.length).toBeGreaterThan(20);
});
