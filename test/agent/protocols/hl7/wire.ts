import { acknowledge, type AckOptions, type Outcome } from "../../../../agent/protocols/hl7/message/acknowledgement.ts";
import { Hl7Link, type LinkOptions } from "../../../../agent/protocols/hl7/link.ts";
import { type Hl7Message, parseMessage } from "../../../../agent/protocols/hl7/message/message.ts";
import type { LinkAction } from "../../../../agent/protocols/link.ts";
import { bytes, show } from "../astm/wire.ts";

export const STAMP = { time: "20261121173059+0300", id: "V-1" };

export const newLink = (options: LinkOptions = {}) => new Hl7Link(() => STAMP, options);

/** Joins segments to a message without a frame, in the notation of bytes(). */
export const textOf = (...segments: readonly string[]) => segments.map((segment) => `${segment}<CR>`).join("");

export const frame = (message: string) => `<VT>${message}<FS><CR>`;

/** Encodes a header by field numbers. */
export function header(fields: Readonly<Record<number, string>> = {}): string {
  const values: Readonly<Record<number, string>> = {
    3: "BC-5300",
    4: "Mindray",
    5: "LIS",
    6: "Clinic",
    7: "20261121090000",
    9: "ORU^R01",
    10: "4711",
    11: "P",
    12: "2.3.1",
    ...fields,
  };
  const last = Math.max(...Object.keys(values).map(Number));
  return ["MSH|^~\\&", ...Array.from({ length: last - 2 }, (_, index) => values[index + 3] ?? "")].join("|");
}

export const result = (id = "4711") => textOf(header({ 10: id }), "PID|1||D-77", "OBX|1|NM|WBC||9.4|10*9/L");

export function parsed(message: Uint8Array | string): Hl7Message {
  const read = parseMessage(typeof message === "string" ? bytes(message) : message);
  if ("problem" in read) throw new Error(read.problem);
  return read;
}

/** Returns the replies to these bytes as text. */
export function answers(message: string, options: AckOptions = {}, outcome: Outcome = "stored"): string[] {
  return acknowledge(bytes(message), outcome, options, () => STAMP).messages.map((one) => show(one));
}

/** Returns MSA-1 and MSA-2: `AA 4711`. */
export function answeredWith(reply: string): string {
  const [, , code, id] = /<CR>MSA(\W)(\w+)\1(.*?)(?:\1|<CR>)/.exec(reply) ?? [];
  return `${code} ${id}`.trim();
}

export interface Said {
  /** MSA-1 and MSA-2 of each reply. */
  readonly answers: string[];
  /** MSH-10 of each complete message, "" if unreadable. */
  readonly messages: string[];
  /** Reasons of the incomplete messages. */
  readonly incomplete: string[];
  readonly warnings: string[];
}

export function saidOf(actions: readonly LinkAction[]): Said {
  const said: Said = { answers: [], messages: [], incomplete: [], warnings: [] };
  for (const action of actions) {
    if (action.do === "reply") said.answers.push(answeredWith(show(action.bytes)));
    if (action.do === "warn") said.warnings.push(action.reason);
    if (action.do !== "deliver") continue;
    if (action.incomplete !== null) said.incomplete.push(action.incomplete);
    else said.messages.push(idOf(action.message));
  }
  return said;
}

function idOf(message: Uint8Array): string {
  const read = parseMessage(message);
  return "problem" in read ? "" : read.header.field(10);
}

/** Bytes with a meaning in HL7 or MLLP. */
export const MEANINGFUL = [0x00, 0x02, 0x0a, 0x0b, 0x0b, 0x0d, 0x1c, 0x1c, 0x26, 0x4d, 0x5c, 0x5e, 0x7c, 0x7e, 0xff];
