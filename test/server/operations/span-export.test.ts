import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import { type Span, SpanExport } from "../../../server/operations/span-export.ts";
import { VERSION } from "../../../shared/files/program-files.ts";
import { beginTrace } from "../../../shared/network/trace.ts";
import { clinic, keyPermissions, patient, startServer } from "../harness.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { patiently } from "../../support/runner/patience.ts";
import { startCollector } from "./collector.ts";

function exportTo(url: string, headers?: Record<string, string>) {
  const log: { level: number; msg: string; dropped?: number }[] = [];
  const logger = pino({ base: null }, { write: (line) => log.push(JSON.parse(line) as (typeof log)[number]) });
  const spans = new SpanExport({ endpoint: new URL(url), ...(headers && { headers }) }, logger);
  onTestFinished(() => spans.stop());
  return { spans, log };
}

const span: Span = {
  trace: {
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    spanId: "53995c3f42cd8ad8",
    parentId: "00f067aa0ba902b7",
    isSampled: true,
  },
  name: "POST /agent/v1/studies",
  kind: "server",
  begunAt: 1_795_262_400_001,
  ms: 2.5,
  isError: true,
  attributes: { "http.request.method": "POST", "http.route": "/agent/v1/studies", "http.response.status_code": 503 },
};

/**
 * Written by JsonTraceSerializer of @opentelemetry/otlp-transformer 0.57.2 for the same span, without its empty lists and counts of 0.
 * It writes the integer as a number; the specification writes text, and readers take both.
 */
const FOREIGN = `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"vetwire-server"}},
{"key":"service.version","value":{"stringValue":"${VERSION}"}}]},"scopeSpans":[{"scope":{"name":"vetwire","version":"${VERSION}"},"spans":[
{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"53995c3f42cd8ad8","parentSpanId":"00f067aa0ba902b7","name":"POST /agent/v1/studies",
"kind":2,"startTimeUnixNano":"1795262400001000000","endTimeUnixNano":"1795262400003500000","attributes":[
{"key":"http.request.method","value":{"stringValue":"POST"}},{"key":"http.route","value":{"stringValue":"/agent/v1/studies"}},
{"key":"http.response.status_code","value":{"intValue":"503"}}],"status":{"code":2}}]}]}]}`;

test("a span is sent as the library of OpenTelemetry writes it", async () => {
  const { collector } = await startCollector();
  const { spans } = exportTo(`${collector.url}/otlp/`);
  spans.add(span);
  spans.add({ ...span, trace: { ...span.trace, isSampled: false } });
  await spans.flush();
  expect(collector.requests.map(({ body, ...request }) => ({ ...request, body: JSON.parse(body) as unknown }))).toEqual(
    [{ url: "/otlp/v1/traces", type: "application/json", body: JSON.parse(FOREIGN) }],
  );
});

test("the headers of the collector are sent, and the end of the server sends all that waits", async () => {
  const { collector, spans: got } = await startCollector();
  const { spans } = exportTo(collector.url, { "api-key": "secret", "content-type": "text/plain" });
  for (let count = 0; count < 1_300; count += 1) spans.add({ ...span, trace: beginTrace() });
  await spans.stop(patiently(30_000));
  expect(got()).toHaveLength(1_300);
  expect(collector.headers.map((each) => [each["api-key"], each["content-type"]])).toEqual(
    Array.from({ length: 3 }, () => ["secret", "application/json"]),
  );
});

