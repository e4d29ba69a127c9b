import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { promisify } from "node:util";

// A network of its own, from which only the registries of packages can be reached: through a proxy, by their names. What else a
// command asks for is refused and kept.

const PROXY_PORT = 3128;

/** Runs in the network: gives its two sockets to the test, whose own network reaches the registries. */
const INSIDE = `
import dgram from "node:dgram";
import net from "node:net";
const names = dgram.createSocket("udp4");
names.on("message", (query, from) => {
  const labels = [];
  for (let at = 12; query[at] > 0; at += query[at] + 1) labels.push(query.toString("latin1", at + 1, at + 1 + query[at]));
  process.send({ name: labels.join(".") });
  const answer = Buffer.from(query);
  answer.writeUInt16BE(0x8183, 2); // no such name
  names.send(answer, from.port, from.address);
});
names.bind(53, "127.0.0.1", () => {
  const proxy = net.createServer();
  proxy.listen(${PROXY_PORT}, "127.0.0.1", () => process.send({ proxy: true }, proxy, () => proxy.close()));
});
`;

export class RegistryNetwork {
  /** What was refused: `CONNECT host:port`, `GET address`, or `NAME host` of a program that does not know the proxy. */
  readonly refused: string[] = [];
  /** The registries that were reached. */
  readonly reached = new Set<string>();
  readonly #inside: ChildProcess;
  readonly #registries: readonly string[];

  /** @returns the reason in words if this machine cannot */
  static async start(folder: string, registries: readonly string[]): Promise<RegistryNetwork | string> {
    if (process.getuid?.() !== 0) return "it needs root";
    if (spawnSync("unshare", ["--net", "--mount", "true"]).status !== 0) return "it needs namespaces";
    const servers = path.join(folder, "resolv.conf");
    fs.writeFileSync(servers, "nameserver 127.0.0.1\n");
    const script = `ip link set lo up && mount --bind ${servers} /etc/resolv.conf && exec "$@"`;
    const words = ["--net", "--mount", "sh", "-c", script, "sh", process.execPath, "--input-type=module", "-e", INSIDE];
    const inside = spawn("unshare", words, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    const started = await Promise.race([once(inside, "message"), once(inside, "exit").then(() => null)]);
    if (started === null) return "no network of its own starts (apt-get install iproute2)";
    return new RegistryNetwork(inside, started[1] as net.Server, registries);
  }

  private constructor(inside: ChildProcess, listener: net.Server, registries: readonly string[]) {
    this.#inside = inside;
    this.#registries = registries;
    inside.on("message", ({ name }: { name: string }) => this.refused.push(`NAME ${name}`));
    const proxy = http.createServer((request, response) => this.#forward(request, response));
    proxy.on("connect", (request, socket: net.Socket) => this.#tunnel(request, socket));
    listener.on("connection", (socket: net.Socket) => proxy.emit("connection", socket));
  }

  /** Runs a shell script. @returns its output, both streams @throws Error with the end of the output if it fails */
  async run(cwd: string, script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const proxy = `http://127.0.0.1:${PROXY_PORT}`;
    const proxies = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy };
    const words = ["--target", String(this.#inside.pid), "--net", "--mount"];
    const command = [...words, "sh", "-c", `cd '${cwd}' && exec 2>&1; ${script}`];
    const options = { env: { ...process.env, ...proxies, NO_PROXY: "127.0.0.1,localhost", ...env }, maxBuffer: 1e8 };
    try {
      return (await promisify(execFile)("nsenter", command, options)).stdout;
    } catch (error) {
      const { stdout, message } = error as { stdout?: string; message: string };
      throw new Error(`${script}: ${stdout?.slice(-4_000) ?? message}`, { cause: error });
    }
  }

  /** How many packets had an address beyond this network, without the proxy. */
  strayPackets(): number {
    const read = (file: string) => fs.readFileSync(`/proc/${this.#inside.pid}/net/${file}`, "utf8");
    const [names = [], values = []] = read("snmp")
      .split("\n")
      .filter((line) => line.startsWith("Ip: "))
      .map((line) => line.split(" "));
    const six = /^Ip6OutNoRoutes\s+(\d+)$/m.exec(read("snmp6"))?.[1];
    return Number(values[names.indexOf("OutNoRoutes")]) + Number(six);
  }

  async end(): Promise<void> {
    this.#inside.kill("SIGKILL");
    if (this.#inside.exitCode === null && this.#inside.signalCode === null) await once(this.#inside, "exit");
  }

  #forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { hostname, port, pathname, search } = new URL(request.url ?? "", "http://no-proxy.test");
    if (!this.#mayReach(hostname, `${request.method} ${request.url}`)) return void response.writeHead(403).end();
    const { method, headers } = request;
    const onward = http.request({ host: hostname, port, path: `${pathname}${search}`, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  }

  #tunnel(request: http.IncomingMessage, socket: net.Socket): void {
    socket.on("error", () => undefined);
    const { hostname, port } = new URL(`http://${request.url}`);
    if (!this.#mayReach(hostname, `CONNECT ${request.url}`)) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const onward = net.connect(Number(port || 80), hostname, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  }

  #mayReach(host: string, request: string): boolean {
    const may = this.#registries.includes(host);
    if (may) this.reached.add(host);
    else this.refused.push(request);
    return may;
  }
}
