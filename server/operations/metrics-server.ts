import http from "node:http";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { sendDataHeaders } from "../../shared/network/data-headers.ts";
import { portAdvice } from "../../shared/files/rights-advice.ts";
import { shareAmongHosts } from "../../shared/network/host-share.ts";
import { isLoopback } from "../../shared/network/network-address.ts";

/** Max connections. Prometheus keeps one. */
const CONNECTIONS_MAX = 16;

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface MetricsServer {
  readonly url: string;
  close(): void;
}

/**
 * Serves /metrics on a listener of its own, so that no proxy in front of the API passes it on.
 * @throws Error if the port is in use
 */
export async function serveMetrics({ host, port }: MetricsAddress, metrics: MetricsText): Promise<MetricsServer> {
  const server = http.createServer({ requireHostHeader: false }, (request, response) => {
    const respond = (status: number, body: string, type = "text/plain; charset=utf-8") => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    // A web page can point its own name at this machine (DNS rebinding). Its requests keep that name in Host.
    const name = (request.headers.host ?? "").replace(/:\d*$/, "");
    if (isLoopback(host) && !isLoopback(name)) return respond(421, "expected localhost as Host\n");
    if (request.url !== "/metrics") return respond(404, "expected /metrics\n");
    if (request.method !== "GET" && request.method !== "HEAD") return respond(405, "expected GET or HEAD\n");
    metrics.text().then(
      (text) => respond(200, text, metrics.contentType),
      (error: unknown) => respond(503, `${errorMessage(error)}\n`),
    );
  });
  sendDataHeaders(server);
  shareAmongHosts(server, CONNECTIONS_MAX);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "EACCES" ? portAdvice(port, "server") : error.message;
      reject(new Error(`--metrics cannot listen on ${host}:${port}: ${why}`));
    });
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  const shown = typeof bound === "object" && bound !== null ? bound.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${shown}/metrics`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
