import http from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A span as the collector got it. */
export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[];
}

interface Sent {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[] }[];
}

/** A collector on loopback, whose status the test changes. It keeps each request. */
export async function startCollector() {
  const collector = {
    url: "",
    status: 200,
    response: "{}",
    requests: [] as { url: string; type: string; body: string }[],
    headers: [] as http.IncomingHttpHeaders[],
  };
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      collector.headers.push(request.headers);
      collector.requests.push({ url: request.url ?? "", type: String(request.headers["content-type"]), body });
      response.writeHead(collector.status, { "content-type": "application/json" }).end(collector.response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const spans = () =>
    collector.requests.flatMap(({ body }) =>
      (JSON.parse(body) as Sent).resourceSpans.flatMap((of) => of.scopeSpans.flatMap((scope) => scope.spans)),
    );
  return { collector, spans };
}
