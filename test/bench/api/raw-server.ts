import { createServer } from "node:http";

// Baseline: node:http alone. PUT stores a status, headers and body for a path; GET responds with them.

interface Prepared {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const responses = new Map<string, Prepared & { bytes: Buffer }>();

const server = createServer((request, response) => {
  const { url = "", method } = request;
  if (method === "PUT") {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const prepared = JSON.parse(Buffer.concat(parts).toString()) as Prepared;
      responses.set(url, { ...prepared, bytes: Buffer.from(prepared.body) });
      response.end();
    });
    return;
  }
  const copy = responses.get(url);
  if (copy === undefined) response.writeHead(404).end();
  else response.writeHead(copy.status, copy.headers).end(copy.bytes);
});

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") process.stdout.write(`ready on http://127.0.0.1:${address?.port}\n`);
});
