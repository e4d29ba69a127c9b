import { statfs } from "node:fs/promises";
import os from "node:os";
import type { Logger } from "pino";
import {
  type AlertBook,
  type Batch,
  claim,
  type Delivery,
  EMPTY_BOOK,
  settle,
  stepBook,
} from "../../shared/alerts/book.ts";
import { deliver, loggedReason, type Receiver, type Senders } from "../../shared/alerts/deliver.ts";
import type { Teller } from "../../shared/alerts/email-text.ts";
import { createMailer } from "../../shared/alerts/smtp.ts";
import { HEARTBEAT_ALERTS_MAX, type Heartbeat } from "../../shared/api/study.ts";
import { readBackupState } from "../../shared/care/backup-state.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { AlertConfig } from "../config/alert-config.ts";
import type { Config } from "../config/schema.ts";
import { readSecret } from "../config/secret-file.ts";
import { CLOCK_META } from "../spool/queries/status.ts";
import type { Spool } from "../spool/spool.ts";
import type { DeviceState } from "../states/device-state.ts";
import type { ServerState } from "../states/server-state.ts";
import { type AgentFacts, agentConditions } from "./conditions.ts";

// Watches this machine: opens and closes the agent's alerts, and tells those whom agent.yaml names. The book is in the spool.

const BOOK_META = "alerts";
const DAY_MS = 86_400_000;
/** Time in which the agent tells by itself, before the server does. */
const TELLING_MS = 10 * 60_000;

export interface AlertSource {
  readonly config: Pick<Config, "alerts" | "data" | "server" | "timeZone">;
  readonly spool: Pick<Spool, "call" | "problem">;
  readonly serverState: () => ServerState;
  readonly devices: readonly { state(): DeviceState }[];
  readonly log: Logger;
}

export class AgentAlerts {
  readonly #source: AlertSource;
  readonly #receivers: readonly Receiver[];
  readonly #senders: Senders;
  /** Null until it is read from the spool. */
  #book: AlertBook | null = null;

  constructor(source: AlertSource) {
    this.#source = source;
    this.#receivers = receiversOf(source.config.alerts);
    this.#senders = sendersOf(source.config.alerts);
  }

