import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import {
  type AlertBook,
  type Batch,
  claim,
  type Delivery,
  EMPTY_BOOK,
  healthAfter,
  settle,
  stepBook,
} from "./alerts/book.ts";
import { deliver, deliverTest, loggedReason, type Receiver, type Senders } from "./alerts/deliver.ts";
import type { Teller } from "./alerts/email-text.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Condition } from "./alerts/kinds.ts";
import { type AlertState, stepAlerts } from "./alerts/step.ts";
import {
  clinicConditions,
  criticalStudies,
  isOfMachine,
  type Machine,
  machineConditions,
} from "../records/alerts/alert-conditions.ts";
import {
  type Notifications,
  readAlertBook,
  readNotifications,
  saveAlertBook,
  type WatchedClinic,
  watchedClinic,
  watchedClinics,
} from "../records/alerts/alerts.ts";
import { readAlertFacts } from "../records/alerts/alert-facts.ts";
import type { Store } from "../database/store.ts";

// Watches all clinics: opens and closes their alerts, and notifies whom a clinic chose. Several servers on one database may
// watch: a book changes in one transaction, so that each message is claimed once.

const CHECK_MS = 30_000;
/** Time that messages under way get when the server stops. Others are repeated after the next start. */
const STOP_MS = 5_000;

export interface AlertOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly logger: Logger;
  /** By default there is no mail server, and webhooks go to public addresses alone. */
  readonly senders?: Senders;
  /** Address of the dashboard for links; null if it is unknown. */
  readonly dashboard?: string | null;
  readonly machine?: () => Promise<Machine>;
}

const NO_MAIL: Senders = { sendMail: null, webhooks: { allowPrivate: false } };
const NOTHING_WRONG: Machine = { name: "", freeBytes: null, lastBackup: null };

export class AlertWatch {
  readonly #options: Required<AlertOptions>;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;
  /** Alerts of the machine of a shared server. */
  #machine: AlertState = EMPTY_BOOK;
  /** Deliveries under way, by clinic. */
  readonly #delivering = new Map<number, Promise<void>>();

  constructor(options: AlertOptions) {
    this.#options = { senders: NO_MAIL, dashboard: null, machine: async () => NOTHING_WRONG, ...options };
  }

  start(): void {
    const check = () => {
      if (!this.#isChecking) void this.check();
    };
    this.#timer = setInterval(check, CHECK_MS).unref();
    check();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const all = Promise.all(this.#delivering.values());
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
  }

  /** Steps the alerts of all clinics, and starts the due deliveries. Never rejects. */
  async check(): Promise<void> {
    this.#isChecking = true;
    const { store, machine, logger } = this.#options;
    const warn = (error: unknown) =>
      logger.warn({ reason: errorMessage(error) }, "alerts cannot be computed now: the next check follows");
    try {
      const ofMachine = machineConditions(await machine(), this.#options.now());
      const clinics = await watchedClinics(store);
      const isShared = clinics.length > 1;
      if (isShared) this.#logMachine(ofMachine);
      for (const clinic of clinics) {
        await this.#step(clinic, isShared ? null : ofMachine).catch(warn);
        this.#startDelivery(clinic);
        // On SQLite no query gives up the turn, and a server may have hundreds of clinics.
        await nextTurn();
      }
    } catch (error) {
      warn(error);
    } finally {
      this.#isChecking = false;
    }
  }

  /** Resolves when all started deliveries have ended. */
  async delivered(): Promise<void> {
    await Promise.all(this.#delivering.values());
  }

  /** Sends a test message to a receiver of the clinic, and notes the outcome at its channel. */
  async test(clinicId: number, receiver: Receiver): Promise<Delivery> {
    const { store, senders, now } = this.#options;
    const outcome = await deliverTest(receiver, this.#teller(await watchedClinic(store, clinicId)), senders, now());
    await this.#change(clinicId, (book) => {
      const health = { ...book.health, [receiver.id]: healthAfter(book.health[receiver.id], outcome, now()) };
      return { ...book, health };
    });
    return outcome;
  }

  /** Logs the alerts of the machine. The clinics of a shared server know no more of it than of each other. */
  #logMachine(conditions: readonly Condition[]): void {
    const { logger, now } = this.#options;
    const { state, opened, closed } = stepAlerts(this.#machine, conditions, now());
    this.#machine = state;
    const why = "only this log reports it, because the server has several clinics";
    for (const { kind, reason } of opened) logger.warn({ kind, reason }, `an alert of this machine opened: ${why}`);
    for (const { kind } of closed) logger.info({ kind }, "an alert of this machine closed");
  }

  /** `ofMachine` is null on a shared server. */
  async #step({ id, timeZone }: WatchedClinic, ofMachine: readonly Condition[] | null): Promise<void> {
    const { store, now: clock } = this.#options;
    const now = clock();
    const openCritical = criticalStudies((await readAlertBook(store, id)).open);
    const facts = await readAlertFacts(store, { clinicId: id, timeZone, now, openCritical });
    const conditions = [...clinicConditions(facts, now), ...(ofMachine ?? [])];
    await this.#change(id, (book, { receivers }) => {
      const own = ofMachine === null ? withoutMachine(book) : book;
      return stepBook(own, conditions, { channels: receivers, now });
    });
  }

