import { setTimeout as sleep } from "node:timers/promises";
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
import { Moment } from "./alerts/moment.ts";
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
  readAlerts,
  readNotifications,
  saveAlertBook,
  type WatchedClinic,
  watchedClinic,
} from "../records/alerts/alerts.ts";
import { readAlertFacts } from "../records/alerts/alert-facts.ts";
import { type MarkedClinic, readMarkedClinics } from "../records/alerts/watched-clinics.ts";
import type { Store } from "../database/store.ts";

// Watches all clinics: opens and closes their alerts, and notifies whom a clinic chose. The holder of the lease does it. Should two
// servers watch nevertheless, each message is claimed once, because a book changes in one transaction.
//
// A pass reads the marks of all clinics in few queries, and the facts of those whose mark has changed or whose alerts change by time. A
// server that begins to watch reads all of them once.

const CHECK_MS = 30_000;
/** A pass rests so many times as long as it worked, since the requests of all clinics wait for the same database and the same turn. */
const REST_TIMES = 3;
/** Interval of the look whether a pass is due: the lease may have come. */
const TICK_MS = 1_000;
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
  /** The lease of this work. By default no other server does it. */
  readonly lease?: { readonly isHeld: boolean };
}

/** The last rank of clinics in a pass: no alert changes, but messages wait. */
const MESSAGES_WAIT = 3;

/** The facts that the last evaluation of a clinic saw. */
interface Evaluated {
  readonly mark: string;
  /** The first time at which its alerts change by time alone. */
  readonly next: number;
  readonly hasMessages: boolean;
}

const NO_MAIL: Senders = { sendMail: null, webhooks: { allowPrivate: false } };
const NO_OTHERS = { isHeld: true };
const NOTHING_WRONG: Machine = { name: "", freeBytes: null, lastBackup: null };

export class AlertWatch {
  readonly #options: Required<AlertOptions>;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;
  /** Ends the pass under way. */
  #isStopped = false;
  readonly #evaluated = new Map<number, Evaluated>();
  /** Time of the last pass, and running times of its start and of the end of the last one that succeeded. */
  #passAt = Number.NEGATIVE_INFINITY;
  #beganAt = Number.NEGATIVE_INFINITY;
  #endedAt: number | null = null;
  #wasHeld = false;
  /** Alerts of the machine of a shared server. */
  #machine: AlertState = EMPTY_BOOK;
  /** Deliveries under way, by clinic and channel: a receiver that does not answer holds up its own messages alone. */
  readonly #delivering = new Map<string, Promise<void>>();

