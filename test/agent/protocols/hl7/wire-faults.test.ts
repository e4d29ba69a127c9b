import { describe, expect, test } from "vitest";
import { play } from "../astm/observed-actions.ts";
import { bytes, show } from "../astm/wire.ts";
import { frame, header, newLink, result, type Said, saidOf, textOf } from "./wire.ts";

// Faults of MLLP lines, numbered for a comparison with other receivers. Number 20 is several messages in one frame. Number 13
// tests the link alone, which replies before the close; test/agent/connection/connection.test.ts tests that the reply leaves.

const A = result("A");
const B = result("B");
const both = { answers: ["AA A", "AA B"], messages: ["A", "B"], incomplete: [], warnings: [] };
const onlyA = { answers: ["AA A"], messages: ["A"], incomplete: [], warnings: [] };

test.each<[number, string, readonly string[], Said]>([
  [1, "a single frame", [frame(A)], onlyA],
  [2, "two frames in one segment", [frame(A) + frame(B)], both],
  [3, "a frame byte by byte", byteByByte(frame(A)), onlyA],
  [4, "one and a half frames, then the rest", [`${frame(A)}<VT>${B.slice(0, 30)}`, `${B.slice(30)}<FS><CR>`], both],
  [5, "heartbeats, NUL and line ends between frames", [`${frame(A)}<STX><NUL><CR><LF>${frame(B)}`], both],
  [6, "FS without CR, and the next frame", [`<VT>${A}<FS>${frame(B)}`], both],
  [7, "FS without CR, and silence", [`<VT>${A}<FS>`, "timeout()"], onlyA],
  [8, "CR in the next segment", [`<VT>${A}<FS>`, "<CR>"], onlyA],
  [
    10,
    "a frame cut short by a new one",
    [`<VT>${A.slice(0, 40)}`, frame(B)],
    {
      answers: ["AA B"],
      messages: ["B"],
      incomplete: ["a new frame began before its end"],
      warnings: ["a new frame began before its end"],
    },
  ],
  [
    11,
    "a frame of junk, and the connection stays up",
    [frame("junk"), frame(A)],
    {
      answers: ["AR", "AA A"],
      messages: ["", "A"],
      incomplete: [],
      warnings: ['the first segment is "junk", expected MSH'],
    },
  ],
  [
    12,
    "junk and a good frame in one segment",
    [frame("junk") + frame(A)],
    {
      answers: ["AR", "AA A"],
      messages: ["", "A"],
      incomplete: [],
      warnings: ['the first segment is "junk", expected MSH'],
    },
  ],
  [13, "a device that shuts down its sending side after its frame", [frame(A), "close()"], onlyA],
  [14, "segments that end with LF", [frame(A.replaceAll("<CR>", "<LF>"))], onlyA],
  [15, "segments that end with CR LF", [frame(A.replaceAll("<CR>", "<CR><LF>"))], onlyA],
  [17, "delimiters of its own", [frame(textOf("MSH#@*/%#BC#M###2026##ORU@R01#A#P#2.3.1"))], onlyA],
  [
    18,
    "an empty MSH-10",
    [frame(textOf(header({ 10: "" })))],
    { answers: ["AA"], messages: [""], incomplete: [], warnings: [] },
  ],
  [19, "empty lines between segments", [frame(A.replaceAll("<CR>", "<CR><CR>"))], onlyA],
  [20, "two messages in one frame", [frame(A + B)], both],
])("%i: %s", (_, __, steps, expected) => {
  const link = newLink();
  const actions = steps.flatMap((step) => {
    if (step === "timeout()") return link.timeout();
    return step === "close()" ? link.close() : link.receive(bytes(step));
  });
  expect(saidOf(actions)).toEqual(expected);
  expect(link.isIdle).toBe(true);
});

describe("several links, and large messages", () => {
  test("two simultaneous connections keep their frames apart", () => {
    const [one, other] = [newLink(), newLink()];
    const said: string[][] = [[], []];
    for (let at = 0; at < frame(A).length; at += 10) {
      said[0]!.push(...saidOf(one.receive(bytes(frame(A)).subarray(at, at + 10))).answers);
      said[1]!.push(...saidOf(other.receive(bytes(frame(B)).subarray(at, at + 10))).answers);
    }
    expect(said).toEqual([["AA A"], ["AA B"]]);
  });

  test("an image of 5 MB is delivered completely", () => {
    const image = textOf(header(), `OBX|1|ED|IMG||^Image^BMP^Base64^${"QUJD".repeat(1_250_000)}`);
    const link = newLink();
    const actions = chunksOf(bytes(frame(image)), 1460).flatMap((chunk) => link.receive(chunk));
    const [message] = actions.flatMap((action) => (action.do === "deliver" ? [action.message] : []));
    expect(Buffer.compare(message!, bytes(image))).toBe(0);
    expect(saidOf(actions).answers).toEqual(["AA 4711"]);
  });

  test("an acknowledgement's last segment ends with CR, and its frame with FS CR", () => {
    const { replies } = play(newLink(), frame(A));
    expect(replies).toMatch(/^<VT>MSH.*<CR>MSA[^<]*<CR><FS><CR>$/);
  });
});

function byteByByte(text: string): string[] {
  return chunksOf(bytes(text), 1).map((byte) => show(byte));
}

function chunksOf(wire: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(wire.length / length) }, (_, index) =>
    wire.subarray(index * length, (index + 1) * length),
  );
}
