import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Outcome, Snapshot, STUDIES_PER_PUSH_MAX } from "../../shared/api/study.ts";
import { DeliveryLoop, type DeliveryEvents, type DeliveryTiming } from "../runtime/delivery-loop.ts";
import { SendError } from "../runtime/send-error.ts";
import type { ServerClient } from "./server-client.ts";
import type { Spool } from "../spool/spool.ts";
import type { QueuedStudy } from "../spool/queries/outbox.ts";

// Sends queued studies, the oldest first, and stores the server's answers. A study has its fp before it is first sent, so
// sending it again after a lost answer is harmless.

export interface PushEvents extends DeliveryEvents {
  outcome(outcome: Static<typeof Outcome>["outcome"]): void;
}

/** The server takes 5 MB; imaging-free studies have a few kB. */
const BATCH_LETTERS_MAX = 2 * 1024 * 1024;
/** Far below what a person notices between the analyzer and the API. */
const GATHER_MS = 200;
/** Max failures of consecutive studies. Beyond it the fault is the server's, not the studies'. */
const FAULTS_IN_A_ROW_MAX = 3;

const CurrentSnapshot = Compile(Snapshot);
const Outcomes = Compile(Type.Object({ outcomes: Type.Array(Outcome) }));

export class Push {
  readonly #spool: Spool;
  readonly #server: ServerClient;
  readonly #events: PushEvents;
  readonly #timing: DeliveryTiming;
  readonly #loop: DeliveryLoop;
  #isGathering = false;
  #wokenAt = Number.NEGATIVE_INFINITY;

  constructor(spool: Spool, server: ServerClient, events: PushEvents, timing: DeliveryTiming) {
    this.#spool = spool;
    this.#server = server;
    this.#events = events;
    this.#timing = timing;
    this.#loop = new DeliveryLoop(() => this.#sendNext(), events, timing);
  }

  /** There may be something to send. */
  wake(): void {
    this.#loop.wake();
  }

  /**
   * A study was queued: the first goes at once, what comes within a moment of it is sent together, for a request costs both
   * programs more than the studies in it, and keeps acknowledgements waiting.
   */
  wakeSoon(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#timing.setTimer(Math.max(0, this.#wokenAt + GATHER_MS - performance.now()), () => void this.#wakeInPause());
  }

  async #wakeInPause(): Promise<void> {
    await this.#spool.pause();
    this.#isGathering = false;
    this.#wokenAt = performance.now();
    this.wake();
  }

  /** Ends after the request under way. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Sends one batch, if there is any; whether more waits. */
  async #sendNext(): Promise<boolean> {
    const { batch, more } = await this.#spool.call("takeQueued", STUDIES_PER_PUSH_MAX, BATCH_LETTERS_MAX, Date.now());
    if (batch.length === 0) return false;
    await this.#send(batch);
    this.#loop.succeeded();
    return more;
  }

  async #send(batch: readonly QueuedStudy[]): Promise<void> {
    let outcomes: Static<typeof Outcome>[];
    try {
      outcomes = await this.#post(batch);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      const refused = error.kind === "permanent";
      // One study must not hold up the others: each is sent alone when the server refuses, or breaks at, all of them, and when
      // a proxy says that the batch is too long for it.
      if (batch.length > 1 && (refused || error.status === 500 || error.status === 413)) return this.#sendEach(batch);
      if (!refused) throw error;
      outcomes = batch.map(({ fp }) => ({ fp, outcome: "rejected", reason: error.message }));
    }
    const answers = batch.map(({ revision, patientFp }, index) => ({
      ...outcomes[index]!,
      revision,
      matched: patientFp !== null,
    }));
    await this.#spool.call("settleStudies", answers, Date.now());
    for (const { outcome } of outcomes) this.#events.outcome(outcome);
  }

  async #sendEach(batch: readonly QueuedStudy[]): Promise<void> {
    let inARow = 0;
    let last: unknown = null;
    for (const study of batch) {
      try {
        await this.#send([study]);
        inARow = 0;
      } catch (error) {
        last = error;
        inARow += 1;
        if (inARow === FAULTS_IN_A_ROW_MAX) break;
      }
    }
    // The ones that failed stay queued; the channel rests as after any failure.
    if (last !== null) throw last;
  }

  async #post(batch: readonly QueuedStudy[]): Promise<Static<typeof Outcome>[]> {
    const studies = batch.map(({ fp, revision, body, snapshot }) => ({
      ...(JSON.parse(body) as object),
      fp,
      revision,
      ...sentSnapshot(snapshot),
    }));
    const answer = await this.#server.post("/agent/v1/studies", { studies });
    if (!Outcomes.Check(answer)) throw new SendError("uncertain", "the server's answer is no list of outcomes");
    const { outcomes } = answer;
    const inOrder = outcomes.length === batch.length && outcomes.every(({ fp }, index) => fp === batch[index]?.fp);
    if (!inOrder)
      throw new SendError(
        "uncertain",
        `the server answered for ${outcomes.length} studies, expected ${batch.length} in order`,
      );
    return outcomes;
  }
}

/** One that an earlier version of this program stored may lack what the server expects of it: it does without. */
function sentSnapshot(text: string): { snapshot?: unknown } {
  const snapshot: unknown = JSON.parse(text);
  return CurrentSnapshot.Check(snapshot) ? { snapshot } : {};
}
