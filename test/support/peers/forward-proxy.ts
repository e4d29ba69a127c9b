import http from "node:http";
import https from "node:https";
import net from "node:net";

// A proxy of a clinic on loopback: tunnels (CONNECT) and plain http. It brings every target to one port of this machine.

export interface ProxyBehaviour {
  /** Responds so in place of its work. */
  readonly refuse?: { readonly status: number; readonly headers?: Readonly<Record<string, string>> };
  /** Takes the connection and never responds, or ends it. */
  readonly end?: "silent" | "cut";
  /** `user:password` that it wants. */
  readonly wants?: string;
  /** Makes the proxy speak TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
}

export async function startForwardProxy(targetPort: number, behaviour: ProxyBehaviour = {}) {
  const { refuse, end, wants, tls } = behaviour;
  /** Such as `CONNECT cloud.example:443` and `GET http://cloud.example/`. */
  const seen: string[] = [];
  const refusal = ({ headers }: http.IncomingMessage) => {
    const isRight = headers["proxy-authorization"] === `Basic ${Buffer.from(wants ?? "").toString("base64")}`;
    if (wants === undefined || isRight) return refuse;
    return { status: 407, headers: { "proxy-authenticate": 'Basic realm="clinic"' } };
  };
  const serve: http.RequestListener = (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (end === "silent") return;
    if (end === "cut") return request.socket.destroy();
    const refused = refusal(request);
    if (refused !== undefined) return response.writeHead(refused.status, refused.headers).end();
    const { pathname, search } = new URL(request.url ?? "");
    const { "proxy-authorization": _secret, ...headers } = request.headers;
    const passed = { method: request.method, port: targetPort, path: `${pathname}${search}`, headers };
    const onward = http.request(passed, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  };
  const server = tls === undefined ? http.createServer(serve) : https.createServer({ ...tls }, serve);
  server.on("connect", (request, socket: net.Socket) => {
    seen.push(`CONNECT ${request.url}`);
    socket.on("error", () => undefined);
    if (end === "silent") return;
    if (end === "cut") return socket.destroy();
    const refused = refusal(request);
    if (refused !== undefined) {
      const lines = Object.entries(refused.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
      return socket.end(`HTTP/1.1 ${refused.status} No\r\n${lines.join("")}\r\n`);
    }
    const onward = net.connect(targetPort, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });
  const open = new Set<net.Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    port,
    seen,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
