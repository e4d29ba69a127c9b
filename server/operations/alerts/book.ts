import { createHash } from "node:crypto";
import type { Reason } from "../../../shared/api/reason.ts";
import type { Condition } from "./kinds.ts";
import type { Moment } from "./moment.ts";
import { isQuiet, type QuietHours } from "./quiet.ts";
import { type AlertState, type OpenAlert, stepAlerts } from "./step.ts";

// The book of a clinic: its open alerts, and the messages about them that are not delivered yet. It is plain data, which a
// program stores in one piece before each attempt and after it, so that a crash loses no message.

export type ChannelType = "email" | "webhook";

/** Someone who is notified. */
export interface Channel {
  readonly id: string;
  readonly type: ChannelType;
}

/** The news that an alert opened or closed, for one channel. */
export interface AlertMessage {
  /** Names it for the receiver. Repeats have the same. */
  readonly id: string;
  readonly channel: string;
  readonly event: "opened" | "closed";
  readonly alert: Pick<OpenAlert, "key" | "kind" | "subject" | "count" | "since" | "openedAt" | "path">;
  readonly at: number;
  readonly notBefore: number;
  readonly attempts: number;
  /** End of the time in which an attempt runs; null without one. */
  readonly claimedUntil: number | null;
  /** An earlier attempt may have reached the receiver. */
  readonly isRepeat: boolean;
}

export interface ChannelHealth {
  readonly sentAt: number | null;
  /** Its words in English, and the reason itself, which a fault of an older version lacks. */
  readonly fault: { readonly at: number; readonly reason: string; readonly why?: Reason } | null;
}

export interface AlertBook extends AlertState {
  readonly messages: readonly AlertMessage[];
  /** The health of each channel by its id. */
  readonly health: Readonly<Record<string, ChannelHealth>>;
}

/** The outcome of an attempt, with its words in English. `isUncertain`: the receiver may have got the message. */
export type Delivery =
  | { readonly ok: true; readonly said: string; readonly why: Reason }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly isUncertain: boolean;
      readonly why: Reason;
      /** How long the receiver wants no repeat. */
      readonly retryAfterMs?: number;
    };

interface Asked {
  readonly channels: readonly Channel[];
  readonly now: number;
}

export const EMPTY_BOOK: AlertBook = { open: [], pending: {}, messages: [], health: {} };

const MINUTE_MS = 60_000;
const FIRST_RETRY_MS = 30_000;
const LAST_RETRY_MS = 60 * MINUTE_MS;
/** Age and attempts at which a message is given up. A clock that jumps ahead gives none up. */
const KEPT_MS = 24 * 60 * MINUTE_MS;
const ATTEMPTS_MIN = 12;
/** Time in which an attempt ends. Beyond it the program that ran it is gone. */
export const ATTEMPT_MS = MINUTE_MS;
const MESSAGES_MAX = 2_000;
/** Messages in one e-mail. */
const BATCH_MAX = 50;

/** Opens and closes alerts, and notes whom to notify. */
export function stepBook(
  book: AlertBook,
  conditions: readonly Condition[],
  { channels, moment }: Pick<Asked, "channels"> & { readonly moment: Moment },
): AlertBook {
  const { now } = moment;
  const { state, closed } = stepAlerts(book, conditions, moment);
  const ids = new Set(channels.map(({ id }) => id));
  const messages = book.messages.filter(({ channel }) => ids.has(channel));
  const open = state.open.map((alert) => {
    if (alert.openedAt !== now || alert.toldOn.length > 0) return alert;
    messages.push(...channels.map((channel) => newMessage(channel, "opened", alert, now)));
    return { ...alert, toldOn: channels.map(({ id }) => id) };
  });
  for (const alert of closed) {
    for (const channel of channels.filter(({ id }) => alert.toldOn.includes(id))) {
      // A channel without the opening message, such as in quiet hours, gets no closing one either.
      const unheard = messages.findIndex(
        ({ id, attempts }) => attempts === 0 && id === messageId(channel, "opened", alert),
      );
      if (unheard >= 0) messages.splice(unheard, 1);
      else messages.push(newMessage(channel, "closed", alert, now));
    }
  }
  const health = Object.fromEntries(Object.entries(book.health).filter(([id]) => ids.has(id)));
  return { open, pending: state.pending, messages: messages.slice(-MESSAGES_MAX), health };
}

/** The messages of one attempt, all for one channel. */
export interface Batch {
  readonly channel: Channel;
  readonly messages: readonly AlertMessage[];
}

/**
 * Takes the messages for the next attempt: all that are due for an e-mail, one for a webhook. The caller stores the book before
 * it sends them. @returns null if nothing is due
 */
