import http from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";

// Requests over a real connection, because the requests of app.inject are repaired before the server sees them.

export interface Asked {
  readonly method?: string;
  /** Path and query, which are sent as they are. */
  readonly path: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

export interface Answered {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** Lets an app listen on a free port of loopback. @returns the port */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: "127.0.0.1" });
  return (app.server.address() as AddressInfo).port;
}

/** Sends a request with its path, headers and bytes unchanged. */
export async function ask(port: number, { method = "GET", path, headers = {}, body }: Asked): Promise<Answered> {
  const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: "127.0.0.1", method, path, headers: { ...length, ...headers } });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    request.end(body);
  });
}

/** The message of an error. */
export function messageOf({ text }: Answered): string {
  const { error } = JSON.parse(text) as { error?: { message: string } };
  return error?.message ?? "";
}
