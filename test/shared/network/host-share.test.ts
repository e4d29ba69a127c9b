import { EventEmitter } from "node:events";
import net from "node:net";
import { beforeEach, expect, test } from "vitest";
import { shareAmongHosts } from "../../../shared/network/host-share.ts";
import { addressFinder } from "../../../shared/network/network-address.ts";

// Goal: no host of the network shuts a page, an API or a metrics port to the others. Method: connections of invented addresses.

const OWN = "127.0.0.1";
let server: net.Server;
let open: FakeSocket[];

class FakeSocket extends EventEmitter {
  readonly localAddress = "10.0.0.1";
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    open = open.filter((each) => each !== this);
    // As a real socket does: later.
    setImmediate(() => this.emit("close"));
  }
}

beforeEach(() => {
  server = new net.Server();
  open = [];
});

function connect(address: string, count = 1): FakeSocket[] {
  return Array.from({ length: count }, () => {
    const socket = new FakeSocket(address);
    open.push(socket);
    server.emit("connection", socket as unknown as net.Socket);
    return socket;
  });
}

const countOf = (address: string) => open.filter(({ remoteAddress }) => remoteAddress === address).length;
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a host with all connections gives way to every other host, its oldest connections first, until both have as many", async () => {
  shareAmongHosts(server, 8);
  const [first, second, third] = connect("192.168.1.66", 100);
  expect(countOf("192.168.1.66")).toBe(8);
  connect("192.168.1.5", 2);
  expect([open.includes(first!), open.includes(second!), open.includes(third!)]).toEqual([false, false, true]);
  connect("192.168.1.5", 10);
  await settled();
  connect("192.168.1.66", 10);
  expect([countOf("192.168.1.66"), countOf("192.168.1.5")]).toEqual([4, 4]);
});

test("this machine gets in by each of its addresses, and never gives way", () => {
  shareAmongHosts(server, 8);
  connect("192.168.1.66", 8);
  const own = [OWN, "::1", "::ffff:127.0.0.1", "10.0.0.1"].flatMap((address) => connect(address, 1));
  connect("192.168.1.66", 100);
  connect("192.168.1.5", 100);
  expect(own.every((socket) => open.includes(socket))).toBe(true);
  connect(OWN, 100);
  expect([open.length, countOf("192.168.1.66"), countOf("192.168.1.5")]).toEqual([8, 0, 0]);
});

test("a trusted proxy, which brings everybody's requests, never gives way", () => {
  shareAmongHosts(server, 8, addressFinder(["10.0.0.8", "10.1.0.0/16", "fd00::/8"]));
  connect("10.0.0.8", 3);
  connect("::ffff:10.1.2.3", 3);
  connect("fd00::1", 2);
  connect("192.168.1.66", 100);
  expect([open.length, countOf("192.168.1.66")]).toEqual([8, 0]);
});

test("the addresses of one IPv6 subscriber are one host", () => {
  shareAmongHosts(server, 8);
  for (let index = 0; index < 100; index += 1) connect(`2001:db8:0:1::${index}`);
  connect("2001:db8:0:2::1", 3);
  expect(countOf("2001:db8:0:2::1")).toBe(3);
});

test("closed connections make room, and a connection that is closed twice counts once", async () => {
  shareAmongHosts(server, 2);
  const [one] = connect("192.168.1.5", 2);
  one?.destroy();
  one?.destroy();
  await settled();
  connect("192.168.1.6", 5);
  expect([countOf("192.168.1.5"), countOf("192.168.1.6")]).toEqual([1, 1]);
});