  #startDelivery(clinic: WatchedClinic): void {
    if (this.#delivering.has(clinic.id)) return;
    const { logger } = this.#options;
    const delivery = this.#deliver(clinic)
      .catch((error: unknown) => {
        logger.warn({ reason: errorMessage(error) }, "messages about alerts cannot be sent now: they stay stored");
      })
      .finally(() => this.#delivering.delete(clinic.id));
    this.#delivering.set(clinic.id, delivery);
  }

  async #deliver(clinic: WatchedClinic): Promise<void> {
    const { senders, now, logger } = this.#options;
    for (;;) {
      const batch = await this.#claim(clinic);
      if (batch === null) return;
      const { receivers } = await readNotifications(this.#options.store, clinic.id);
      const receiver = receivers.find(({ id }) => id === batch.channel.id);
      // Removed meanwhile: the next step drops its messages.
      if (receiver === undefined) return;
      const outcome = await deliver(batch, receiver, this.#teller(clinic), senders);
      await this.#change(clinic.id, (book) => settle(book, batch, outcome, now()));
      const facts = { channel: receiver.id, type: receiver.type, messages: batch.messages.length };
      if (outcome.ok) logger.info(facts, "people were notified of alerts");
      else
        logger.warn(
          { ...facts, reason: loggedReason(outcome.reason) },
          "people could not be notified of alerts; it is tried again",
        );
    }
  }

  async #claim({ id, timeZone }: WatchedClinic): Promise<Batch | null> {
    const { now } = this.#options;
    let batch: Batch | null = null;
    await this.#change(id, (book, { receivers, quiet }) => {
      const asked = { channels: receivers, quiet, timeZone: timeZone ?? "UTC", now: now() };
      const taken = claim(book, asked);
      batch = taken?.batch ?? null;
      return taken?.book ?? book;
    });
    return batch;
  }

  /** Changes the book of a clinic in one transaction. A change that changes nothing writes nothing. */
  async #change(clinicId: number, change: (book: AlertBook, notifications: Notifications) => AlertBook): Promise<void> {
    const { store, now } = this.#options;
    const before = await readAlertBook(store, clinicId);
    const after = change(before, await readNotifications(store, clinicId));
    if (JSON.stringify(after) === JSON.stringify(before)) return;
    await store.transaction(async (session) => {
      const book = await readAlertBook(session, clinicId);
      await saveAlertBook(session, clinicId, change(book, await readNotifications(session, clinicId)), now());
    });
  }

  #teller({ name, language, timeZone }: WatchedClinic): Teller {
    const { dashboard } = this.#options;
    return { name, dashboard, language: language ?? "en", timeZone: timeZone ?? "UTC" };
  }
}

/** Drops the alerts of the machine without a word, after a server of one clinic got a second one: they are not over. */
function withoutMachine(book: AlertBook): AlertBook {
  const open = book.open.filter((alert) => !isOfMachine(alert));
  return { ...book, open, messages: book.messages.filter(({ alert }) => !isOfMachine(alert)) };
}
