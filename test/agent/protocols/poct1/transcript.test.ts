import { expect, test } from "vitest";
import { randomConversation } from "./device.ts";
import { faultOf, type Line } from "./transcript.ts";

const heard = (root: string, id: string, of?: string): Line => ({
  who: "device",
  root,
  id,
  ...(of === undefined ? {} : { of }),
});
const we = (id: number, text: string): Line => ({ who: "we", word: { id, text } });

test.each([
  [
    "a control id that does not increase",
    [heard("HEL.R01", "1"), we(2, "ACK AA 1"), we(2, "REQ ROBS")],
    /control id 2/,
  ],
  ["two messages outstanding", [we(1, "REQ ROBS"), we(2, "DTV LOCK")], /DTV LOCK while REQ ROBS is outstanding/],
  [
    "a directive while the request's data has not ended",
    [we(1, "REQ ROBS"), heard("ACK.R01", "2", "1"), we(2, "DTV LOCK")],
    /while REQ ROBS/,
  ],
  ["an ACK of an ACK", [heard("ACK.R01", "7", "1"), we(1, "ACK AA 7")], /acknowledges nothing/],
  ["an ACK of an escape", [heard("ESC.R01", "7", "1"), we(1, "ACK AE 7")], /acknowledges nothing/],
  ["a second ACK", [heard("KPA.R01", "7"), we(1, "ACK AA 7"), we(2, "ACK AA 7")], /acknowledges nothing/],
])("the transcript checker finds %s", (_, lines, fault) => {
  expect(faultOf(lines)).toMatch(fault);
});

test("the transcript checker accepts a valid dialogue", () => {
  const lines = [heard("HEL.R01", "1"), we(1, "ACK AA 1"), heard("DST.R01", "2"), we(2, "ACK AA 2"), we(3, "REQ ROBS")];
  expect(faultOf([...lines, heard("EOT.R01", "3"), we(4, "ACK AA 3"), we(5, "END NRM")])).toBe(null);
});

test("in every dialogue one message awaits its reply, ids increase, and no ACK or escape is acknowledged", () => {
  const asked = new Set<string>();
  for (let seed = 0; seed < 300; seed++) {
    const { talk, lines, requestEach } = randomConversation(seed, 40);
    expect({ seed, fault: faultOf(lines, requestEach) }).toEqual({ seed, fault: null });
    for (const { text } of talk.words) if (!text.startsWith("ACK")) asked.add(text.slice(0, 12));
  }
  // Every document of the agent occurred.
  expect([...asked].toSorted()).toEqual([
    "DTV LOCK",
    "DTV SET_TIME",
    "DTV START_CO",
    "END NRM",
    "END UNK",
    "KPA",
    "REQ RDEV",
    "REQ ROBS",
  ]);
});
