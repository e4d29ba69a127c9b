import type { Server } from "node:http";

/** Headers of a response that is not a page: a browser takes it for nothing else, and runs and loads nothing that it names. */
export const DATA_HEADERS = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
} as const;

/** Gives every response of a server these headers by default, also to bytes that are not an HTTP request. */
export function sendDataHeaders(server: Server): void {
  server.prependListener("request", (_request, response) => {
    for (const [name, value] of Object.entries(DATA_HEADERS)) response.setHeader(name, value);
  });
  const lines = Object.entries(DATA_HEADERS).map(([name, value]) => `${name}: ${value}`);
  const refusal = ["HTTP/1.1 400 Bad Request", "connection: close", ...lines, "", ""].join("\r\n");
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end(refusal);
    else socket.destroy();
  });
}
