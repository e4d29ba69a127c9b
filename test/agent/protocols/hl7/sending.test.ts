import { expect, test } from "vitest";
import { ANSWER_TIMEOUT_MS, Hl7Link } from "../../../../agent/protocols/hl7/link.ts";
import type { LinkAction } from "../../../../agent/protocols/link.ts";
import { NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { bytes, show } from "../astm/wire.ts";
import { frame, header, newLink, result, saidOf, textOf } from "./wire.ts";

// Messages to the device. A query reply is "sent" immediately; a display or order is "sent" after its acknowledgement.

const reply = textOf(header({ 9: "QCK^Q02", 10: "V-1" }), "MSA|AA|4711");
const display = textOf(header({ 9: "DSR^Q03", 10: "V-2" }), "MSA|AA|4711");
const order = textOf(header({ 9: "OML^O33^OML_O33", 10: "V-3", 12: "2.5.1" }));
const acknowledged = (code: string, id: string, type = "ACK^Q03") =>
  frame(textOf(header({ 9: type, 10: "9" }), `MSA|${code}|${id}`));

const doneOf = (actions: readonly LinkAction[]) =>
  actions.filter((action) => action.do !== "deliver").map((action) => ("reason" in action ? action.reason : action.do));

test("a query's reply is sent in its frame and settled immediately", () => {
  const link = newLink();
  const actions = link.send(bytes(reply));
  expect(actions).toEqual([{ do: "reply", bytes: expect.anything() }, { do: "sent" }, { do: "timer", ms: null }]);
  expect(actions.map((action) => (action.do === "reply" ? show(action.bytes) : ""))[0]).toBe(frame(reply));
  expect(link.isIdle).toBe(true);
});

test.each([
  ["a display, AA", display, acknowledged("AA", "V-2")],
  ["a display, CA", display, acknowledged("CA", "V-2")],
  ["an order, ORL^O34", order, acknowledged("AA", "V-3", "ORL^O34^ORL_O34")],
])("%s is settled by the device's acknowledgement, which gets no reply", (_, message, answer) => {
  const link = newLink();
  expect(doneOf(link.send(bytes(message)))).toEqual(["reply", "timer"]);
  expect(link.isIdle).toBe(false);
  const actions = link.receive(bytes(answer));
  expect(doneOf(actions)).toEqual(["sent", "timer"]);
  expect(saidOf(actions)).toMatchObject({ answers: [], messages: ["9"] });
  expect(link.isIdle).toBe(true);
});

test("a refusal or 10 s of silence makes the message unsent", () => {
  const link = newLink();
  link.send(bytes(display));
  expect(doneOf(link.receive(bytes(acknowledged("AE", "V-2"))))).toEqual([
    'the device acknowledged it with "AE"',
    "timer",
  ]);
  expect(link.send(bytes(display)).at(-1)).toEqual({ do: "timer", ms: ANSWER_TIMEOUT_MS });
  expect(ANSWER_TIMEOUT_MS).toBe(10_000);
  expect(doneOf(link.timeout())).toEqual(["the device did not acknowledge it within 10 s", "timer"]);
  link.send(bytes(display));
  expect(doneOf(link.close())).toEqual(["the connection closed before the device acknowledged it", "timer"]);
  expect(link.isIdle).toBe(true);
});

test("other messages are received meanwhile, and other acknowledgements ignored", () => {
  const link = newLink();
  link.send(bytes(display));
  expect(saidOf(link.receive(bytes(frame(result("7"))))).answers).toEqual(["AA 7"]);
  expect(doneOf(link.receive(bytes(acknowledged("AA", "V-9"))))).toEqual(["timer"]);
  expect(link.isIdle).toBe(false);
  expect(() => link.send(bytes(order))).toThrow("message V-2 is not acknowledged yet");
  expect(doneOf(link.receive(bytes(acknowledged("AA", "V-2"))))).toEqual(["sent", "timer"]);
});

test("heartbeats do not extend the wait; other bytes are reported first", () => {
  const link = newLink();
  link.send(bytes(display));
  expect(link.receive(bytes("<STX><CR><LF>"))).toEqual([]);
  expect(link.receive(bytes("x"))).toEqual([{ do: "timer", ms: NOISE_TIMEOUT_MS }]);
  expect(doneOf(link.timeout())).toEqual(["1 byte outside frames: ignored", "timer"]);
  expect(doneOf(link.timeout())).toEqual(["the device did not acknowledge it within 10 s", "timer"]);
});

test("an acknowledgement that could not be stored does not count", () => {
  const link = newLink();
  link.send(bytes(display));
  link.refuse(bytes(acknowledged("AA", "V-2")));
  expect(link.isIdle).toBe(false);
  expect(doneOf(link.receive(bytes(acknowledged("AA", "V-2"))))).toEqual(["sent", "timer"]);
});

test("an acknowledgement in pieces counts once", () => {
  const whole = bytes(acknowledged("AA", "V-2"));
  const link = new Hl7Link(() => ({ time: "", id: "" }));
  link.send(bytes(display));
  const done = Array.from(whole, (byte) => link.receive(Uint8Array.of(byte))).flat();
  expect(done.filter((action) => action.do === "sent")).toHaveLength(1);
});
