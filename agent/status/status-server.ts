import http from "node:http";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Address } from "../transport/address.ts";
import { sendDataHeaders } from "../../shared/network/data-headers.ts";
import { portAdvice } from "../../shared/files/rights-advice.ts";
import { shareAmongHosts } from "../../shared/network/host-share.ts";
import { isLoopback } from "../../shared/network/network-address.ts";
import type { Metrics } from "./metrics.ts";
import type { Readiness } from "./readiness.ts";
import type { Spool } from "../spool/spool.ts";

// The local server: the endpoints /healthz, /readyz and /metrics with numbers and device ids, and the agent's page.

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

export interface LocalServer {
  /** The configured address; port 0 lets the system choose one. */
  readonly address: Address;
  readonly port: number;
  /** Takes no more connections, so that another server can have the port. Open ones stay. */
  release(): void;
  close(): Promise<void>;
}

/** The agent that the endpoints report. */
export interface StatusSource {
  readonly spool: Spool;
  readonly metrics: Metrics;
  ready(): Readiness;
}

/** Reports that no agent runs: while it starts, and before the set-up. */
const NOT_RUNNING: Readiness = {
  ready: false,
  problems: [{ what: "agent", reason: "the agent does not run: look at its page, or run vetwire doctor", since: null }],
  warnings: [],
};

/**
 * Starts the local server, with at most `connectionsMax` connections. `current` returns the running agent, null for none. `page`
 * serves other paths.
 * @throws Error if the port is in use
 */
export async function serveStatus(
  { host, port }: Address,
  current: () => StatusSource | null,
  page: http.RequestListener,
  connectionsMax: number,
): Promise<LocalServer> {
  const server = http.createServer({ requireHostHeader: false }, (request, response) => {
    const respond = (status: number, body: string, type = "text/plain; charset=utf-8") => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    const requested = request.headers.host ?? "";
    if (!isOwnHost(requested, host, request.socket.localAddress)) {
      const expected = `localhost, the address of this machine, or ${host} as in status.listen`;
      return respond(421, `Host is ${requested || "missing"}, expected ${expected}\n`);
    }
    const { url = "/" } = request;
    if (!["/healthz", "/readyz", "/metrics"].includes(url)) return page(request, response);
    if (request.method !== "GET" && request.method !== "HEAD") return respond(405, "GET and HEAD only\n");
    const running = current();
    if (url === "/healthz") return respond(200, "ok\n");
    if (url === "/readyz") {
      const found = running?.ready() ?? NOT_RUNNING;
      return respond(found.ready ? 200 : 503, `${JSON.stringify(found, null, 2)}\n`, "application/json");
    }
    if (running === null) return respond(503, "the agent does not run\n");
    render(running.spool, running.metrics).then(
      (text) => respond(200, text, running.metrics.registry.contentType),
      (error: unknown) => respond(503, `${errorMessage(error)}\n`),
    );
  });
  sendDataHeaders(server);
  shareAmongHosts(server, connectionsMax);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EACCES" ? portAdvice(port, "agent") : error.message;
      reject(new Error(`status cannot listen on ${host}:${port}: ${why}`));
    });
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  return {
    address: { host, port },
    port: typeof bound === "object" && bound !== null ? bound.port : port,
    release: () => void server.close(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function render(spool: Spool, metrics: Metrics): Promise<string> {
  const [counts, outbox, quality] = await Promise.all([
    spool.call("countMessages"),
    spool.call("outbox"),
    spool.call("waitingQuality"),
  ]);
  metrics.messages.reset();
  for (const { state, count } of counts) metrics.messages.set({ state }, count);
  metrics.outboxDepth.set(outbox.depth);
  metrics.outboxOldest.set(outbox.oldestAt === null ? 0 : Math.max(0, (Date.now() - outbox.oldestAt) / 1000));
  metrics.qualityWaiting.set(quality.depth);
  return metrics.registry.metrics();
}
