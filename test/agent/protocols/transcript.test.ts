import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ENQ, STX } from "../../../agent/protocols/bytes.ts";
import { createLink } from "../../../agent/connection/create-link.ts";
import { profileById } from "../../../agent/devices/index.ts";
import type { Link, LinkAction } from "../../../agent/protocols/link.ts";
import {
  type TranscriptPeer,
  parseTranscript,
  playTranscript,
  type TranscriptLine,
  wireText,
} from "../../../agent/protocols/transcript.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { fixedContext } from "../../support/protocols/wire.ts";

// Every transcript in fixtures/<profile>/ is a test: the profile's link receives its `<` lines, and replies with its `>` lines.
// A message of the agent is given to the link when a `>` line is due and the link has no reply.

const talks = readdirSync(fixturesFolder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".talk"))
  .toSorted();

function linkAsPeer(talk: readonly TranscriptLine[], link: Link): TranscriptPeer {
  let message = messageOfAgent(talk);
  const said: number[] = [];
  const carryOut = (actions: readonly LinkAction[]) => {
    for (const action of actions) if (action.do === "reply") said.push(...action.bytes);
  };
  return {
    send: (bytes) => carryOut(link.receive(bytes)),
    reply: async (ms) => {
      if (ms > 0 && said.length === 0 && message !== null && link.send !== undefined) {
        carryOut(link.send(message));
        message = null;
      }
      return said.shift() ?? null;
    },
  };
}

/** Returns the records in the agent's frames, null without frames. A repeated frame follows itself. */
function messageOfAgent(talk: readonly TranscriptLine[]): Uint8Array | null {
  const ours = talk.filter(({ from }) => from === "agent").map(({ bytes }) => bytes);
  const frames = ours.filter(([first]) => first === STX);
  // STX precedes the text of a device with BCC; ETX and BCC follow it.
  if (!ours.some(([first]) => first === ENQ)) return frames[0]?.subarray(1, -2) ?? null;
  const once = frames.filter((frame, index) => index === 0 || Buffer.compare(frame, frames[index - 1]!) !== 0);
  // STX and number precede the text; ETX, checksum, CR and LF follow.
  return Buffer.concat(once.map((frame) => frame.subarray(2, -5)));
}

function played(text: string, profile = "generic-astm"): Promise<string | null> {
  const talk = parseTranscript(text);
  return playTranscript(talk, linkAsPeer(talk, createLink(profileById(profile)!, fixedContext)));
}

test.each(talks)("%s plays without a difference", async (file) => {
  expect(await played(readFileSync(join(fixturesFolder, file), "latin1"), dirname(file))).toBe(null);
});

test("there are transcripts", () => {
  expect(talks.length).toBeGreaterThan(4);
});

describe("the first differing line is reported with got and expected", () => {
  const begin = "< <ENQ>\n> <ACK>\n";
  test.each([
    ["another reply", `${begin}< <STX>1H|<ETX>00<CR><LF>\n> <ACK>`, "line 4: got <NAK>, expected <ACK>"],
    ["no reply", `${begin}< <EOT>\n> <ACK>`, "line 4: got nothing within 15 s, expected <ACK>"],
    ["a reply too many", "< <ENQ>\n< <EOT>", "before line 2: got <ACK>, expected nothing"],
    ["a reply after the end", "# only this\n< <ENQ>", "after the last line: got <ACK>, expected nothing"],
    [
      "another frame",
      "> <ENQ>\n< <ACK>\n> <STX>1L|1<CR><ETX>00<CR><LF>",
      "line 3: got <STX>1L|1<CR><ETX>3A<CR><LF>, expected <STX>1L|1<CR><ETX>00<CR><LF>",
    ],
  ])("%s", async (_, text, difference) => {
    expect(await played(text)).toBe(difference);
  });
});

describe("the text form", () => {
  const bytesOf = (line: string) => Buffer.from(parseTranscript(line)[0]!.bytes).toString("latin1");

  test("control characters have names, other bytes hex or plain text", () => {
    expect(bytesOf("< <ENQ><DC1><0xF6><0x3C>a<b<NUL>")).toBe("\x05\x11\xf6<a<b\x00");
  });

  test("<CS> is the checksum of its frame, and each side has its own", () => {
    expect(bytesOf("< <STX>1H|<ETX><CS>")).toBe("\x021H|\x03F8");
    const [first, , second] = parseTranscript("< <STX>1H|\n> <STX>1L|<ETX><CS>\n< <ETX><CS>");
    expect(wireText(Buffer.concat([first!.bytes, second!.bytes]))).toBe("<STX>1H|<ETX>F8");
  });

  test("<BCC> is the XOR of its frame, ETX included", () => {
    expect(bytesOf("< <STX>W,1<ETX><BCC>")).toBe("\x02W,1\x03I");
  });

  test("written bytes read back as the same bytes", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    expect(parseTranscript(`> ${wireText(all)}`)).toEqual([{ number: 1, from: "agent", bytes: all }]);
  });

  test("an invalid line is reported with its number", () => {
    expect(() => parseTranscript("< <ENQ>\nACK")).toThrow(`line 2 is "ACK", expected "< " or "> " and a chunk`);
    expect(() => parseTranscript("# nothing\n< <FOO>")).toThrow(
      "line 2: <FOO> is neither a control character, <CS> nor <BCC>",
    );
  });
});
