import { Type } from "typebox";
import { QUALITY_PER_PUSH_MAX, QualityOutcome, type QualityRecord } from "../../shared/api/quality.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { type DeliveryEvents, DeliveryLoop, type DeliveryTiming } from "../runtime/delivery-loop.ts";
import { gathered } from "../runtime/gathered.ts";
import { SendError } from "../runtime/send-error.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import { inOrder, isPerhapsOfOne, isUnanswered } from "./outcomes.ts";
import type { ServerClient } from "./server-client.ts";

// Sends control runs and device events, the oldest first. They have requests of their own, so that no study waits for them.

export interface QualityPushEvents extends DeliveryEvents {
  rejected(device: string, code: string | null): void;
}

/** Characters of the records in one request. The server refuses bodies over 5 MB. */
const BATCH_CHARS_MAX = 1024 * 1024;
/** Wait between two requests of a long queue. The server counts them with those of studies, which must not reach its limit. */
const NEXT_MS = 2_000;
/** Wait before the next request to a server without the route. It may have been upgraded. */
const OLD_SERVER_MS = 60 * 60_000;

const Response = compileLater(Type.Object({ outcomes: Type.Array(QualityOutcome) }));

export class QualityPush {
  readonly #spool: SpoolCalls;
  readonly #server: Pick<ServerClient, "post">;
  readonly #events: QualityPushEvents;
  readonly #timing: DeliveryTiming;
  readonly #loop: DeliveryLoop;
  /** Schedules a request for queued records, soon. */
  readonly scheduleSend: () => void;
  /** Records of a request. A failure that one of them may cause halves it, so that few requests find that one. */
  #limit = QUALITY_PER_PUSH_MAX;
  /** By performance.now(). */
  #resumesAt = Number.NEGATIVE_INFINITY;

  constructor(
    spool: SpoolCalls,
    server: Pick<ServerClient, "post">,
    events: QualityPushEvents,
    timing: DeliveryTiming,
  ) {
    this.#spool = spool;
    this.#server = server;
    this.#events = events;
    this.#timing = timing;
    this.#loop = new DeliveryLoop(() => this.#sendNext(), events, timing);
    this.scheduleSend = gathered(timing.setTimer, () => this.#loop.wake());
  }

  /** Sends the queued records now, since the server has responded to another request. */
  serverResponded(): void {
    this.#loop.responded();
  }

  /** Stops after the request under way. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Sends one batch if there is one. @returns false, since the next one waits for its time */
  async #sendNext(): Promise<boolean> {
    if (performance.now() < this.#resumesAt) return false;
    const { batch, more } = await this.#spool.call("queuedQuality", this.#limit, BATCH_CHARS_MAX);
    if (batch.length === 0) return false;
    const outcomes = await this.#post(batch);
    if (outcomes === null) {
      this.#resumesAt = performance.now() + OLD_SERVER_MS;
      return false;
    }
    await this.#spool.call("settleQuality", outcomes, (this.#timing.now ?? Date.now)());
    for (const [index, { outcome, reason }] of outcomes.entries()) {
      if (outcome === "rejected") this.#events.rejected(batch[index]!.source.device_id, reason?.code ?? null);
    }
    this.#limit = Math.min(2 * this.#limit, QUALITY_PER_PUSH_MAX);
    this.#loop.succeeded();
    if (more) this.#timing.setTimer(NEXT_MS, () => this.#loop.wake());
    return false;
  }

  /** @returns null if the server lacks the route @throws SendError for a request without outcomes */
  async #post(batch: readonly QualityRecord[]): Promise<readonly QualityOutcome[] | null> {
    try {
      const response = await this.#server.post("/agent/v1/quality", { records: batch }, "may lack the route");
      if (response === null) return null;
      const outcomes = Response.Check(response) ? response.outcomes : null;
      return inOrder(outcomes, batch, (outcome, record) => outcome.fp === record.fp, "records");
    } catch (error) {
      if (error instanceof SendError && (isPerhapsOfOne(error) || isUnanswered(error))) await this.#isolate(batch);
      throw error;
    }
  }

  /** Sends fewer records next time, or this one last. */
  async #isolate(batch: readonly QualityRecord[]): Promise<void> {
    this.#limit = Math.ceil(batch.length / 2);
    if (batch.length === 1) await this.#spool.call("putQualityBehind", batch[0]!.fp);
  }
}
