import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Outcome, Snapshot, STUDIES_PER_PUSH_MAX } from "../shared/study.ts";
import type { SetTimer } from "./connection.ts";
import { type FailureKind, SendError, type Server } from "./server.ts";
import type { Spool } from "./spool.ts";
import type { QueuedStudy } from "./spool-operations.ts";

// Sends queued studies, the oldest first, and stores the server's answers. A study has its fp before it is first sent, so
// sending it again after a lost answer is harmless.

export interface PushEvents {
  outcome(outcome: Static<typeof Outcome>["outcome"]): void;
  /** The channel broke: once when it does, not once a try. */
  failed(kind: FailureKind, reason: string): void;
  recovered(): void;
}

export interface PushTiming {
  readonly setTimer: SetTimer;
  /** 0 to 1, for the jitter. */
  readonly random: () => number;
}

/** Full jitter over 1 s, doubled up to 5 min; network faults, 5xx and 429 are tried for ever (operations guide, B.4). */
const RETRY_BASE_MS = 1_000;
const RETRY_MAX_MS = 5 * 60_000;
/** A key that is refused is a person's to mend: asking more often would only fill logs. */
const UNAUTHORIZED_RETRY_MS = 60_000;
/** The server takes 5 MB; imaging-free studies have a few kB. */
const BATCH_LETTERS_MAX = 2 * 1024 * 1024;

/** That many studies in a row at which the server breaks: it is the server, not the studies. */
const FAULTS_IN_A_ROW_MAX = 3;

const CurrentSnapshot = Compile(Snapshot);
const Outcomes = Compile(Type.Object({ outcomes: Type.Array(Outcome) }));

export class Push {
  readonly #spool: Spool;
  readonly #server: Server;
  readonly #events: PushEvents;
  readonly #timing: PushTiming;
  #running: Promise<void> | null = null;
  #again = false;
  #failures = 0;
  #cancelRetry: (() => void) | null = null;
  #stopped = false;

  constructor(spool: Spool, server: Server, events: PushEvents, timing: PushTiming) {
    this.#spool = spool;
    this.#server = server;
    this.#events = events;
    this.#timing = timing;
  }

  /** There may be something to send. */
  wake(): void {
    if (this.#stopped || this.#cancelRetry !== null) return;
    this.#again = true;
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  /** Ends after the request under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        // What is queued meanwhile wakes us again: only a batch that was full is followed by another at once.
        while ((await this.#sendNext()) && !this.#stopped);
      } catch (error) {
        this.#fail(error);
        return;
      }
    }
  }

  #fail(error: unknown): void {
    const kind = error instanceof SendError ? error.kind : "transient";
    if (this.#failures === 0) this.#events.failed(kind, error instanceof Error ? error.message : String(error));
    this.#failures += 1;
    const ceiling = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** (this.#failures - 1));
    const told = error instanceof SendError ? error.retryAfterMs : null;
    const ms = told ?? (kind === "unauthorized" ? UNAUTHORIZED_RETRY_MS : ceiling * this.#timing.random());
    this.#cancelRetry = this.#timing.setTimer(Math.min(ms, RETRY_MAX_MS), () => {
      this.#cancelRetry = null;
      this.wake();
    });
  }

  /** Sends one batch, if there is any; whether more waits. */
  async #sendNext(): Promise<boolean> {
    const { batch, more } = await this.#spool.call("takeQueued", STUDIES_PER_PUSH_MAX, BATCH_LETTERS_MAX, Date.now());
    if (batch.length === 0) return false;
    await this.#send(batch);
    if (this.#failures > 0) this.#events.recovered();
    this.#failures = 0;
    return more;
  }

  async #send(batch: readonly QueuedStudy[]): Promise<void> {
    let outcomes: Static<typeof Outcome>[];
    try {
      outcomes = await this.#post(batch);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      const refused = error.kind === "permanent";
      // One study must not hold up the others: each is sent alone when the server refuses, or breaks at, all of them.
      if (batch.length > 1 && (refused || error.status === 500)) return this.#sendEach(batch);
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
