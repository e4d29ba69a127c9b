import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Directory } from "./patient-directory.ts";
import type { Spool } from "../spool/spool.ts";
import { StorageError } from "../spool/thread/storage-error.ts";
import type { StoredMessage } from "../spool/queries/messages/message-row.ts";
import type { Settlement } from "../spool/queries/studies/studies.ts";
import { retryStorage } from "../spool/storage-retry.ts";
import { Tries } from "../spool/tries.ts";
import { assess, type Attempt, type FilingDevice, type FilingSources, quarantined } from "./assess.ts";

// Assesses each stored message and stores its outcome. The messages of one device keep their order, and no device waits for
// another. A message without an outcome is assessed again after a restart, with the same result.

export interface FilingEvents {
  outcomeStored(message: StoredMessage, state: Settlement["state"], studies: number): void;
  /** An internal error. The message is quarantined with it. */
  fault(message: StoredMessage, error: unknown): void;
  /** A result has a time that the device's clock can hardly have shown rightly. */
  suspectTime?(device: string, time: string): void;
}

/** Interval between attempts to store an outcome that the spool refuses. */
const STORAGE_RETRY_MS = 250;
/** Messages per read from the spool. One message may have 16 MiB. */
const BATCH = 20;

export class Filing {
  readonly #spool: Spool;
  readonly #sources: FilingSources;
  readonly #deviceById: (id: string) => FilingDevice | undefined;
  readonly #events: FilingEvents;
  readonly #tries: Tries;
  /** Devices that have cut messages. The messages of other devices complete none. null before acceptStored(). */
  #devicesWithCuts: Set<string> | null = null;
  /** The last message of each device, as the promise of its outcome. */
  readonly #tails = new Map<string, Promise<void>>();
  /** Devices whose messages of an earlier process are not filed yet. */
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
    const suspectTime = (device: string, time: string) => events.suspectTime?.(device, time);
    this.#sources = { spool, directory, matchPatientsByName, suspectTime };
    this.#deviceById = deviceById;
    this.#events = events;
    this.#tries = new Tries(spool, "message");
  }

  /** Files a stored message after the earlier ones of its device. Never rejects. */
  accept(message: StoredMessage): Promise<void> {
    if (message.incomplete !== null) this.#devicesWithCuts?.add(message.device);
    return this.#enqueue(message, false);
  }

  /** Files again, after newer messages, the messages of these devices whose awaited patient was added or changed. */
  async rematch(devices: readonly string[]): Promise<void> {
    for (;;) {
      // Devices with a backlog are skipped: their messages would delay the rematch of the others.
      const free = devices.filter((device) => !this.#backlog.has(device));
      const messages = await this.#spool.call("dueMessages", free, BATCH);
      await Promise.all(messages.map((message) => this.#enqueue(message, true)));
      // A message whose outcome the spool refused stays due, so a stop ends the loop.
      if (messages.length < BATCH || this.#stopped) return;
    }
  }

  #enqueue(message: StoredMessage, rematch: boolean): Promise<void> {
    const filed = (this.#tails.get(message.device) ?? Promise.resolve()).then(() => {
      // A backlog that a stop interrupted comes first at the next start.
      if (this.#backlog.has(message.device)) return undefined;
      return rematch ? this.#fileMarked(message, true) : this.#file(message, false);
    });
    this.#tails.set(message.device, filed);
    return filed;
  }

  /**
   * Files the messages of an earlier process in the background, ahead of all messages that are accepted later. Those of `waiting`
   * devices stay: no other profile may read them.
   */
  async acceptStored(waiting: ReadonlySet<string> = new Set()): Promise<void> {
    this.#devicesWithCuts = new Set(await this.#spool.call("devicesWithIncompleteMessages"));
    for (const [device, rows] of await this.#spool.call("backlog")) {
      if (waiting.has(device)) continue;
      this.#backlog.add(device);
      this.#tails.set(device, this.#fileStored(device, rows));
    }
  }

  async #fileStored(device: string, rows: readonly number[]): Promise<void> {
    for (let from = 0; from < rows.length; from += BATCH) {
      const batch = rows.slice(from, from + BATCH);
      const messages = await this.#retry(() => this.#spool.call("unprocessedMessages", device, batch));
      for (const message of messages ?? []) {
        if (this.#stopped) return;
        await this.#fileMarked(message, false);
      }
      if (this.#stopped) return;
    }
    this.#backlog.delete(device);
  }

  /**
   * Files a message that waited, and that perhaps ended an earlier process. No device waits for it, so each reading is marked. The
   * wait for the server is not: a power cut within it proves nothing about the message.
   */
  async #fileMarked(message: StoredMessage, rematch: boolean): Promise<void> {
    await this.#file(message, rematch, () => this.#assess(message, (read) => this.#tries.run(message.id, read)));
    if (!this.#stopped) this.#tries.end(message.id);
  }

  /** Resolves once all accepted messages are filed. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }

  /**
   * Resolves after the messages under way. A message whose outcome the spool refuses is left to the next start, and so is the
   * rest of a backlog.
   */
  stop(): Promise<void> {
    this.#stopped = true;
    return this.idle();
  }

  /** Assesses a message and stores its outcome. Never rejects: a message with an internal error is left to the next start. */
  async #file(message: StoredMessage, rematch: boolean, assessed = () => this.#assess(message)): Promise<void> {
    const store = (outcome: () => Promise<Settlement>) =>
      this.#retry(async () => {
        const settlement = await outcome();
        const fps = await this.#spool.call("settle", { ...settlement, rematch });
        return { state: settlement.state, studies: fps.length };
      });
    const stored = await store(assessed)
      .catch((error: unknown) => {
        this.#events.fault(message, error);
        return store(async () => quarantined(message, internalError(error)));
      })
      .catch((error: unknown) => {
        this.#events.fault(message, error);
        return null;
      });
    if (stored === null) {
      // The next start files it, ahead of the later messages of its device.
      if (this.#stopped) this.#backlog.add(message.device);
      return;
    }
    const { state, studies } = stored;
    this.#events.outcomeStored(message, studies > 0 ? "pending" : state, studies);
  }

  /** @returns null if a stop ends the attempts */
  #retry<Result>(task: () => Promise<Result>): Promise<Result | null> {
    return retryStorage(task, STORAGE_RETRY_MS, { isStopped: () => this.#stopped });
  }

  async #assess(message: StoredMessage, attempt?: Attempt): Promise<Settlement> {
    try {
      const mayComplete = this.#devicesWithCuts?.has(message.device) ?? true;
      return await assess(message, this.#deviceById(message.device), this.#sources, mayComplete, attempt);
    } catch (error) {
      if (error instanceof StorageError) throw error;
      // A message that causes an internal error must neither stop its device nor return at every start.
      this.#events.fault(message, error);
      return quarantined(message, internalError(error));
    }
  }
}

function internalError(error: unknown): string {
  return `internal error: ${errorMessage(error)}`;
}
