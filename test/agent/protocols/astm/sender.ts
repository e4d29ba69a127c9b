import { bytes, frame, type Receiver, receiver } from "./wire.ts";

// Model of a LIS01-A2 sender: stop-and-wait, resend on NAK, EOT and a new session on silence.

export interface Frame {
  readonly text: string;
  readonly terminator: "ETX" | "ETB";
}

/** Line between model and link. */
export interface Line {
  /** Returns the bytes that arrive. Default: all bytes. */
  readonly damage?: (sent: Uint8Array) => Uint8Array;
  /** Returns the reply that the sender receives; "" for a lost one. */
  readonly damageReply?: (reply: string) => string;
  /** Feeds bytes to the link. Default: in one chunk. */
  readonly feed?: (to: Receiver, arrived: Uint8Array) => void;
}

const REPLY_TIMEOUT_MS = 15_000; // §6.5.2.1, §6.5.2.3
const BUSY_MS = 10_000; // §6.2.6
const FRAME_ATTEMPTS_MAX = 6; // §6.5.1.2
const SESSIONS_MAX = 100; // a clinic notices earlier

/** Sends messages, in one session without faults. @returns the actions of the receiver */
export function transmit(messages: readonly (readonly Frame[])[], line: Line = {}, to: Receiver = receiver()) {
  /** Max replies to one frame. After a second reply the sides disagree about the current frame. */
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
      // EOT in place of ACK: the frame is accepted and the sender interrupted (§6.3.5). It may continue.
      if (reply === "<ACK>" || reply === "<EOT>") return true;
    }
    return false;
  }

  /** Plays one session from the first unaccepted message. @returns the number of accepted messages */
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

/** Returns the messages that a receiver without faults delivers. */
export function textsOf(messages: readonly (readonly Frame[])[]): string[] {
  return messages.map((message) => message.map((part) => part.text).join(""));
}
