import os from "node:os";
import { expect, test } from "vitest";
import { dialFault, faultText, listenFault, serialFault } from "../../../agent/states/line-state.ts";
import { portAdvice } from "../../../shared/files/rights-advice.ts";

// Goal: the sentences of faults that a test cannot cause for real. The others are in device-service.slow.test.ts.

const failed = (code: string, message = code) => Object.assign(new Error(message), { code });
const tty = "/dev/nothing-there";
const mayBeOff = false;

test.each<[string, NodeJS.Platform, string]>([
  [
    "Error: Permission denied, cannot open /dev/nothing-there",
    "linux",
    `no permission for ${tty}: add the user to the group dialout (sudo usermod -a -G dialout ${os.userInfo().username}), then sign in again`,
  ],
  [
    "Error Resource temporarily unavailable Cannot lock port",
    "linux",
    `${tty} is in use by another program: close that program`,
  ],
  ["Opening COM3: Access denied", "win32", `${tty} is in use by another program: close that program`],
  [
    "Opening COM3: File not found",
    "win32",
    `no such port ${tty}: plug its adapter in, or take a path that "agent ports" lists`,
  ],
  ["Error: Input/output error", "linux", `${tty}: Error: Input/output error`],
])("the fault of a serial port says what to do: %s on %s", (message, platform, reason) => {
  expect(serialFault(tty, message, platform)).toEqual({ is: "cannot open", reason, mayBeOff });
});

test("the fault of a port below 1024 without permission says what to do", () => {
  const reason = portAdvice(104, "agent");
  expect(listenFault("0.0.0.0", 104, failed("EACCES"))).toEqual({ is: "cannot listen", reason, mayBeOff });
});

test.each([
  ["ETIMEDOUT", "timed out, no answer from 10.0.0.5:5500: switch the device on, and compare its address with 10.0.0.5"],
  ["EHOSTUNREACH", "no route to 10.0.0.5: switch the device on, and look whether it is in the network of this machine"],
  ["ENOTFOUND", "unknown host name 10.0.0.5: take the device's address in its place"],
  ["EPIPE", "10.0.0.5:5500: EPIPE"],
])("a device that cannot be dialled for %s may be switched off", (code, reason) => {
  const fault = dialFault("10.0.0.5", 5500, failed(code), false);
  expect(fault).toEqual({ is: "cannot connect", reason, mayBeOff: true });
  expect(faultText(fault)).toBe(`cannot connect: ${reason}`);
});

test.each([
  [
    "CERT_HAS_EXPIRED",
    "certificate has expired",
    "certificate has expired: name in tls.ca who signed the device's certificate",
  ],
  ["EPROTO", "alert number 40", "alert number 40"],
])("a TLS failure for %s is a problem of this machine", (code, message, reason) => {
  expect(dialFault("10.0.0.5", 5500, failed(code, message), true)).toEqual({
    is: "cannot connect",
    reason: `TLS with 10.0.0.5:5500 failed: ${reason}`,
    mayBeOff,
  });
});