test("a collector that refuses or is away costs its spans and one line of the log, and no memory beyond a bound", async () => {
  const { collector, spans: got } = await startCollector();
  const { spans, log } = exportTo(collector.url);
  collector.status = 503;
  for (let batch = 0; batch < 2; batch += 1) {
    spans.add(span);
    await spans.flush();
  }
  for (let count = 0; count < 5_000; count += 1) spans.add({ ...span, trace: beginTrace() });
  collector.status = 200;
  const before = got().length;
  for (let batch = 0; batch < 5; batch += 1) await spans.flush();
  expect(got().length - before).toBe(2048);
  expect(log.map(({ level, msg, dropped }) => ({ level, msg, dropped }))).toEqual([
    { level: 40, msg: "the collector takes no spans: they are dropped", dropped: undefined },
    { level: 30, msg: "the collector takes spans again", dropped: 2 + 5_000 - 2048 },
  ]);

  const gone = exportTo("http://127.0.0.1:9");
  gone.spans.add(span);
  await gone.spans.flush();
  expect(gone.log.map(({ msg }) => msg)).toEqual(["the collector takes no spans: they are dropped"]);
});

test("spans that a working collector rejects are counted in the log, once an hour and at the end", async () => {
  const { collector } = await startCollector();
  const { spans, log } = exportTo(collector.url);
  const send = async (response: string) => {
    collector.response = response;
    for (let count = 0; count < 5; count += 1) spans.add({ ...span, trace: beginTrace() });
    await spans.flush();
  };
  await send('{"partialSuccess":{}}');
  for (const other of ["", "null", "[]", '"x"', '{"partialSuccess":{"rejectedSpans":"-4"}}']) await send(other);
  expect(log).toEqual([]);
  await send('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"spans are too old"}}');
  await send('{"partialSuccess":{"rejectedSpans":2}}');
  await send('{"partialSuccess":{"rejectedSpans":"99999999999999999999"}}');
  await spans.stop(patiently(5_000));
  expect(log.map(({ level, msg, dropped }) => ({ level, msg, dropped }))).toEqual([
    { level: 40, msg: "the collector rejects spans or is too slow: they are dropped", dropped: 3 },
    { level: 40, msg: "the server stopped before the collector took all spans", dropped: 7 },
  ]);
});

test("spans that come faster than a collector takes them are counted in the log", async () => {
  const { collector, spans: got } = await startCollector();
  const { spans, log } = exportTo(collector.url);
  // The first batch is on its way meanwhile.
  for (let count = 0; count < 5_000; count += 1) spans.add({ ...span, trace: beginTrace() });
  await spans.stop(patiently(30_000));
  expect(got()).toHaveLength(512 + 2048);
  expect(log.map(({ level, dropped }) => ({ level, dropped }))).toEqual([{ level: 40, dropped: 5_000 - 512 - 2048 }]);
});

test("the span of a request has the pattern of its route, and nothing of a person", async () => {
  const own = newFp("clinic");
  const dog = patient();
  const { store, pepper, makeKey } = await startServer(clinic(own), dog);
  const { collector, spans: got } = await startCollector();
  const { spans } = exportTo(collector.url);
  const app = buildApp(store, { pepper, spans });
  onTestFinished(() => app.close());
  const key = await makeKey(own, keyPermissions);
  const address = await app.listen({ port: 0, host: "127.0.0.1" });
  const at = (path: string, init?: RequestInit) =>
    fetch(`${address}${path}`, { ...init, headers: { "x-api-key": key } });
  const paths = [`/api/v1/patients/${dog.fp}`, `/api/v1/patients?search=${dog.name}`, `/${dog.fp}?name=${dog.name}`];
  for (const path of paths) await (await at(path)).text();
  await expect
    .poll(async () => {
      await spans.flush();
      return got().length;
    })
    .toBe(3);
  expect(
    got().map(({ name, kind, attributes }) => [
      name,
      kind,
      attributes.map((each) => Object.values(each.value as object)[0]),
    ]),
  ).toEqual([
    ["GET /api/v1/patients/:fp", 2, ["GET", "/api/v1/patients/:fp", "403"]],
    ["GET /api/v1/patients", 2, ["GET", "/api/v1/patients", "200"]],
    ["HTTP", 2, ["_OTHER", "404"]],
  ]);
  for (const { body } of collector.requests) {
    for (const word of [dog.fp, dog.name, own, key]) expect(body).not.toContain(word);
  }
});
