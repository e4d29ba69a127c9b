import http from "node:http";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Address } from "../transport/address.ts";
import { isLoopback } from "../transport/loopback.ts";
import type { Metrics } from "./metrics.ts";
import type { Readiness } from "./readiness.ts";
import type { Spool } from "../spool/spool.ts";

// The status endpoints /healthz, /readyz and /metrics: numbers and device ids, no patient data.

/**
 * Checks whether a Host header names this machine. A web page can point its own name at this machine and then read responses in
 * the user's browser (DNS rebinding), but its requests keep that name in Host. `reached` is the local address of the request.
 */
function isOwnHost(header: string, configured: string, reached: string | undefined): boolean {
  const host = header
    .replace(/:\d*$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();
  return isLoopback(host) || host === configured.toLowerCase() || host === reached?.replace(/^::ffff:/, "");
}

/** Starts the local status server. @throws Error if the port is in use */
export async function serveStatus(
  { host, port }: Address,
  spool: Spool,
  metrics: Metrics,
  ready: () => Readiness,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = http.createServer((request, response) => {
    const respond = (status: number, body: string, type = "text/plain; charset=utf-8") => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    const requested = request.headers.host ?? "";
    if (!isOwnHost(requested, host, request.socket.localAddress)) {
      const expected = `localhost, the address of this machine, or ${host} as in status.listen`;
      return respond(421, `Host is ${requested || "missing"}, expected ${expected}\n`);
    }
    if (request.method !== "GET" && request.method !== "HEAD") return respond(405, "GET and HEAD only\n");
    switch (request.url) {
      case "/healthz":
        return respond(200, "ok\n");
      case "/readyz": {
        const found = ready();
        return respond(found.ready ? 200 : 503, `${JSON.stringify(found, null, 2)}\n`, "application/json");
      }
      case "/metrics":
        render(spool, metrics).then(
          (text) => respond(200, text, metrics.registry.contentType),
          (error: unknown) => respond(503, `${errorMessage(error)}\n`),
        );
        return;
      default:
        return respond(404, "not found, expected /healthz, /readyz or /metrics\n");
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Error(`status cannot listen on ${host}:${port}: ${error.message}`)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function render(spool: Spool, metrics: Metrics): Promise<string> {
  const [counts, outbox] = await Promise.all([spool.call("countMessages"), spool.call("outbox")]);
  metrics.messages.reset();
  for (const { state, count } of counts) metrics.messages.set({ state }, count);
  metrics.outboxDepth.set(outbox.depth);
  metrics.outboxOldest.set(outbox.oldestAt === null ? 0 : Math.max(0, (Date.now() - outbox.oldestAt) / 1000));
  return metrics.registry.metrics();
}
