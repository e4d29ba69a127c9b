import { expect, test } from "vitest";
import { parseTarget } from "../../../agent/transport/target.ts";

test.each([
  ["tcp://10.0.0.5:4001", { kind: "dial", address: { host: "10.0.0.5", port: 4001 } }],
  ["tcp://[::1]:4001", { kind: "dial", address: { host: "::1", port: 4001 } }],
  ["listen://0.0.0.0:4001", { kind: "listen", address: { host: "0.0.0.0", port: 4001 } }],
  ["serial:/dev/ttyUSB0", { kind: "serial", path: "/dev/ttyUSB0" }],
  ["serial:COM3", { kind: "serial", path: "COM3" }],
] as const)("%s is read", (text, target) => {
  expect(parseTarget(text)).toEqual(target);
});

test.each(["", "usb:1", "tcp://host", "tcp://host:65536", "tcp://", "serial:", "127.0.0.1:4001", "TCP://host:1"])(
  "%j is not a target",
  (text) => {
    expect(parseTarget(text)).toBeNull();
  },
);
