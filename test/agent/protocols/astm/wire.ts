import { AstmLink, type AstmLinkOptions } from "../../../../agent/protocols/astm/link.ts";
import type { LinkAction } from "../../../../agent/protocols/link.ts";

// Notation of wire bytes: one character per byte, control characters by their names.

const NAMES: ReadonlyMap<string, string> = new Map([
  ["NUL", "\x00"],
  ["SOH", "\x01"],
  ["STX", "\x02"],
  ["ETX", "\x03"],
  ["EOT", "\x04"],
  ["ENQ", "\x05"],
  ["ACK", "\x06"],
  ["LF", "\n"],
  ["VT", "\x0b"],
  ["CR", "\r"],
  ["NAK", "\x15"],
  ["ETB", "\x17"],
  ["SUB", "\x1a"],
  ["FS", "\x1c"],
  ["RS", "\x1e"],
  ["US", "\x1f"],
]);

/** Converts the notation to bytes. Unknown names stay as they are. */
export function bytes(text: string): Buffer {
  return Buffer.from(
    text.replace(/<([A-Z]+)>/g, (whole, name: string) => NAMES.get(name) ?? whole),
    "latin1",
  );
}

export function show(wire: Uint8Array): string {
  let text = Buffer.from(wire).toString("latin1");
  for (const [name, char] of NAMES) text = text.replaceAll(char, `<${name}>`);
  return text;
}

/** Encodes a frame in the notation of bytes(). @param checksum a wrong one; default the right one */
export function frame(number: number | string, text: string, terminator: "ETX" | "ETB" = "ETX", checksum?: string) {
  return `<STX>${number}${text}<${terminator}>${checksum ?? checksumOf(`${number}${text}<${terminator}>`)}<CR><LF>`;
}

export function checksumOf(text: string): string {
  let sum = 0;
  for (const byte of bytes(text)) sum += byte;
  return (sum % 256).toString(16).toUpperCase().padStart(2, "0");
}

/** Encodes a session: ENQ, an ETX frame per record, EOT. */
export function sessionOf(...records: readonly string[]): string {
  return `<ENQ>${records.map((record, index) => frame((index + 1) % 8, `${record}<CR>`)).join("")}<EOT>`;
}

export interface Delivery {
  readonly message: string;
  readonly incomplete: string | null;
}

export function complete(...records: readonly string[]): Delivery {
  return { message: records.map((record) => `${record}<CR>`).join(""), incomplete: null };
}

/** A link and its actions. */
export function station(options: AstmLinkOptions = {}, beforeTimeout: () => void = () => undefined) {
  const link = new AstmLink(options);
  const deliveries: Delivery[] = [];
  /** Outcomes of sent messages: "sent", or the reason why not. */
  const outcomes: string[] = [];
  const warnings: string[] = [];
  const actions: LinkAction[] = [];
  let replies = "";
  let now = 0;
  let due: number | null = null;

  function carryOut(done: readonly LinkAction[]): void {
    for (const action of done) {
      switch (action.do) {
        case "reply":
          replies += show(action.bytes);
          break;
        case "deliver":
          deliveries.push({ message: show(action.message), incomplete: action.incomplete });
          break;
        case "warn":
          warnings.push(action.reason);
          break;
        case "sent":
          outcomes.push("sent");
          break;
        case "unsent":
          outcomes.push(action.reason);
          break;
        case "timer":
          due = action.ms === null ? null : now + action.ms;
          break;
        case "identify":
        case "report":
        case "close":
          throw new Error(`${action.do}, which no ASTM link does`);
      }
      if (action.do !== "timer") actions.push(action);
    }
  }

  return {
    link,
    receive: (text: string) => carryOut(link.receive(bytes(text))),
    send: (text: string) => carryOut(link.send(bytes(text))),
    receiveBytes: (chunk: Uint8Array) => carryOut(link.receive(chunk)),
    refuse: (text: string) => carryOut(link.refuse(bytes(text))),
    refuseBytes: (chunk: Uint8Array) => carryOut(link.refuse(chunk)),
    gap: () => carryOut(link.gap()),
    close: () => carryOut(link.close()),
    timeout: () => carryOut(link.timeout()),
    /** Waits in silence. */
    wait: (ms: number) => {
      const until = now + ms;
      while (due !== null && due <= until) {
        now = due;
        due = null;
        beforeTimeout();
        carryOut(link.timeout());
      }
      now = until;
    },
    /** Returns all replies as text, deliveries and warnings. */
    said: () => ({ replies, deliveries, warnings }),
    /** Replies, deliveries and warnings in order, without timers, which depend on the segmentation. */
    actions,
    deliveries,
    outcomes,
    replies: () => replies,
    /** Milliseconds of the running timer; null without one. */
    timer: () => (due === null ? null : due - now),
  };
}

export type Receiver = ReturnType<typeof station>;

/** A link that receives. */
export function receiver(beforeTimeout?: () => void): Receiver {
  return station({}, beforeTimeout);
}

/** Feeds the complete text to a fresh link. */
export function received(text: string) {
  const session = receiver();
  session.receive(text);
  return session.said();
}
