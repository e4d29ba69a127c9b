import type { DeviceActivity } from "./device-activity.ts";

// Decides when the pending batch is posted to the worker.

/** Max delay before a fire-and-forget operation is committed, so that it can join a batch. In ms. */
const LATER_MS_MAX = 200;
/** Delay of a message in ms: `min` while the worker is idle, at most `max` while it commits. */
const SAVE_MS = { min: 2, max: 10 };
/**
 * Delay of an event in ms while at least `devicesMin` devices are busy, because a commit costs more than its content. The delay
 * ends when half of the busy devices have an uncommitted event, so that the disk is not left idle.
 */
const GATHER = { devicesMin: 16, ms: 8 };

export interface BatchTarget {
  /** Events that are pending or in flight. */
  uncommittedEvents(): number;
  isCommitting(): boolean;
  /** Adds the delayed messages to the pending batch. */
  addMessages(): void;
  /** Posts the pending batch, if it has content. */
  post(): void;
}

export class CommitBatcher {
  readonly #target: BatchTarget;
  readonly #activity: DeviceActivity;
  #isImmediate = false;
  #gathering: NodeJS.Timeout | undefined;
  #later: NodeJS.Timeout | undefined;
  #saving: NodeJS.Timeout | undefined;

  constructor(target: BatchTarget, activity: DeviceActivity) {
    this.#target = target;
    this.#activity = activity;
  }

  /** The batch is posted in this turn of the event loop. */
  get isImmediate(): boolean {
    return this.#isImmediate;
  }

  /** Posts the batch after this turn of the event loop, or later while many devices are busy. */
  flushSoon(): void {
    if (this.#isImmediate) return;
    const { busyDevices } = this.#activity;
    if (busyDevices >= GATHER.devicesMin && this.#target.uncommittedEvents() < busyDevices / 2) {
      this.#gathering ??= setTimeout(() => this.flush(), GATHER.ms);
      return;
    }
    this.#isImmediate = true;
    // setImmediate runs after all sockets of this turn were read, so their events share the batch.
    setImmediate(() => this.flush());
  }

  /** Posts the batch within LATER_MS_MAX, unless another caller posts it before. */
  flushLater(): void {
    this.#later ??= setTimeout(() => this.flushSoon(), LATER_MS_MAX);
  }

  /** After `ms`, adds the delayed messages to the batch as soon as the worker is idle, within SAVE_MS, and posts it. */
  saveMessages(ms = 0): void {
    clearTimeout(this.#saving);
    this.#saveIn(ms + SAVE_MS.min, performance.now() + ms + SAVE_MS.max);
  }

  /** Posts the batch now. */
  flush(): void {
    this.#isImmediate = false;
    clearTimeout(this.#gathering);
    clearTimeout(this.#later);
    this.#gathering = this.#later = undefined;
    this.#target.post();
  }

  /** Posts the batch now, with the delayed messages. */
  flushAll(): void {
    clearTimeout(this.#saving);
    this.#target.addMessages();
    this.flush();
  }

  #saveIn(ms: number, deadline: number): void {
    this.#saving = setTimeout(() => {
      const isInTime = performance.now() + SAVE_MS.min < deadline;
      if (this.#target.isCommitting() && isInTime) return this.#saveIn(SAVE_MS.min, deadline);
      this.#target.addMessages();
      this.flushSoon();
    }, ms);
  }
}
