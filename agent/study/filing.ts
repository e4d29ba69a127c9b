import { newFp } from "../../shared/api/fp.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Directory } from "./patient-directory.ts";
import type { Profile } from "../devices/profile.ts";
import { describeMatch, type Match, match, type Namesakes } from "./match.ts";
import { complete, read } from "./read.ts";
import { describe, type ReadContext, type Report } from "../report/report.ts";
import type { Spool, SpoolCalls } from "../spool/spool.ts";
import { StorageError } from "../spool/storage-error.ts";
import type { StoredMessage } from "../spool/queries/message-row.ts";
import type { Settlement, StudyDraft } from "../spool/queries/studies.ts";
import { study } from "./study.ts";
import type { MatchKeys } from "../spool/queries/waiting.ts";

// Takes each stored message through the stages read, match and study, and stores what it came to. All of it can be run
// again: a message that was not settled before a crash is settled after it, with the same result.

export interface FilingDevice {
  readonly profile: Profile;
  readonly timeZone: string;
  /** The instrument behind a generic profile, for intervals of that instrument. */
  readonly model: string | null;
}

export interface FilingEvents {
  settled(message: StoredMessage, state: Settlement["state"], studies: number): void;
  /** Our own fault; the message is quarantined with it. */
  fault(message: StoredMessage, error: unknown): void;
}

/** A patient registered a moment ago is asked for before a result is called unmatched: not more often, and not longer, than this. */
const REFRESH_AGE_MS = 10_000;
const REFRESH_WAIT_MS = 3_000;
/** How long until a message that the disk would not let be settled is tried again. */
const SETTLE_RETRY_MS = 250;
/** Messages read from the spool at once; one may have 16 MiB. */
const BATCH = 20;

export class Filing {
  readonly #spool: Spool;
  readonly #lookup: Lookup;
  readonly #deviceById: (id: string) => FilingDevice | undefined;
  readonly #events: FilingEvents;
  /** The devices that a message was cut short of: those of the others complete nothing. Null: not known yet. */
  #cutShort: Set<string> | null = null;
  /** Per device, the message before: their order is kept, and no device waits for another. */
  readonly #tails = new Map<string, Promise<void>>();
  /** The devices whose stored messages are still being settled. */
  readonly #backlog = new Set<string>();
  #stopped = false;

  constructor(
    spool: Spool,
    directory: Directory,
    deviceById: (id: string) => FilingDevice | undefined,
    events: FilingEvents,
    matchPatientsByName = false,
  ) {
    this.#spool = spool;
    this.#lookup = { spool, directory, matchPatientsByName };
    this.#deviceById = deviceById;
    this.#events = events;
  }

  /** Settles a stored message after those of its device that came before it. Never rejects. */
  accept(message: StoredMessage): Promise<void> {
    if (message.incomplete !== null) this.#cutShort?.add(message.device);
    return this.#enqueue(message, false);
  }

