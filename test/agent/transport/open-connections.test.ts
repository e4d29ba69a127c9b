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

test("the oldest of the connections that sent nothing gives way, and its address is reported", () => {
  add("a", "b", "c", "d", "e");
  expect(closed).toEqual(["a", "b"]);
  expect(told).toEqual([
    { connections: 1, lastAddress: "address of a" },
    { connections: 2, lastAddress: "address of b" },
  ]);
});

test("a device in the middle of its message outlasts peers that sent one byte before", () => {
  add("a", "b", "device");
  for (const peer of ["a", "b", "device"]) open.heard(peer);
  add("c", "d");
  expect(closed).toEqual(["a", "b"]);
});

test("a connection that has sent a message never gives way to one that has sent none", () => {
  addWithMessage("device");
  add("a", "b", "c", "d", "e", "f");
  for (const peer of ["d", "e", "f"]) open.heard(peer);
  add("g");
  expect(closed).toEqual(["a", "b", "c", "d"]);
});

test("a device that never closes its connections displaces the one on which it has been silent the longest", () => {
  addWithMessage("a", "b", "c");
  open.heard("a");
  addWithMessage("d");
  expect(closed).toEqual(["b"]);
  expect(told).toEqual([{ connections: 1, lastAddress: "address of b" }]);
});

test("a connection that was closed by its peer leaves its room to others", () => {
  const left = { address: "10.0.0.1", destroy: () => closed.push("left") };
  open.add("left", left);
  open.remove("left", left);
  add("a", "b", "c");
  expect(closed).toEqual([]);
});

test("a displaced connection does not take the room of its successor with it when its end is noticed", () => {
  const first = { address: "10.0.0.1", destroy: () => closed.push("first") };
  open.add("10.0.0.1:5000", first);
  add("a", "b", "c");
  add("10.0.0.1:5000");
  open.remove("10.0.0.1:5000", first);
  open.destroyAll();
  expect(closed).toEqual(["first", "a", "b", "c", "10.0.0.1:5000"]);
});
