import { serialProblem } from "../../../agent/transport/probe.ts";
import os from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { dialFault, faultText, listenFault, ofReplies, serialFault } from "../../../agent/states/line-state.ts";
import { lineText, OWN_HOLDER } from "../../../shared/network/line-reasons.ts";
import { portFault } from "../../../shared/files/rights-advice.ts";

// Goal: the sentences of faults that a test cannot cause for real. The others are in device-service.slow.test.ts.

const failed = (code: string, message = code) => Object.assign(new Error(message), { code });
const tty = "/dev/nothing-there";
const mayBeOff = false;

type Row = [
  message: string,
  platform: NodeJS.Platform,
  code: string,
  more: string[],
  fault: string,
  remedy: string | null,
];

test.each<Row>([
  [
    "Error: Permission denied, cannot open /dev/nothing-there",
    "linux",
    "PORT.FORBIDDEN",
    [os.userInfo().username],
    `no permission for ${tty}`,
    `add the user to the group dialout (sudo usermod -a -G dialout ${os.userInfo().username}), then sign in again`,
  ],
  [
    "Error Resource temporarily unavailable Cannot lock port",
    "linux",
    "PORT.IN_USE",
    [],
    `${tty} is in use by another program`,
    "close that program",
  ],
  [
    "Opening COM3: Access denied",
    "win32",
    "PORT.IN_USE",
    [],
    `${tty} is in use by another program`,
    "close that program",
  ],
  [
    "Opening COM3: File not found",
    "win32",
    "PORT.MISSING",
    [],
    `no such port ${tty}`,
    'plug its adapter in, or take a path that "agent ports" lists',
  ],
  [
    "Error: Input/output error",
    "linux",
    "PORT.FAULT",
    ["Error: Input/output error"],
    `${tty}: Error: Input/output error`,
    null,
  ],
])("the fault of a serial port has a code and a remedy: %s on %s", (message, platform, code, more, fault, remedy) => {
  const reason = remedy === null ? fault : `${fault}: ${remedy}`;
  expect(serialFault(tty, message, platform)).toEqual({
    is: "cannot open",
    ...{ code, values: [tty, ...more], fault, remedy, reason, mayBeOff },
  });
});

test.each([
  [path.join(os.tmpdir(), "no-such-port"), "PORT.MISSING"],
  [os.tmpdir(), "PORT.NOT_SERIAL"],
])("the words of the real driver about %s have the code %s", async (place, code) => {
  expect((await serialProblem({ path: place, baudRate: 9600 }))?.code).toBe(code);
});

test("several programs that hold a port are named, this agent in the language of the reader", () => {
  const reason = { code: "LISTEN.IN_USE", values: ["5600", OWN_HOLDER, "socat (process 7)"] };
  expect(lineText(reason)).toMatch(/^port 5600 is in use by another device of this agent, socat \(process 7\): end/);
  expect(lineText(reason, "tr")).toMatch(
    /^5600 numaralı port kullanımda: bu ajanın başka bir cihazı, socat \(process 7\): /,
  );
  expect(lineText({ ...reason, values: ["5600"] }, "tr")).toMatch(
    /^5600 numaralı port kullanımda: başka bir program: /,
  );
});

test("the fault of a port below 1024 without permission has its remedy", () => {
  const told = portFault(104, "agent");
  const reason = `${told.fault}: ${told.remedy}`;
  const is = "cannot listen";
  expect(listenFault("0.0.0.0", 104, failed("EACCES"))).toEqual({
    is,
    ...{ code: "LISTEN.FORBIDDEN", values: ["104", os.userInfo().username], ...told, reason, mayBeOff },
  });
});

test.each([
  [
    "ETIMEDOUT",
    "DIAL.TIMED_OUT",
    ["10.0.0.5:5500", "10.0.0.5"],
    "timed out, no answer from 10.0.0.5:5500",
    "switch the device on, and compare its address with 10.0.0.5",
  ],
  [
    "EHOSTUNREACH",
    "DIAL.NO_ROUTE",
    ["10.0.0.5"],
    "no route to 10.0.0.5",
    "switch the device on, and look whether it is in the network of this machine",
  ],
  [
    "ENOTFOUND",
    "DIAL.UNKNOWN_HOST",
    ["10.0.0.5"],
    "unknown host name 10.0.0.5",
    "take the device's address in its place",
  ],
  ["EPIPE", "DIAL.FAULT", ["10.0.0.5:5500", "EPIPE"], "10.0.0.5:5500: EPIPE", null],
])("a device that cannot be dialled for %s may be switched off", (system, code, values, fault, remedy) => {
  const found = dialFault("10.0.0.5", 5500, failed(system), false);
  const reason = remedy === null ? fault : `${fault}: ${remedy}`;
  expect(found).toEqual({ is: "cannot connect", code, values, fault, remedy, reason, mayBeOff: true });
  expect(faultText(found)).toBe(`cannot connect: ${reason}`);
});

test.each([
  [
    "CERT_HAS_EXPIRED",
    "TLS.UNTRUSTED",
    "certificate has expired",
    "name in tls.ca who signed the device's certificate",
  ],
  ["EPROTO", "TLS.FAULT", "alert number 40", null],
])("a TLS failure for %s is a problem of this machine", (system, code, message, remedy) => {
  const fault = `TLS with 10.0.0.5:5500 failed: ${message}`;
  expect(dialFault("10.0.0.5", 5500, failed(system, message), true)).toEqual({
    is: "cannot connect",
    ...{ code, values: ["10.0.0.5:5500", message], fault, remedy, mayBeOff },
    reason: remedy === null ? fault : `${fault}: ${remedy}`,
  });
});

test("a fault of the reply connection keeps its code and values, and is named", () => {
  const fault = ofReplies(dialFault("10.0.0.5", 5500, failed("ECONNREFUSED"), false));
  const reason = "the reply connection, refused by 10.0.0.5:5500: switch the device on, and compare its port with 5500";
  const values = ["DIAL.REFUSED", "10.0.0.5:5500", "5500"];
  expect(fault).toMatchObject({ is: "cannot connect", code: "LINE.OF_REPLIES", values, reason, mayBeOff: true });
  expect(lineText(fault, "tr")).toBe(
    "yanıt bağlantısı: 10.0.0.5:5500 bağlantıyı reddetti: cihazı açın ve portunu 5500 ile karşılaştırın",
  );
});
