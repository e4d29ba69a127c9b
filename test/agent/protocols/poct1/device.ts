import { type Dice, diceOf, pick } from "../../../support/runner/dice.ts";
import type { Line } from "./transcript.ts";
import {
  acknowledgement,
  bytes,
  endOfTopic,
  escape,
  hello,
  NOW,
  observation,
  said,
  status,
  DialogueHarness,
  XML,
} from "./wire.ts";

type DeviceLine = Line & { readonly who: "device" };

const VENDORS = ["ACME", "SIEM", "i-STAT", "NOVABIO"];
const DIRECTIVES = [[], ["START_CONTINUOUS"], ["SET_TIME"], ["SET_TIME", "START_CONTINUOUS"]];

/** Returns a document of the device with the next control id. @param ours last document of the agent */
function documentOf(dice: Dice, id: number, ours: number, vendor: string): DeviceLine & { readonly text: string } {
  const wrong = ours + 1 + dice(3);
  const words: readonly (readonly [root: string, text: string, of?: string])[] = [
    ["HEL.R01", hello({ id, vendor, directives: pick(dice, DIRECTIVES) })],
    ["DST.R01", status(id, dice(3), dice(2), pick(dice, [NOW, "2012-01-01T00:00:00"]))],
    ["DST.R01", status(id, 1)],
    ["OBS.R01", observation(id)],
    ["OBS.R01", observation(id, "7.4")],
    ["EVS.R01", said("EVS.R01", id)],
    ["EOT.R01", endOfTopic(id, "OBS")],
    ["EOT.R01", endOfTopic(id, "EVS")],
    ["KPA.R01", said("KPA.R01", id)],
    ["REQ.R01", said("REQ.R01", id)],
    ["OBS.R01", observation(id).replace("</PT>", "</TP>")],
    ...Array.from({ length: 4 }, () => ["ACK.R01", acknowledgement(id, ours), String(ours)] as const),
    ["ACK.R01", acknowledgement(id, wrong), String(wrong)],
    ["ESC.R01", escape(id, ours, "CNC"), String(ours)],
    ["ESC.R01", escape(id, ours, "OTH"), String(ours)],
    ["ESC.R01", escape(id, ours, "CNC"), String(ours)],
    ["ESC.R01", escape(id, id, "OTH"), String(id)],
  ];
  const [root, text, of] = dice(60) === 0 ? (["END.R01", said("END.R01", id)] as const) : pick(dice, words);
  return { who: "device", root, id: String(id), text, ...(of === undefined ? {} : { of }) };
}

/** Plays a device that sends anything at any time. @returns the dialogue */
export function randomConversation(seed: number, steps: number) {
  const dice = diceOf(seed);
  const vendor = pick(dice, VENDORS);
  const talk = new DialogueHarness();
  const lines: Line[] = [];
  /** Events of the spool: a document each, or `timeout`. */
  const events: string[] = [];
  function note(from: number): void {
    lines.push(...talk.words.slice(from).map((word) => ({ who: "we", word }) as const));
  }
  for (let step = 0; step < steps; step++) {
    const before = talk.words.length;
    if (step > 1 && dice(12) === 0) {
      lines.push({ who: "timer" });
      events.push("timeout");
      talk.timeout();
    } else if (dice(25) === 0 && !talk.sending) {
      talk.give("LOCK");
    } else {
      const id = 1001 + step;
      const first = step === 0 && dice(10) > 0;
      const device: DeviceLine & { readonly text: string } = first
        ? { who: "device", root: "HEL.R01", id: String(id), text: hello({ id, vendor }) }
        : documentOf(dice, id, talk.lastAskedId, vendor);
      const text = dice(3) === 0 ? XML + device.text : device.text;
      lines.push(device);
      events.push(text);
      talk.hears(text);
    }
    note(before);
  }
  return { talk, lines, events, requestEach: vendor === "i-STAT" };
}

/** Bytes with a meaning in a document. */
export const MEANINGFUL = [...bytes("<>/!?-[]\"'&=\0\x0b\x1c")];
