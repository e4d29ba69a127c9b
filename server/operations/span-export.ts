import type { OutgoingHttpHeaders } from "node:http";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { VERSION } from "../../shared/files/program-files.ts";
import { sendRequest } from "../../shared/network/client.ts";
import type { Trace } from "../../shared/network/trace.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";

// Sends the steps of traces to a collector of OpenTelemetry: OTLP/HTTP 1.x in JSON, in which ids are hexadecimal, enums numbers and
// 64-bit integers text. A span has the pattern of its route, and no path, query, address or fp, since these may name a person.

/** Spans in memory. Beyond it further ones are dropped, as while the collector is away. */
const KEPT_MAX = 2048;
const BATCH_MAX = 512;
const EVERY_MS = 5_000;
const RESPONSE_MS = 10_000;
/** Time for the last batches, while the server stops. */
const LAST_MS = 2_000;
/** Min time between two lines that count the losses of a working collector. */
const COUNTED_EVERY_MS = 3_600_000;
/** Read of a response, which counts the rejected spans of the batch. */
const RESPONSE_BYTES_MAX = 64 * 1024;

/** SpanKind and StatusCode of opentelemetry/proto/trace/v1/trace.proto. */
const KIND = { server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

export interface Collector {
  /** Its base URL, below which the specification places the path of spans. */
  readonly endpoint: URL;
  /** Headers of each request, such as the key of a hosted collector. */
  readonly headers?: OutgoingHttpHeaders;
}

export interface Span {
  readonly trace: Trace;
  readonly name: string;
  readonly kind: keyof typeof KIND;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  readonly ms: number;
  readonly isError: boolean;
  /** Names of OpenTelemetry's semantic conventions for HTTP. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

export class SpanExport {
  readonly #url: URL;
  readonly #headers: OutgoingHttpHeaders;
  readonly #logger: Logger;
  #spans: Span[] = [];
  /** Spans that were lost since the last line of the log that counts them. */
  #dropped = 0;
  #isFailing = false;
  /** When a line last counted spans that were lost although the collector takes some. */
  #countedAt = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #ending = new AbortController();

  constructor({ endpoint, headers = {} }: Collector, logger: Logger) {
    this.#headers = headers;
    this.#url = new URL(`${endpoint.href.replace(/\/+$/, "")}/v1/traces`);
    this.#logger = logger;
    this.#timer = setInterval(() => void this.flush(), EVERY_MS).unref();
  }

  /** Adds a span for each request. Register after the request context and before everything that may refuse a request. */
  watch(app: FastifyInstance): void {
    app.addHook("onRequest", (request, reply, done) => {
      const { route, trace } = request.context;
      const [begunAt, begun] = [Date.now(), performance.now()];
      // A response that stays open for hours measures its page, not the server.
      if (route.isStream !== true) {
        reply.raw.on("close", () => {
          const { statusCode: status, headersSent } = reply.raw;
          // The method of a request without a route is the client's own word.
          const method = route.url === undefined ? "_OTHER" : request.method;
          this.add({
            ...{ trace, begunAt, ms: performance.now() - begun, kind: "server", isError: status >= 500 },
            name: route.url === undefined ? "HTTP" : `${method} ${route.url}`,
            attributes: {
              "http.request.method": method,
              ...(route.url !== undefined && { "http.route": route.url }),
              ...(headersSent && { "http.response.status_code": status }),
            },
          });
        });
      }
      done();
    });
  }

  /** Keeps a span for the next batch, if its trace is sampled. */
  add(span: Span): void {
    if (!span.trace.isSampled) return;
    if (this.#spans.length >= KEPT_MAX) this.#dropped += 1;
    else this.#spans.push(span);
    if (this.#spans.length >= BATCH_MAX && !this.#isFailing) void this.flush();
  }

  /** Sends what waits. Spans that the collector does not take are lost. Never rejects. */
  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  /** Sends what waits, for a bounded time. */
  async stop(lastMs = LAST_MS): Promise<void> {
    clearInterval(this.#timer);
    const end = setTimeout(() => this.#ending.abort(), lastMs);
    await this.#sending;
    while (this.#spans.length > 0 && !this.#ending.signal.aborted) await this.flush();
    clearTimeout(end);
    const dropped = this.#dropped + this.#spans.length;
    if (dropped > 0) this.#logger.warn({ dropped }, "the server stopped before the collector took all spans");
  }

  async #send(): Promise<void> {
    const batch = this.#spans.splice(0, BATCH_MAX);
    if (batch.length === 0) return;
    try {
      const rejected = await this.#post(batch);
      this.#dropped += Math.min(rejected, batch.length);
      this.#noteTaken();
    } catch (error) {
      this.#dropped += batch.length;
      const reason = errorMessage(error);
      if (!this.#isFailing) this.#logger.warn({ reason }, "the collector takes no spans: they are dropped");
      this.#isFailing = true;
    }
  }

  /** @returns how many spans the collector rejected @throws if it did not take the batch */
  async #post(batch: readonly Span[]): Promise<number> {
    const body = Buffer.from(JSON.stringify(exportRequest(batch)));
    const headers = { ...this.#headers, "content-type": "application/json", "content-length": body.length };
    const signal = AbortSignal.any([AbortSignal.timeout(RESPONSE_MS), this.#ending.signal]);
    const response = await sendRequest(this.#url, { method: "POST", headers, body, signal });
    try {
      if (response.statusCode !== 200) throw new Error(`expected status 200, got ${response.statusCode}`);
      return rejectedBy(await startOf(response));
    } finally {
      response.destroy();
    }
  }

  /** Counts in the log what was lost until now. A collector that works may reject spans, or be slower than they come. */
  #noteTaken(): void {
    const wasFailing = this.#isFailing;
    this.#isFailing = false;
    const isTime = performance.now() - this.#countedAt >= COUNTED_EVERY_MS;
    if (!wasFailing && (this.#dropped === 0 || !isTime)) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (wasFailing) return this.#logger.info({ dropped }, "the collector takes spans again");
    this.#countedAt = performance.now();
    this.#logger.warn({ dropped }, "the collector rejects spans or is too slow: they are dropped");
  }
}

/** Reads a response as far as its bound. */
async function startOf(response: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > RESPONSE_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString();
}

/** @returns the rejected spans of an ExportTraceServiceResponse, whose 64-bit integer is text; 0 for any other text */
function rejectedBy(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } };
    const rejected = Number(partialSuccess?.rejectedSpans ?? 0);
    return rejected > 0 ? rejected : 0;
  } catch {
    return 0;
  }
}

/** @returns the ExportTraceServiceRequest of the spans */
function exportRequest(spans: readonly Span[]): object {
  const resource = { attributes: attributesOf({ "service.name": "vetwire-server", "service.version": VERSION }) };
  const scopeSpans = [{ scope: { name: "vetwire", version: VERSION }, spans: spans.map(encode) }];
  return { resourceSpans: [{ resource, scopeSpans }] };
}

function encode({ trace, name, kind, begunAt, ms, isError, attributes }: Span): object {
  return {
    ...{ traceId: trace.traceId, spanId: trace.spanId, name, kind: KIND[kind] },
    ...(trace.parentId !== null && { parentSpanId: trace.parentId }),
    startTimeUnixNano: nanoseconds(begunAt),
    endTimeUnixNano: nanoseconds(begunAt + ms),
    attributes: attributesOf(attributes),
    status: isError ? { code: STATUS_ERROR } : {},
  };
}

/** Microseconds are exact in a number, nanoseconds since 1970 are not. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}

function attributesOf(attributes: Span["attributes"]): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
  }));
}