export function claim(
  book: AlertBook,
  { channels, quiet, timeZone, now }: Asked & { readonly quiet: QuietHours | null; readonly timeZone: string },
): { readonly book: AlertBook; readonly batch: Batch } | null {
  // A clock that was set back leaves times ahead, which must not hold a message for as long.
  const isPast = (time: number, longestMs: number) => time <= now || time > now + longestMs;
  const isDue = ({ claimedUntil, notBefore, alert }: AlertMessage) =>
    (claimedUntil === null || isPast(claimedUntil, ATTEMPT_MS)) &&
    isPast(notBefore, LAST_RETRY_MS) &&
    !isQuiet(quiet, alert.kind, now, timeZone);
  for (const channel of channels) {
    const ofChannel = book.messages.filter((message) => message.channel === channel.id);
    // A closing message waits for its opening one: a retried opening message after it would report a closed alert as open.
    const due = ofChannel.filter(
      (message) => isDue(message) && ofChannel.every((other) => isDue(other) || !isBeginOf(message, other)),
    );
    if (due.length === 0) continue;
    const claimed = due.slice(0, channel.type === "email" ? BATCH_MAX : 1).map((message) => ({
      ...message,
      attempts: message.attempts + 1,
      claimedUntil: now + ATTEMPT_MS,
      // Without an outcome, the attempt before ended with its program.
      isRepeat: message.isRepeat || message.claimedUntil !== null,
    }));
    const byId = new Map(claimed.map((message) => [message.id, message]));
    const messages = book.messages.map((message) => byId.get(message.id) ?? message);
    return { book: { ...book, messages }, batch: { channel, messages: claimed } };
  }
  return null;
}

/** Whether `other` opens the alert that the message closes. */
function isBeginOf({ event, channel, alert }: AlertMessage, other: AlertMessage): boolean {
  const isSame = other.channel === channel && other.alert.key === alert.key && other.alert.openedAt === alert.openedAt;
  return event === "closed" && other.event === "opened" && isSame;
}

/** Notes the outcome of an attempt: its messages leave the book, or wait for the next one. */
export function settle(book: AlertBook, { channel, messages: sent }: Batch, outcome: Delivery, now: number): AlertBook {
  const ids = new Set(sent.map(({ id }) => id));
  const health = { ...book.health, [channel.id]: healthAfter(book.health[channel.id], outcome, now) };
  if (outcome.ok) return { ...book, health, messages: book.messages.filter(({ id }) => !ids.has(id)) };
  const givenUp = sent.filter(({ at, attempts }) => now - at > KEPT_MS && attempts >= ATTEMPTS_MIN);
  const messages = book.messages.flatMap((message) => {
    if (givenUp.some((other) => other.id === message.id || isBeginOf(message, other))) return [];
    if (!ids.has(message.id)) return [message];
    const backoffMs = FIRST_RETRY_MS * 2 ** (message.attempts - 1);
    const delayMs = Math.min(LAST_RETRY_MS, Math.max(backoffMs, outcome.retryAfterMs ?? 0));
    const isRepeat = message.isRepeat || outcome.isUncertain;
    return [{ ...message, claimedUntil: null, notBefore: now + delayMs, isRepeat }];
  });
  return { ...book, health, messages };
}

/** The state of a channel after an attempt or a test. */
export function healthAfter(before: ChannelHealth | undefined, outcome: Delivery, now: number): ChannelHealth {
  if (outcome.ok) return { sentAt: now, fault: null };
  return { sentAt: before?.sentAt ?? null, fault: { at: now, reason: outcome.reason, why: outcome.why } };
}

function newMessage(channel: Channel, event: AlertMessage["event"], alert: OpenAlert, now: number): AlertMessage {
  const { key, kind, subject, count, since, openedAt, path } = alert;
  return {
    id: messageId(channel, event, alert),
    channel: channel.id,
    event,
    alert: {
      ...{ key, kind, subject, since, openedAt },
      ...(count !== undefined && { count }),
      ...(path !== undefined && { path }),
    },
    at: now,
    // Alerts that open or close in one minute go into one e-mail.
    notBefore: channel.type === "email" ? Math.floor(now / MINUTE_MS + 1) * MINUTE_MS : now,
    attempts: 0,
    claimedUntil: null,
    isRepeat: false,
  };
}

/** The same for each repeat, without a dot, which Standard Webhooks keeps for the signature. */
function messageId({ id }: Channel, event: AlertMessage["event"], { key, openedAt }: OpenAlert): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([id, event, key, openedAt]))
    .digest("hex");
  return `alert_${digest.slice(0, 32)}`;
}
