import { bytes, frame, type Receiver, receiver } from "./wire.ts";

// The sender of LIS01-A2 as a model: stop-and-wait, resend on NAK, EOT and a new session on silence.

export interface Frame {
  readonly text: string;
  readonly terminator: "ETX" | "ETB";
}

/** The line between the two. */
export interface Line {
  /** What arrives of what was sent; everything if not given. */
  readonly damage?: (sent: Uint8Array) => Uint8Array;
  /** What the sender sees of a reply such as `<ACK>`; "" if it is lost. */
  readonly damageReply?: (reply: string) => string;
  /** How the bytes come in; what was sent at once is received at once if not given. */
  readonly feed?: (to: Receiver, arrived: Uint8Array) => void;
}

const REPLY_TIMEOUT_MS = 15_000; // §6.5.2.1, §6.5.2.3
const BUSY_MS = 10_000; // §6.2.6
const FRAME_ATTEMPTS_MAX = 6; // §6.5.1.2
const SESSIONS_MAX = 100; // a person has long come by then

/** Sends the messages, in one session if nothing goes wrong, and answers what the receiver said. */
export function transmit(messages: readonly (readonly Frame[])[], line: Line = {}, to: Receiver = receiver()) {
  /** The most replies to one sending: with a second one the two sides no longer mean the same frame. */
  let repliesMax = 0;

  function send(text: string): void {
    const arrived = line.damage?.(bytes(text)) ?? bytes(text);
    if (line.feed === undefined) to.receiveBytes(arrived);
    else line.feed(to, arrived);
  }

  function exchange(text: string): string {
    const before = to.replies().length;
    send(text);
    if (to.replies().length === before) to.wait(REPLY_TIMEOUT_MS - 1);
    const replies =
      to
        .replies()
        .slice(before)
        .match(/<[A-Z]+>/g) ?? [];
    repliesMax = Math.max(repliesMax, replies.length);
    const reply = replies[0] ?? "";
    return line.damageReply?.(reply) ?? reply;
  }

  function isAccepted(text: string): boolean {
    for (let attempt = 0; attempt < FRAME_ATTEMPTS_MAX; attempt++) {
      const reply = exchange(text);
      if (reply === "") return false;
      // EOT in place of ACK: accepted, and please stop (§6.3.5); a sender may go on.
      if (reply === "<ACK>" || reply === "<EOT>") return true;
    }
    return false;
  }

  /** One session, from the first message not accepted yet; answers how many are accepted then. */
  function session(from: number): number {
    const reply = exchange("<ENQ>");
    if (reply === "<NAK>") {
      to.wait(BUSY_MS);
      return from;
    }
    let accepted = from;
    let number = 1;
    for (const message of reply === "<ACK>" ? messages.slice(from) : []) {
      for (const { text, terminator } of message) {
        if (!isAccepted(frame(number, text, terminator))) {
          send("<EOT>");
          return accepted;
        }
        number = (number + 1) % 8;
      }
      accepted += 1;
    }
    send("<EOT>");
    return accepted;
  }

  let accepted = 0;
  let sessions = 0;
  while (accepted < messages.length && sessions < SESSIONS_MAX) {
    accepted = session(accepted);
    sessions += 1;
  }
  return { accepted, sessions, repliesMax, ...to.said() };
}

/** The messages' own text, as a faultless receiver delivers it. */
export function textsOf(messages: readonly (readonly Frame[])[]): string[] {
  return messages.map((message) => message.map((part) => part.text).join(""));
}