  constructor(options: AlertOptions) {
    this.#options = {
      senders: NO_MAIL,
      dashboard: null,
      machine: async () => NOTHING_WRONG,
      lease: NO_OTHERS,
      ...options,
    };
  }

  start(): void {
    const check = () => {
      const isDue = performance.now() - this.#beganAt >= CHECK_MS || this.#options.lease.isHeld !== this.#wasHeld;
      if (!this.#isChecking && isDue) void this.check();
    };
    this.#timer = setInterval(check, TICK_MS).unref();
    check();
  }

  /** Seconds since the end of the last pass of this server; null while another one watches. */
  get passAgeSeconds(): number | null {
    return this.#endedAt === null ? null : (performance.now() - this.#endedAt) / 1000;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#isStopped = true;
    const all = Promise.all(this.#delivering.values());
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
  }

  /** Steps the alerts of all clinics with news, and starts the due deliveries. Never rejects. */
  async check(): Promise<void> {
    const { lease, machine, now } = this.#options;
    this.#isChecking = true;
    this.#isStopped = false;
    this.#beganAt = performance.now();
    this.#wasHeld = lease.isHeld;
    try {
      const moment = new Moment(now());
      const ofMachine = machineConditions(await machine(), moment.now);
      if (lease.isHeld) {
        await this.#pass(ofMachine, moment.now);
        this.#endedAt = performance.now();
      } else {
        this.#forget();
        this.#logMachine(ofMachine, moment);
      }
    } catch (error) {
      this.#warn(error);
    } finally {
      this.#isChecking = false;
    }
  }

  async #pass(ofMachine: readonly Condition[], now: number): Promise<void> {
    const { store, lease } = this.#options;
    // The clock was set back, so that the times of before are too far ahead.
    if (now < this.#passAt) this.#evaluated.clear();
    this.#passAt = now;
    const clinics = await readMarkedClinics(store, now);
    const isShared = clinics.length > 1;
    if (isShared) this.#logMachine(ofMachine, new Moment(now));
    const own = isShared ? null : ofMachine;
    let workedMs: number | undefined;
    for (const { clinic, mark, rank } of this.#due(clinics, JSON.stringify(own), now)) {
      if (workedMs !== undefined) await sleep(workedMs * REST_TIMES);
      if (this.#isStopped || !lease.isHeld || performance.now() - this.#beganAt > CHECK_MS) break;
      const began = performance.now();
      const evaluation = { mark, ofMachine: own, moment: new Moment(now) };
      if (rank < MESSAGES_WAIT) await this.#step(clinic, evaluation).catch((error: unknown) => this.#warn(error));
      // A clinic that could not be evaluated may have messages.
      if (this.#evaluated.get(clinic.id)?.hasMessages !== false) {
        await this.#startDeliveries(clinic).catch((error: unknown) => this.#warn(error));
      }
      workedMs = performance.now() - began;
    }
  }

  /**
   * Finds the clinics to look at: first those that changed, then those that no pass has seen, those whose time has come, and those whose
   * messages wait. A pass ends after CHECK_MS, so that the next one finds further changes.
   */
  #due(clinics: readonly MarkedClinic[], markOfMachine: string, now: number) {
    const ranked = clinics.flatMap((clinic) => {
      const mark = clinic.mark + markOfMachine;
      const known = this.#evaluated.get(clinic.id);
      if (known === undefined) return [{ clinic, mark, rank: 1 }];
      if (known.mark !== mark) return [{ clinic, mark, rank: 0 }];
      if (known.next <= now) return [{ clinic, mark, rank: 2 }];
      return known.hasMessages ? [{ clinic, mark, rank: MESSAGES_WAIT }] : [];
    });
    return ranked.toSorted((one, other) => one.rank - other.rank);
  }

  /** Another server watches: what it changes is not known here. */
  #forget(): void {
    this.#evaluated.clear();
    this.#endedAt = null;
  }

  #warn(error: unknown): void {
    this.#options.logger.warn({ reason: errorMessage(error) }, "alerts cannot be computed now: the next check follows");
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

  /**
   * Logs the alerts of the machine. The clinics of a shared server know no more of it than of each other, and of several servers one
   * reports to the clinics.
   */
  #logMachine(conditions: readonly Condition[], moment: Moment): void {
    const { logger } = this.#options;
    const { state, opened, closed } = stepAlerts(this.#machine, conditions, moment);
    this.#machine = state;
    const why = "only this log reports it";
    for (const { kind, reason } of opened) logger.warn({ kind, reason }, `an alert of this machine opened: ${why}`);
    for (const { kind } of closed) logger.info({ kind }, "an alert of this machine closed");
  }

  /** `ofMachine` is null on a shared server. */
  async #step(
    { id, timeZone, listed }: MarkedClinic,
    {
      mark,
      ofMachine,
      moment,
    }: { readonly mark: string; readonly ofMachine: readonly Condition[] | null; readonly moment: Moment },
  ): Promise<void> {
    const { store } = this.#options;
    this.#evaluated.delete(id);
    const openCritical = criticalStudies((await readAlertBook(store, id)).open);
    const facts = await readAlertFacts(store, { clinicId: id, timeZone, listed, moment, openCritical });
    const conditions = [...clinicConditions(facts, moment), ...(ofMachine ?? [])];
    const { messages } = await this.#change(id, (book, { receivers }) => {
      const own = ofMachine === null ? withoutMachine(book) : book;
      return stepBook(own, conditions, { channels: receivers, moment });
    });
    this.#evaluated.set(id, { mark, next: moment.next, hasMessages: messages.length > 0 });
  }

  async #startDeliveries(clinic: WatchedClinic): Promise<void> {
    const { receivers } = await readNotifications(this.#options.store, clinic.id);
    for (const { id } of receivers) this.#startDelivery(clinic, id);
  }

  #startDelivery(clinic: WatchedClinic, channel: string): void {
    const key = `${clinic.id} ${channel}`;
    if (this.#delivering.has(key)) return;
    const { logger } = this.#options;
    const delivery = this.#deliver(clinic, channel)
      .catch((error: unknown) => {
        logger.warn({ reason: errorMessage(error) }, "messages about alerts cannot be sent now: they stay stored");
      })
      .finally(() => this.#delivering.delete(key));
    this.#delivering.set(key, delivery);
  }

  async #deliver(clinic: WatchedClinic, channel: string): Promise<void> {
    const { senders, now, logger } = this.#options;
    for (;;) {
      const batch = await this.#claim(clinic, channel);
      if (batch === null) return;
      const { receivers } = await readNotifications(this.#options.store, clinic.id);
      const receiver = receivers.find(({ id }) => id === channel);
      // Removed meanwhile: the next step drops its messages.
      if (receiver === undefined) return;
      const outcome = await deliver(batch, receiver, this.#teller(clinic), senders);
      await this.#change(clinic.id, (book) => settle(book, batch, outcome, now()));
      const facts = { channel, type: receiver.type, messages: batch.messages.length };
      if (outcome.ok) logger.info(facts, "people were notified of alerts");
      else
        logger.warn(
          { ...facts, reason: loggedReason(outcome.reason) },
          "people could not be notified of alerts; it is tried again",
        );
    }
  }

  async #claim({ id, timeZone }: WatchedClinic, channel: string): Promise<Batch | null> {
    const { now } = this.#options;
    let batch: Batch | null = null;
    const known = this.#evaluated.get(id);
    const { messages } = await this.#change(id, (book, { receivers, quiet }) => {
      const channels = receivers.filter((receiver) => receiver.id === channel);
      const taken = claim(book, { channels, quiet, timeZone: timeZone ?? "UTC", now: now() });
      batch = taken?.batch ?? null;
      return taken?.book ?? book;
    });
    // A note of meanwhile is of a later book.
    if (known !== undefined && this.#evaluated.get(id) === known) {
      this.#evaluated.set(id, { ...known, hasMessages: messages.length > 0 });
    }
    return batch;
  }

  /** Changes the book of a clinic in one transaction. A change that changes nothing writes nothing. @returns the book */
  async #change(
    clinicId: number,
    change: (book: AlertBook, notifications: Notifications) => AlertBook,
  ): Promise<AlertBook> {
    const { store, now } = this.#options;
    const before = await readAlerts(store, clinicId);
    const after = change(before.book, before.notifications);
    if (JSON.stringify(after) === JSON.stringify(before.book)) return after;
    return store.transaction(async (session) => {
      const { book, notifications } = await readAlerts(session, clinicId);
      const changed = change(book, notifications);
      await saveAlertBook(session, clinicId, changed, now());
      return changed;
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