  /** Opens and closes alerts, and sends the messages that are due. */
  async check(): Promise<void> {
    const before = this.#book ?? (await this.#load());
    const now = Date.now();
    const conditions = agentConditions(await this.#facts(now), now);
    const after = stepBook(before, conditions, { channels: this.#receivers, now });
    this.#report(before, after);
    await this.#save(after);
    await this.#deliver();
  }

  /** The open alerts for the heartbeat. The server tells of those that the agent does not tell. */
  heard(): NonNullable<Heartbeat["alerts"]> {
    const { open, messages } = this.#book ?? EMPTY_BOOK;
    const now = Date.now();
    const isWaiting = (key: string) => messages.some(({ event, alert }) => event === "opened" && alert.key === key);
    return open
      .slice(0, HEARTBEAT_ALERTS_MAX)
      .map(({ key, kind, subject, since, openedAt, toldOn, count, reason }) => ({
        ...{ key, kind, subject, since: new Date(since).toISOString() },
        ...(count !== undefined && { count }),
        ...(reason !== undefined && { reason: reason.slice(0, 1000) }),
        told: toldOn.length > 0 && (now - openedAt < TELLING_MS || !isWaiting(key)),
      }));
  }

  async #load(): Promise<AlertBook> {
    const text = await this.#source.spool.call("getMeta", BOOK_META);
    const book = text === null ? EMPTY_BOOK : (JSON.parse(text) as AlertBook);
    // One agent uses a data folder, so that the attempts of the one before are over.
    const messages = book.messages.map((message) =>
      message.claimedUntil === null ? message : { ...message, claimedUntil: 0 },
    );
    this.#book = { ...book, messages };
    return this.#book;
  }

  /** Keeps the book in memory if the disk refuses it: a full disk is what people must hear of. */
  async #save(book: AlertBook): Promise<void> {
    const text = JSON.stringify(book);
    const isEqual = text === JSON.stringify(this.#book);
    this.#book = book;
    if (isEqual) return;
    try {
      await this.#source.spool.call("setMeta", BOOK_META, text);
    } catch (error) {
      const { log } = this.#source;
      log.warn({ stage: "alerts", reason: errorMessage(error) }, "alerts cannot be stored: a restart may repeat them");
    }
  }

  async #deliver(): Promise<void> {
    const { config, log } = this.#source;
    const { quiet } = config.alerts;
    for (;;) {
      const asked = { channels: this.#receivers, quiet, timeZone: config.timeZone, now: Date.now() };
      const taken = claim(this.#book ?? EMPTY_BOOK, asked);
      const receiver = this.#receivers.find(({ id }) => id === taken?.batch.channel.id);
      if (taken === null || receiver === undefined) return;
      await this.#save(taken.book);
      const outcome = await this.#send(taken.batch, receiver);
      await this.#save(settle(this.#book ?? EMPTY_BOOK, taken.batch, outcome, Date.now()));
      const facts = { stage: "alerts", channel: receiver.type, messages: taken.batch.messages.length };
      if (outcome.ok) log.info(facts, "people were told of alerts");
      else
        log.warn(
          { ...facts, reason: loggedReason(outcome.reason) },
          "people could not be told of alerts: it is tried again",
        );
    }
  }

  async #send(batch: Batch, receiver: Receiver): Promise<Delivery> {
    const file = this.#source.config.alerts.webhook?.secretFile;
    try {
      const secret = receiver.type === "webhook" && file !== undefined ? readSecret(file) : "";
      return await deliver(batch, { ...receiver, secret }, this.#teller(), this.#senders);
    } catch (error) {
      const reason = `The secret of the webhook cannot be read: ${errorMessage(error)}`;
      return { ok: false, reason, isUncertain: false };
    }
  }

  async #facts(now: number): Promise<AgentFacts> {
    const { config, spool, serverState, devices } = this.#source;
    const [{ bavail, bsize }, outbox, clock, quarantined] = await Promise.all([
      statfs(config.data),
      spool.call("outbox"),
      spool.call("getMeta", CLOCK_META),
      spool.call("quarantinedMessages", now - DAY_MS),
    ]);
    return {
      name: os.hostname(),
      server: serverState(),
      devices: devices.map((device) => device.state()),
      outbox,
      clockOffsetS: clock === null ? null : Number(clock),
      freeBytes: bavail * bsize,
      spoolProblem: spool.problem,
      lastBackup: readBackupState(config.data)?.last ?? null,
      quarantined,
    };
  }

  #report(before: AlertBook, after: AlertBook): void {
    const { log } = this.#source;
    for (const { key, kind, subject, reason = null } of after.open) {
      if (!isOpenIn(before, key)) log.warn({ stage: "alerts", kind, subject, reason }, "an alert opened");
    }
    for (const { key, kind, subject } of before.open) {
      if (!isOpenIn(after, key)) log.info({ stage: "alerts", kind, subject }, "an alert closed");
    }
  }

  #teller(): Teller {
    const { config } = this.#source;
    const dashboard = new URL("/dashboard", config.server.url).href;
    return { name: os.hostname(), dashboard, language: config.alerts.language, timeZone: config.timeZone };
  }
}

function isOpenIn({ open }: AlertBook, key: string): boolean {
  return open.some((alert) => alert.key === key);
}

function receiversOf({ email, webhook }: AlertConfig): Receiver[] {
  const mailboxes = (email?.to ?? []).map((to) => receiverOf("email", to));
  return webhook === null ? mailboxes : [...mailboxes, receiverOf("webhook", webhook.url)];
}

/** The secret of the webhook is read for each message, so that a new one needs no restart. */
function receiverOf(type: Receiver["type"], target: string): Receiver {
  return { id: target, type, target, secret: "" };
}

/** agent.yaml is the clinic's own, so that its webhook may be in the local network. */
function sendersOf({ email }: AlertConfig): Senders {
  const webhooks = { allowPrivate: true };
  if (email === null) return { sendMail: null, webhooks };
  const { server, passwordFile, from } = email;
  const password = () => (passwordFile === null ? "" : readSecret(passwordFile));
  return { sendMail: createMailer({ ...server, from, password }), webhooks };
}
