import { type Static, Type } from "typebox";
import { Outcome, STUDIES_PER_PUSH_MAX } from "../../shared/api/study.ts";
import type { OutcomeCode } from "../../shared/api/filing-code.ts";
import { beginTrace, inTrace, type Trace } from "../../shared/network/trace.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { DeliveryLoop, type DeliveryEvents, type DeliveryTiming } from "../runtime/delivery-loop.ts";
import { gathered } from "../runtime/gathered.ts";
import { SendError } from "../runtime/send-error.ts";
import { inOrder, isPerhapsOfOne, isUnanswered } from "./outcomes.ts";
import type { ServerClient } from "./server-client.ts";
import type { Spool } from "../spool/spool.ts";
import type { QueuedStudy } from "../spool/queries/studies/outbox.ts";

// Sends queued studies, the oldest first, and stores the outcomes. A study has its fp before its first request, so a resend
// after a lost response is harmless.

export interface PushEvents extends DeliveryEvents {
  outcome(outcome: Static<typeof Outcome>["outcome"]): void;
}

/** Characters of the studies in one request. The server refuses bodies over 5 MB; most studies have a few kB. */
const BATCH_CHARS_MAX = 2 * 1024 * 1024;
/** Failures of consecutive studies after which a batch ends, because the fault is the server's. */
const FAULTS_IN_A_ROW_MAX = 3;

/** Interval between two looks for studies that the server refused because of their time. A look reads all studies. */
const REFUSED_TIMES_EVERY_MS = 60 * 60_000;

const Outcomes = compileLater(Type.Object({ outcomes: Type.Array(Outcome) }));

export class Push {
  readonly #spool: Spool;
  readonly #server: ServerClient;
  readonly #events: PushEvents;
  readonly #timing: DeliveryTiming;
  readonly #loop: DeliveryLoop;
  /** Schedules a request for queued studies, soon. */
  readonly scheduleSend: () => void;
  /** The last failure concerned single studies: the server took the others. */
  #isOfStudies = false;
  /** The server refused a study because of its time. "before": perhaps it refused one to an earlier process. */
  #refusedTimes: boolean | "before" = "before";
  #refusedTimesAt = Number.NEGATIVE_INFINITY;
  /** The trace of the last request. */
  #trace: Trace | undefined;

