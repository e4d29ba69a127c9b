import http from "node:http";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Address } from "../transport/address.ts";
import { isLoopback } from "../transport/loopback.ts";
import type { Metrics } from "./metrics.ts";
import type { Readiness } from "./readiness.ts";
import type { Spool } from "../spool/spool.ts";

// The status endpoints /healthz, /readyz and /metrics: numbers and device ids, no patient data.

/**
 * Whether a Host header names this machine. A web page can point its own name at this machine and then read these answers in
 * the user's browser (DNS rebinding), but its requests keep that name in Host. `reached` is the address that took the request.
 */
function isOwnHost(header: string, configured: string, reached: string | undefined): boolean {
  const host = header
    .replace(/:\d*$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();
  return isLoopback(host) || host === configured.toLowerCase() || host === reached?.replace(/^::ffff:/, "");
}

/** Starts the local status server. @throws with a sentence when the port is taken */
export async function serveStatus(
  { host, port }: Address,
  spool: Spool,
  metrics: Metrics,
  ready: () => Readiness,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = http.createServer((request, response) => {
    const answer = (status: number, body: string, type = "text/plain; charset=utf-8") => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    const asked = request.headers.host ?? "";
    if (!isOwnHost(asked, host, request.socket.localAddress)) {
      const expected = `localhost, the address of this machine, or ${host} as in status.listen`;
      return answer(421, `Host is ${asked || "missing"}, expected ${expected}\n`);
    }
    if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "GET and HEAD only\n");
    switch (request.url) {
      case "/healthz":
        return answer(200, "ok\n");
      case "/readyz": {
        const found = ready();
        return answer(found.ready ? 200 : 503, `${JSON.stringify(found, null, 2)}\n`, "application/json");
      }
      case "/metrics":
        render(spool, metrics).then(
          (text) => answer(200, text, metrics.registry.contentType),
          (error: unknown) => answer(503, `${errorMessage(error)}\n`),
        );
        return;
      default:
        return answer(404, "not found; there are /healthz, /readyz and /metrics\n");
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
