import net from "node:net";
import { sendRequest, useNetwork } from "../../../shared/network/client.ts";
import { environmentProxies } from "../../../shared/network/proxy.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { failureOf, OUTGOING } from "../../support/clinic/outgoing.ts";

// Connects in every way to peers that break the connection. Prints the failures. An error that nobody owns ends this process.

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

const PEERS: Readonly<Record<string, (socket: net.Socket) => void>> = {
  resets: (socket) => socket.resetAndDestroy(),
  ends: (socket) => socket.end(),
  "sends noise": (socket) => socket.write(Buffer.from([0, 255, 13, 10, 1, 2, 3]), () => resetSoon(socket)),
  "breaks the handshake": (socket) => socket.write(Buffer.from([22, 3, 3, 0, 64, 2]), () => resetSoon(socket)),
  "breaks its response": (socket) =>
    socket.once("data", () => socket.write(ANSWER.replace("2", "200"), () => resetSoon(socket))),
  "resets a kept connection": (socket) => socket.once("data", () => socket.write(ANSWER, () => resetSoon(socket))),
  "responds twice": (socket) => socket.once("data", () => socket.write(ANSWER + ANSWER, () => resetSoon(socket))),
  "responds before the request": (socket) => socket.write(ANSWER, () => resetSoon(socket)),
};

function resetSoon(socket: net.Socket): void {
  setTimeout(() => socket.resetAndDestroy(), 30);
}

async function listen(serve: (socket: net.Socket) => void): Promise<net.Server> {
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    serve(socket);
    // Mail servers and devices speak first, so that some clients send nothing.
    setTimeout(() => socket.resetAndDestroy(), 400);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const portOf = (server: net.Server) => (server.address() as net.AddressInfo).port;
const found: Record<string, string> = {};

for (const [peer, serve] of Object.entries(PEERS)) {
  const server = await listen(serve);
  const place = { host: "127.0.0.1", port: portOf(server) };
  const attempts = Object.keys(OUTGOING).flatMap((name) =>
    (["http", "https"] as const).map(async (scheme) => {
      found[`${name} ${scheme}: ${peer}`] = await failureOf(name, place, scheme);
    }),
  );
  // The same peer as a proxy.
  const address = `http://127.0.0.1:${place.port}`;
  useNetwork({ proxies: environmentProxies({ HTTP_PROXY: address, HTTPS_PROXY: address }), ca: null });
  for (const url of ["http://cloud.example/", "https://cloud.example/"]) {
    const answered = sendRequest(new URL(url), { idleMs: 2000 }).then(
      ({ statusCode }) => String(statusCode),
      errorMessage,
    );
    attempts.push(answered.then((words) => void (found[`proxy of ${url}: ${peer}`] = words)));
  }
  await Promise.all(attempts);
  server.close();
}

// A request that is given up at any moment.
const slow = await listen((socket) => {
  const timer = setTimeout(() => socket.write("HTTP/1.1 200 OK\r\n\r\n", () => resetSoon(socket)), 5);
  socket.on("close", () => clearTimeout(timer));
});
for (const ms of [0, 1, 2, 4, 8, 16]) {
  for (const url of [
    `http://localhost:${portOf(slow)}/`,
    `https://localhost:${portOf(slow)}/`,
    "http://a.example/",
    "https://a.example/",
  ]) {
    const address = `http://127.0.0.1:${portOf(slow)}`;
    useNetwork({ proxies: environmentProxies({ HTTP_PROXY: address, HTTPS_PROXY: address }), ca: null });
    const signal = AbortSignal.timeout(ms);
    const body = async function* () {
      for (;;) yield Buffer.alloc(10_000);
    };
    const sent = sendRequest(new URL(url), { method: "POST", body, signal });
    found[`given up after ${ms} ms ${url}`] = await sent.then((response) => {
      response.destroy();
      return "answered";
    }, errorMessage);
  }
}
slow.close();
// For an error that comes late.
await new Promise((resolve) => setTimeout(resolve, 500));
process.stdout.write(JSON.stringify(found), () => process.exit(0));