  /** Settles again, behind what came since, the messages of these devices whose awaited patient came or changed. */
  async rematch(devices: readonly string[]): Promise<void> {
    for (;;) {
      // A rematch behind a long backlog would keep the other devices waiting.
      const free = devices.filter((device) => !this.#backlog.has(device));
      const messages = await this.#spool.call("dueMessages", free, BATCH);
      await Promise.all(messages.map((message) => this.#enqueue(message, true)));
      // A message whose outcome the disk refused stays due.
      if (messages.length < BATCH || this.#stopped) return;
    }
  }

  #enqueue(message: StoredMessage, rematch: boolean): Promise<void> {
    const settled = (this.#tails.get(message.device) ?? Promise.resolve()).then(() => {
      // Stored messages of the device come before this one, and the stop left them to the next start.
      if (!this.#backlog.has(message.device)) return this.#settle(message, rematch);
    });
    this.#tails.set(message.device, settled);
    return settled;
  }

  /**
   * Puts the messages that an earlier process left unsettled ahead of all that are accepted from now on. They are settled in
   * the background, each device's by themselves.
   */
  async acceptStored(): Promise<void> {
    this.#cutShort = new Set(await this.#spool.call("devicesCutShort"));
    for (const { device, lastRow } of await this.#spool.call("backlog")) {
      this.#backlog.add(device);
      this.#tails.set(device, this.#settleStored(device, lastRow));
    }
  }

  async #settleStored(device: string, lastRow: number): Promise<void> {
    for (;;) {
      const page = await this.#insist(() => this.#spool.call("unprocessedMessages", device, lastRow, BATCH));
      for (const message of page ?? []) {
        if (this.#stopped) return;
        await this.#settle(message, false);
      }
      if (this.#stopped) return;
      if (page === null || page.length < BATCH) break;
    }
    this.#backlog.delete(device);
  }

  /** Resolves when everything accepted so far is settled. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }

  /**
   * Ends after what is under way. Left to the next start are a message that the disk will not let be settled, and of a device
   * with a backlog all but the message under way.
   */
  stop(): Promise<void> {
    this.#stopped = true;
    return this.idle();
  }

  /** Stores what a message comes to. Never rejects: what our own fault keeps from being stored is left to the next start. */
  async #settle(message: StoredMessage, rematch: boolean): Promise<void> {
    const store = (make: () => Promise<Settlement>) =>
      this.#insist(async () => {
        const settlement = await make();
        const fps = await this.#spool.call("settle", { ...settlement, rematch });
        return { state: settlement.state, studies: fps.length };
      });
    const settled = await store(() => this.#assess(message))
      .catch((error: unknown) => {
        this.#events.fault(message, error);
        return store(async () => quarantined(message, `our own fault: ${errorMessage(error)}`));
      })
      .catch((error: unknown) => {
        this.#events.fault(message, error);
        return null;
      });
    if (settled === null) return;
    const { state, studies } = settled;
    this.#events.settled(message, studies > 0 ? "pending" : state, studies);
  }

  /** Tries again while the disk refuses: its fault is no verdict on a message. @returns null if stopped meanwhile */
  async #insist<Result>(task: () => Promise<Result>): Promise<Result | null> {
    for (;;) {
      try {
        return await task();
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        if (this.#stopped) return null;
        await new Promise<void>((resolve) => setTimeout(resolve, SETTLE_RETRY_MS));
      }
    }
  }

  async #assess(message: StoredMessage): Promise<Settlement> {
    try {
      const mayComplete = this.#cutShort?.has(message.device) ?? true;
      return await assess(message, this.#deviceById(message.device), this.#lookup, mayComplete);
    } catch (error) {
      if (error instanceof StorageError) throw error;
      // A message that breaks our code must not stop its device, nor come again at every start.
      this.#events.fault(message, error);
      return quarantined(message, `our own fault: ${errorMessage(error)}`);
    }
  }
}

/** Sources that the stages look things up in. */
export interface Lookup {
  readonly spool: SpoolCalls;
  readonly directory: Directory;
  /** The clinic lets the name of an animal that comes today match. */
  readonly matchPatientsByName: boolean;
}

/**
 * Takes a stored message through read, match and study. A later run may come to more.
 * @param mayComplete whether its device may have messages that were cut short
 */
export async function assess(
  message: StoredMessage,
  device: FilingDevice | undefined,
  { spool, directory, matchPatientsByName }: Lookup,
  mayComplete = true,
): Promise<Settlement> {
  if (device === undefined) return quarantined(message, `no device ${message.device} in the configuration`);
  if (message.incomplete !== null) return quarantined(message, `incomplete: ${message.incomplete}`);
  const context: ReadContext = { device: message.device, timeZone: device.timeZone, receivedAt: message.receivedAt };
  const incomplete = mayComplete ? await spool.call("incompleteMessages", message.device, message.id) : [];
  const { bytes, completed } = complete(message.bytes, incomplete, device.profile);
  const completes = completed.map(({ id }) => id);
  const reading = read(bytes, device.profile, context);
  const isRead = reading.is === "reports";
  // Whether there is anything that a withdrawal takes back is known when it is stored.
  const reports = isRead ? reading.reports : reading.is === "quarantined" ? (reading.withdrawals ?? []) : [];
  if (!isRead && reports.length === 0) {
    return { ...quarantined(message, reading.reason), state: reading.is, completes };
  }
  const reasons = new Set(isRead ? reading.notes : [reading.reason]);
  const studies: StudyDraft[] = [];
  const awaited: MatchKeys[] = [];
  for (const report of reports) {
    const namesIn = matchPatientsByName ? device.timeZone : null;
    const { patient, reason, how, waiting } = await findPatient(report, spool, directory, namesIn);
    if (waiting !== null) awaited.push(waiting);
    if (reason !== null) reasons.add(reason);
    if (isRead) for (const sentence of describe(report)) reasons.add(sentence);
    const source = { device_id: message.device, message_id: message.id };
    const draft = study(report, patient, source, device.model, await directory.ranges());
    const snapshot = { ...draft.snapshot, notes: [how, ...draft.snapshot.notes] };
    studies.push({ ...draft, snapshot, freshFp: newFp("cds"), collect: report.collect ?? null });
  }
  return {
    message: message.id,
    state: isRead ? "pending" : "quarantined",
    reason: reasons.size === 0 ? null : [...reasons].join("; "),
    studies,
    completes,
    waiting: allOf(awaited),
    at: Date.now(),
  };
}

function allOf(awaited: readonly MatchKeys[]): MatchKeys | null {
  if (awaited.length === 0) return null;
  const version = Math.min(...awaited.map((waiting) => waiting.version));
  return { keys: awaited.flatMap(({ keys }) => keys), version };
}

/**
 * The one patient a Report is of, or why there is none, and in a sentence how that came to be. One registered a moment ago is
 * asked for at the server first. `namesIn`: the zone whose days count where names may match; null: they may not. `waiting`
 * is null with a patient.
 */
export async function findPatient(
  report: Report,
  spool: SpoolCalls,
  directory: Directory,
  namesIn: string | null = null,
): Promise<Match & { readonly how: string; readonly waiting: MatchKeys | null }> {
  const matched = async () => {
    const { patients, orders, waiting } = await directory.find(report);
    const namesakes = namesIn === null ? null : await namesakesOf(report, namesIn, directory);
    // Asked after the lookup: a list that arrives in between makes the message due.
    const isFetched = await directory.isFetched();
    return { result: match(report, patients, orders, namesakes, isFetched), orders, waiting };
  };
  let { result, orders, waiting } = await matched();
  const mayBeNew = result.patient === null && report.identifier !== null;
  if (mayBeNew && (await directory.refresh(REFRESH_AGE_MS, REFRESH_WAIT_MS)))
    ({ result, orders, waiting } = await matched());
  if (result.patient !== null && orders.length > 0) {
    // Should the disk refuse it, the order stays in its device's worklist a few days longer.
    const accessions = orders.map(({ accession }) => accession);
    spool.callLater("noteOrders", accessions, "resulted");
  }
  const how = result.patient === null ? `unmatched: ${result.reason}` : describeMatch(report, result.patient, orders);
  return { ...result, how, waiting: result.patient === null ? waiting : null };
}

async function namesakesOf(report: Report, timeZone: string, directory: Directory): Promise<Namesakes> {
  const { identifier, species, patient_hint, acquired_at } = report;
  if (identifier !== null || patient_hint.name === null || species === null) return { all: [], appointed: new Set() };
  return directory.namesakes(patient_hint.name, species, acquired_at, timeZone);
}

function quarantined(message: StoredMessage, reason: string): Settlement {
  return { message: message.id, state: "quarantined", reason, studies: [], completes: [], at: Date.now() };
}
