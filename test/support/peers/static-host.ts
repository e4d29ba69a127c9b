import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

// A static host of files, as nginx serves a folder: ranges, 404 and 416. It can break connections off.

/** The words that start one as a program. */
export function staticHostCommand(folder: string, port: number): string[] {
  const code = `import { StaticHost } from ${JSON.stringify(import.meta.filename)}; await StaticHost.start(process.argv[1], ${port});`;
  return [process.execPath, "--input-type=module", "-e", code, folder];
}

export class StaticHost {
  readonly #server: http.Server;
  readonly #folder: string;
  /** The paths that were requested, with the first byte of their range. */
  readonly requests: string[] = [];
  /** After so many bytes of a response the connection breaks off; null for never. */
  cutAfter: number | null = null;
  /** Whether it knows ranges. */
  ranges = true;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = http.createServer((request, response) => this.#respond(request, response));
  }

  static async start(folder: string, port = 0): Promise<StaticHost> {
    const host = new StaticHost(folder);
    await new Promise<void>((resolve) => host.#server.listen(port, "127.0.0.1", resolve));
    return host;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #respond(request: http.IncomingMessage, response: http.ServerResponse): void {
    const name = decodeURIComponent(new URL(request.url ?? "", this.url).pathname);
    const from = this.ranges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
    this.requests.push(from > 0 ? `${name} from ${from}` : name);
    const file = path.join(this.#folder, name.endsWith("/") ? `${name}index.html` : name);
    if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return void response.writeHead(404).end();
    const bytes = fs.readFileSync(file);
    if (from > 0 && from >= bytes.length) return void response.writeHead(416).end();
    const rest = bytes.subarray(from);
    const range = from > 0 ? { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {};
    // A browser runs no script of another type.
    const type = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" }[path.extname(file)];
    const typed = type === undefined ? {} : { "content-type": type };
    response.writeHead(from > 0 ? 206 : 200, { "content-length": rest.length, ...range, ...typed });
    if (this.cutAfter === null || rest.length <= this.cutAfter) return void response.end(rest);
    response.write(rest.subarray(0, this.cutAfter), () => response.destroy());
  }
}
