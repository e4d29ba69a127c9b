import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LatestRelease } from "../../../../shared/api/upgrade.ts";
import { linkProblems, releaseLinks } from "../../../../shared/platform/release/links.ts";

// A host of releases: /file has four bytes, /moved leads to it, /loop to itself, /silent never responds.
const host = http.createServer((request, response) => {
  if (request.url === "/file") response.end("four");
  else if (request.url === "/moved") response.writeHead(302, { location: "/file" }).end();
  else if (request.url === "/gone") response.writeHead(302, { location: "/nowhere" }).end();
  else if (request.url === "/loop") response.writeHead(302, { location: "/loop" }).end();
  else if (request.url !== "/silent") response.writeHead(404).end();
});
let base: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
});
afterAll(() => {
  host.closeAllConnections();
  host.close();
});

const problemsOf = (path: string, size?: number) =>
  linkProblems([{ address: `${base}${path}`, ...(size === undefined ? {} : { size }) }]);

test("an address that leads to its file is no problem, also over a redirect", async () => {
  for (const path of ["/file", "/moved"]) expect(await problemsOf(path, 4)).toEqual([]);
  expect(await problemsOf("/moved")).toEqual([]);
});

test("a missing file, a redirect to one, a loop and a file of another size are problems in words", async () => {
  expect(await problemsOf("/nowhere")).toEqual([`${base}/nowhere responds with 404, expected 200`]);
  expect(await problemsOf("/gone")).toEqual([`${base}/gone responds with 404, expected 200`]);
  expect(await problemsOf("/loop")).toEqual([`${base}/loop cannot be reached: redirect count exceeded`]);
  expect(await problemsOf("/moved", 5)).toEqual([`${base}/moved has 4 bytes, expected 5`]);
});

test("a host that does not respond, or refuses the connection, is a problem and not an endless wait", async () => {
  expect(await linkProblems([{ address: `${base}/silent` }], 50)).toEqual([
    `${base}/silent did not respond within 0.05 s`,
  ]);
  const closed = http.createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/`;
  await new Promise((resolve) => closed.close(resolve));
  expect(await linkProblems([{ address }])).toEqual([
    expect.stringContaining(`${address} cannot be reached: connect ECONNREFUSED`),
  ]);
});

test("the links of a release are the owner's address, the list, each file, the hashes and the signatures", () => {
  const url = `${base}/releases/download/v0.2.0/a.tar.gz`;
  const about = { kind: "archive", program: "agent", platform: "linux-x64" };
  const file = { name: "a.tar.gz", ...about, size: 4, sha256: "0".repeat(64), url } as const;
  const latest: LatestRelease = { version: "0.2.0", released_on: "2026-12-01", files: [file] };
  expect(releaseLinks(base, null)).toEqual([{ address: base }]);
  expect(releaseLinks(base, latest)).toEqual([
    { address: base },
    { address: `${base}/releases/latest/download/latest.json` },
    { address: url, size: 4 },
    ...["SHA256SUMS", "latest.json.minisig", "SHA256SUMS.minisig", "a.tar.gz.minisig"].map((name) => ({
      address: `${base}/releases/download/v0.2.0/${name}`,
    })),
  ]);
});
