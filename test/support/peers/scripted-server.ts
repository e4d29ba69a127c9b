import http from "node:http";
import type net from "node:net";
import { gunzipSync } from "node:zlib";

/** The response to one request. */
export type Step =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  /** Cuts the connection without a response. */
  | "cut"
  /** Never responds. */
  | "hang";

export interface ScriptedRequest {
  readonly method: string;
  readonly url: string;
  /** Parsed JSON, or the bytes of a picture or a file. */
  readonly body: unknown;
}

/** Makes the body of an error without one of its own: the error envelope of the server. A 404 is that of a missing route. */
function envelopeOf(status: number) {
  const code = status === 404 ? "ROUTE.NOT_FOUND" : "TEST.ERROR";
  return { success: false, error: { code, message: "It is scripted.", severity: "error" } };
}

/** Starts a real HTTP server that responds with the result of `respond`. */
export async function scriptedServer(respond: (request: ScriptedRequest) => Step) {
  const requests: ScriptedRequest[] = [];
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const raw = Buffer.concat(parts);
      const bytes = request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
      const isRaw = ["image/png", "application/octet-stream"].includes(request.headers["content-type"] ?? "");
      const body: unknown = isRaw ? bytes : bytes.length > 0 ? JSON.parse(bytes.toString()) : null;
      const received = { method: request.method ?? "", url: request.url ?? "", body };
      requests.push(received);
      const step = respond(received);
      if (step === "hang") return;
      if (step === "cut") return request.socket.destroy();
      const content = step.body ?? (step.status < 400 ? {} : envelopeOf(step.status));
      response.writeHead(step.status, { "content-type": "application/json", ...step.headers });
      const isText = typeof content === "string" || Buffer.isBuffer(content);
      response.end(isText ? content : JSON.stringify(content));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
