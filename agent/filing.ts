import { newFp } from "../shared/fp.ts";
import type { Directory } from "./directory.ts";
import type { Profile } from "./devices/profile.ts";
import { match } from "./match.ts";
import { complete, read } from "./read.ts";
import { describe, type ReadContext, type Report } from "./report.ts";
import { type Spool, StorageError } from "./spool.ts";
import type { Settlement, StoredMessage, StudyDraft } from "./spool-operations.ts";
import { study } from "./study.ts";

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
const SETTLE_RETRY_MS = 1_000;

export class Filing {
  readonly #spool: Spool;
  readonly #directory: Directory;
  readonly #deviceById: (id: string) => FilingDevice | undefined;
  readonly #events: FilingEvents;
  /** Per device, the message before: their order is kept, and no device waits for another. */
  readonly #tails = new Map<string, Promise<void>>();

  constructor(
    spool: Spool,
    directory: Directory,
    deviceById: (id: string) => FilingDevice | undefined,
    events: FilingEvents,
  ) {
    this.#spool = spool;
    this.#directory = directory;
    this.#deviceById = deviceById;
    this.#events = events;
  }

  /** Settles a stored message after those of its device that came before it. Never rejects. */
  accept(message: StoredMessage): Promise<void> {
    const settled = (this.#tails.get(message.device) ?? Promise.resolve()).then(() => this.#settle(message));
    this.#tails.set(message.device, settled);
    return settled;
  }

  /** Settles what an earlier process stored and did not get to. */
  async acceptStored(): Promise<void> {
    const BATCH = 100;
    for (;;) {
      const messages = await this.#spool.call("unprocessedMessages", BATCH);
      await Promise.all(messages.map((message) => this.accept(message)));
      if (messages.length < BATCH) return;
    }
  }

  /** Resolves when everything accepted so far is settled. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }

  async #settle(message: StoredMessage): Promise<void> {
    let settlement: Settlement;
    try {
      settlement = await this.#assess(message);
    } catch (error) {
      // A message that breaks our code must not stop its device, nor come again at every start.
      this.#events.fault(message, error);
      settlement = quarantined(message, `our own fault: ${error instanceof Error ? error.message : String(error)}`);
    }
    for (;;) {
      try {
        await this.#spool.call("settle", settlement);
        break;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        await new Promise<void>((resolve) => setTimeout(resolve, SETTLE_RETRY_MS));
      }
    }
    this.#events.settled(message, settlement.state, settlement.studies.length);
  }

  async #assess(message: StoredMessage): Promise<Settlement> {
    const device = this.#deviceById(message.device);
    if (device === undefined) return quarantined(message, `no device ${message.device} in the configuration`);
    if (message.incomplete !== null) return quarantined(message, `incomplete: ${message.incomplete}`);
    const context: ReadContext = { device: message.device, timeZone: device.timeZone, receivedAt: message.receivedAt };
    const incomplete = await this.#spool.call("incompleteMessages", message.device, message.id);
    const { bytes, completed } = complete(message.bytes, incomplete, device.profile);
    const completes = completed.map(({ id }) => id);
    const reading = read(bytes, device.profile, context);
    if (reading.is !== "reports") return { ...quarantined(message, reading.reason), state: reading.is, completes };
    const reasons = new Set(reading.notes);
    const studies: StudyDraft[] = [];
    for (const report of reading.reports) {
      const { patient, reason } = await findPatient(report, this.#spool, this.#directory);
      if (reason !== null) reasons.add(reason);
      for (const sentence of describe(report)) reasons.add(sentence);
      const source = { device_id: message.device, message_id: message.id };
      const draft = study(report, patient, source, device.model, await this.#directory.ranges());
      studies.push({ ...draft, freshFp: newFp("cds") });
    }
    return {
      message: message.id,
      state: "pending",
      reason: reasons.size === 0 ? null : [...reasons].join("; "),
      studies,
      completes,
      at: Date.now(),
    };
  }
}

/** The one patient a Report is of, or why there is none. One registered a moment ago is asked for at the server first. */
export async function findPatient(
  report: Report,
  spool: Spool,
  directory: Directory,
): Promise<ReturnType<typeof match>> {
  const orders = await directory.issued(report);
  const matched = async () => match(report, await directory.find(report, orders), orders);
  let result = await matched();
  const mayBeNew = result.patient === null && report.identifier !== null;
  if (mayBeNew && (await directory.refresh(REFRESH_AGE_MS, REFRESH_WAIT_MS))) result = await matched();
  if (result.patient !== null && orders.length > 0) {
    // Should the disk refuse it, the order stays in its device's worklist a few days longer.
    const accessions = orders.map(({ accession }) => accession);
    spool.callLater("noteOrders", accessions, "resulted");
  }
  return result;
}

function quarantined(message: StoredMessage, reason: string): Settlement {
  return { message: message.id, state: "quarantined", reason, studies: [], completes: [], at: Date.now() };
}
