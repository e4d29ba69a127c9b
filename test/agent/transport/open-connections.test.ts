import { beforeEach, expect, test } from "vitest";
import { OpenConnections } from "../../../agent/transport/open-connections.ts";

let open: OpenConnections;
let closed: string[];
let told: unknown[];

beforeEach(() => {
  closed = [];
  told = [];
  open = new OpenConnections(3, (gaveWay) => told.push(gaveWay));
});

function add(...peers: readonly string[]): void {
  for (const peer of peers) {
    open.add(peer, { address: `address of ${peer}`, destroy: () => closed.push(peer) });
  }
}

function addWithMessage(...peers: readonly string[]): void {
  for (const peer of peers) {
    add(peer);
    open.heardMessage(peer);
  }
}

test("the oldest connection without bytes gives way, and its address is reported", () => {
  add("a", "b", "c", "d", "e");
  expect(closed).toEqual(["a", "b"]);
  expect(told).toEqual([
    { connections: 1, lastAddress: "address of a" },
    { connections: 2, lastAddress: "address of b" },
  ]);
});

test("a device in the middle of a message outlasts peers that sent one byte earlier", () => {
  add("a", "b", "device");
  for (const peer of ["a", "b", "device"]) open.heard(peer);
  add("c", "d");
  expect(closed).toEqual(["a", "b"]);
});

test("a connection with a message never gives way to connections without one", () => {
  addWithMessage("device");
  add("a", "b", "c", "d", "e", "f");
  for (const peer of ["d", "e", "f"]) open.heard(peer);
  add("g");
  expect(closed).toEqual(["a", "b", "c", "d"]);
});

test("a device that never closes its connections displaces its longest silent one", () => {
  addWithMessage("a", "b", "c");
  open.heard("a");
  addWithMessage("d");
  expect(closed).toEqual(["b"]);
  expect(told).toEqual([{ connections: 1, lastAddress: "address of b" }]);
});

test("a connection closed by its peer makes room for another", () => {
  const left = { address: "10.0.0.1", destroy: () => closed.push("left") };
  open.add("left", left);
  open.remove("left", left);
  add("a", "b", "c");
  expect(closed).toEqual([]);
});

test("the late close of a displaced connection does not remove its successor", () => {
  const first = { address: "10.0.0.1", destroy: () => closed.push("first") };
  open.add("10.0.0.1:5000", first);
  add("a", "b", "c");
  add("10.0.0.1:5000");
  open.remove("10.0.0.1:5000", first);
  open.destroyAll();
  expect(closed).toEqual(["first", "a", "b", "c", "10.0.0.1:5000"]);
});