  constructor(spool: Spool, server: ServerClient, events: PushEvents, timing: DeliveryTiming) {
    this.#spool = spool;
    this.#server = server;
    this.#events = events;
    this.#timing = timing;
    this.#loop = new DeliveryLoop(
      () => this.#sendNext(),
      { ...events, failed: (kind, reason) => inTrace(this.#trace, () => events.failed(kind, reason)) },
      timing,
    );
    this.scheduleSend = gathered(
      timing.setTimer,
      () => this.wake(),
      () => spool.pause(),
    );
  }

  /**
   * Queues the studies and quality records again that the server refused as in the future, since its clock may have been behind. Call it while its
   * clock agrees with this machine's; `now` is that time in ms since 1970.
   */
  async retryRefusedTimes(now: number): Promise<void> {
    const looked = this.#refusedTimes;
    if (looked === false || performance.now() < this.#refusedTimesAt + REFUSED_TIMES_EVERY_MS) return;
    this.#refusedTimes = false;
    try {
      await this.#spool.call("queueRefusedTimes", now);
    } catch (error) {
      this.#refusedTimes = looked;
      throw error;
    }
    if (looked === true) this.#refusedTimesAt = performance.now();
  }

  /** Notes that the server refused a control or an event because of its time. */
  noteRefusedTime(): void {
    this.#refusedTimes = true;
  }

  /** Sends the queued studies now. */
  wake(): void {
    // The server takes other studies, so that new ones wait for no backoff.
    if (this.#isOfStudies) this.#loop.responded();
    else this.#loop.wake();
  }

  /** Sends the queued studies now, since the server has responded to another request. */
  serverResponded(): void {
    this.#loop.responded();
  }

  /** Stops after the request under way. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Sends one batch if there is one. @returns true if more studies wait */
  async #sendNext(): Promise<boolean> {
    const { batch, more } = await this.#spool.call("takeQueued", STUDIES_PER_PUSH_MAX, BATCH_CHARS_MAX, this.#now());
    if (batch.length === 0) return false;
    const deferred = await this.#send(batch);
    if (deferred === null) this.#loop.succeeded();
    // All that the server may still take was sent.
    else if (!more || batch.at(-1)?.deferred !== null) throw new SendError("transient", deferred);
    return more;
  }

  /** @returns why the server deferred a study; null if it took or refused all @throws SendError for a request without outcomes */
  async #send(batch: readonly QueuedStudy[]): Promise<string | null> {
    let outcomes: readonly Static<typeof Outcome>[];
    try {
      outcomes = await this.#post(batch);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      // If the error may be of one study, the studies are sent one by one, so that it does not block the others.
      const [study, ...others] = batch;
      const isAnswered = !isUnanswered(error);
      if (isAnswered) await this.#spool.call("noteAnswered", batch);
      if (others.length > 0 && isPerhapsOfOne(error)) return this.#sendEach(batch);
      if (study !== undefined && (isPerhapsOfOne(error) || (!isAnswered && study.unanswered > 0))) {
        await this.#spool.call("putBehind", study, error.message, this.#now());
      }
      this.#isOfStudies &&= isPerhapsOfOne(error);
      throw error;
    }
    const settled = batch.map(({ revision, patientFp }, index) => ({
      ...outcomes[index]!,
      revision,
      matched: patientFp !== null,
    }));
    await this.#spool.call("settleStudies", settled, this.#now());
    let deferred: string | null = null;
    for (const { outcome, reason, code } of outcomes) {
      if (outcome === "deferred") {
        deferred = reason ?? "the server deferred a study";
        continue;
      }
      if (code === ("STUDY.AFTER_CLOCK" satisfies OutcomeCode)) this.#refusedTimes = true;
      this.#events.outcome(outcome);
    }
    return deferred;
  }

  #now(): number {
    return (this.#timing.now ?? Date.now)();
  }

  /** Sends each study alone. A failed one goes to the end of the queue, so that the next request has others. */
  async #sendEach(batch: readonly QueuedStudy[]): Promise<string | null> {
    let [taken, inARow] = [0, 0];
    let last: SendError | null = null;
    let deferred: string | null = null;
    for (const study of batch) {
      try {
        deferred = (await this.#send([study])) ?? deferred;
        taken += 1;
        inARow = 0;
      } catch (error) {
        if (!(error instanceof SendError) || !isPerhapsOfOne(error)) throw error;
        last = error;
        inARow += 1;
        if (inARow === FAULTS_IN_A_ROW_MAX) break;
      }
    }
    this.#isOfStudies = taken > 0 && inARow < FAULTS_IN_A_ROW_MAX;
    // The failed studies stay queued, and the delivery loop waits as after any failure.
    if (last !== null) throw last;
    return deferred;
  }

  async #post(batch: readonly QueuedStudy[]): Promise<readonly Static<typeof Outcome>[]> {
    const studies = batch.map(({ fp, revision, body, snapshot }) => ({
      ...(JSON.parse(body) as object),
      fp,
      revision,
      snapshot: JSON.parse(snapshot) as unknown,
    }));
    // A request has one trace. Its first study names it, so that a repeated push is in the same one.
    this.#trace = beginTrace(`${batch[0]?.fp} ${batch[0]?.revision}`);
    const response = await inTrace(this.#trace, () => this.#server.post("/agent/v1/studies", { studies }));
    const outcomes = Outcomes.Check(response) ? response.outcomes : null;
    return inOrder(outcomes, batch, (outcome, study) => outcome.fp === study.fp, "studies");
  }
}
