import type { ManagerMessage, Part } from "./message.ts";
import type { Operator } from "./topics.ts";
import { short } from "../file/layouts/xml-tree.ts";

// Topics that the agent sends: one awaits its reply at a time, the others wait in a queue.

export type RequestCode = "ROBS" | "RDEV";

export type PendingTopic =
  | { readonly is: "request"; readonly code: RequestCode }
  | { readonly is: "set time" }
  | { readonly is: "start continuous" }
  /** Messages given to send(), one after the other; `all` is sent again if the device is busy for one of them. */
  | { readonly is: "message"; readonly all: readonly Part[]; readonly left: readonly Part[] }
  | {
      readonly is: "operators";
      readonly all: readonly Part[];
      readonly left: readonly Part[];
      readonly list: readonly Operator[];
    }
  | { readonly is: "keep alive" }
  | { readonly is: "end" };

export interface AwaitingReply {
  readonly topic: PendingTopic;
  readonly controlId: number;
  /** The device accepted a request: with an ACK, or with the first data of a device that sends no ACK. */
  readonly accepted: boolean;
}

/** Effect of an ACK or escape of the device. */
export type TopicOutcome =
  /** The control id is not the awaited one. */
  | { readonly is: "unexpected"; readonly expected: number | null }
  /** Data, another message of the topic, or a retry follows. */
  | { readonly is: "open" }
  | { readonly is: "accepted"; readonly topic: PendingTopic }
  | { readonly is: "refused"; readonly topic: PendingTopic; readonly reason: string };

/** Max retries with a busy device; then the topic counts as refused. */
export const BUSY_TRIES_MAX = 5;

/** Topics of the device that end a request. */
const TOPICS_OF = { ROBS: ["OBS"], RDEV: ["EVS", "D_EV"] } as const satisfies Record<RequestCode, readonly string[]>;

const OPEN: TopicOutcome = { is: "open" };

export class OutgoingTopics {
  #awaiting: AwaitingReply | null = null;
  #queue: PendingTopic[] = [];
  /** Topics for a busy device, sent again after a delay. */
  #postponed: PendingTopic[] = [];
  #busyTries = 0;
  /** New observations that the device announced and has not sent. */
  announced = 0;
  /** The device queried a patient, and the reply was not given to send() yet. The turn ends after it. */
  owesPatient = false;

  get awaiting(): AwaitingReply | null {
    return this.#awaiting;
  }

  get hasPostponed(): boolean {
    return this.#postponed.length > 0;
  }

  has(kind: PendingTopic["is"]): boolean {
    return this.#pending().some((topic) => topic.is === kind);
  }

  /** Sends the topic after all others. */
  append(topic: PendingTopic): void {
    this.#queue.push(topic);
  }

  /** Sends the topic before all others. */
  prepend(topic: PendingTopic): void {
    this.#queue.unshift(topic);
  }

  /** Sends a request before all others, unless it is pending already. */
  request(code: RequestCode): void {
    if (this.#pending().some((topic) => topic.is === "request" && topic.code === code)) return;
    this.prepend({ is: "request", code });
  }

  /** Removes the next topic from the queue. @returns null while a reply is awaited, or the end of the turn has to wait */
  dequeue(): PendingTopic | null {
    const [next] = this.#queue;
    if (this.#awaiting !== null || next === undefined) return null;
    const endsTurn = next.is === "end" || next.is === "start continuous";
    if (endsTurn && (this.hasPostponed || this.owesPatient)) return null;
    this.#queue.shift();
    return next;
  }

  /** Waits for the reply to a topic that was sent. */
  await(topic: PendingTopic, controlId: number): void {
    this.#awaiting = { topic, controlId, accepted: false };
  }

  acknowledge(of: string, accepted: boolean, note: string): TopicOutcome {
    const awaiting = this.#awaiting;
    if (awaiting === null || !isId(of, awaiting.controlId)) return this.#unexpected();
    const { topic } = awaiting;
    if (!accepted) return this.#refuse(topic, note === "" ? "AE" : short(note));
    this.#busyTries = 0;
    if (topic.is === "request") {
      this.#awaiting = { ...awaiting, accepted: true };
      return OPEN;
    }
    this.#awaiting = null;
    if (!("left" in topic) || topic.left.length <= 1) return { is: "accepted", topic };
    this.prepend({ ...topic, left: topic.left.slice(1) });
    return OPEN;
  }

  escape(of: string, detail: string): TopicOutcome {
    const awaiting = this.#awaiting;
    if (awaiting === null || !isId(of, awaiting.controlId)) return this.#unexpected();
    const { topic } = awaiting;
    const mayWait = ["request", "message", "operators", "set time"].includes(topic.is);
    if (detail !== "CNC" || !mayWait || this.#busyTries >= BUSY_TRIES_MAX) {
      return this.#refuse(topic, `escape ${short(detail)}`);
    }
    this.#busyTries += 1;
    this.#awaiting = null;
    this.#postponed.push("all" in topic ? { ...topic, left: topic.all } : topic);
    return OPEN;
  }

  retryPostponed(): void {
    this.#queue.unshift(...this.#postponed);
    this.#postponed = [];
  }

  /** Counts data of the device. @returns whether a request awaits this data */
  receiveData(
    code: RequestCode,
    { requestEach, isContinuous }: { requestEach: boolean; isContinuous: boolean },
  ): boolean {
    if (code === "ROBS") this.announced = isContinuous ? 0 : Math.max(0, this.announced - 1);
    const awaiting = this.#awaiting;
    if (awaiting?.topic.is !== "request" || awaiting.topic.code !== code) return false;
    this.#awaiting = { ...awaiting, accepted: true };
    if (requestEach && code === "ROBS") {
      this.#awaiting = null;
      if (this.announced > 0) this.request(code);
    }
    return true;
  }

  endOfTopic(topic: string, requestId: string): void {
    const awaiting = this.#awaiting;
    if (awaiting?.topic.is !== "request") return;
    const { code } = awaiting.topic;
    const topics: readonly string[] = TOPICS_OF[code];
    if (!topics.includes(topic) && !isId(requestId, awaiting.controlId)) return;
    if (code === "ROBS") this.announced = 0;
    this.#awaiting = null;
  }

  clear(): void {
    this.#awaiting = null;
    this.#queue = [];
    this.#postponed = [];
    this.#busyTries = 0;
    this.announced = 0;
    this.owesPatient = false;
  }

  #pending(): readonly PendingTopic[] {
    return [...this.#queue, ...this.#postponed, ...(this.#awaiting === null ? [] : [this.#awaiting.topic])];
  }

  #unexpected(): TopicOutcome {
    return { is: "unexpected", expected: this.#awaiting?.controlId ?? null };
  }

  #refuse(topic: PendingTopic, reason: string): TopicOutcome {
    this.#awaiting = null;
    return { is: "refused", topic, reason };
  }
}

/** Returns the next message of the topic. @param now the time with the offset of the device's zone */
export function messageOf(topic: PendingTopic, now: string): ManagerMessage {
  switch (topic.is) {
    case "request":
      return { is: "REQ", code: topic.code };
    case "set time":
      return { is: "DTV", command: "SET_TIME", time: now };
    case "start continuous":
      return { is: "DTV", command: "START_CONTINUOUS" };
    case "message":
    case "operators":
      return { is: "part", ...topic.left[0]! };
    case "keep alive":
      return { is: "KPA" };
    case "end":
      return { is: "END", reason: "NRM" };
  }
}

/** Compares as numbers: `00001` acknowledges 1. */
function isId(text: string, controlId: number): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) === controlId;
}
