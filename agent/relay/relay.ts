import { createHash } from "node:crypto";
import { type DeliveryReport, NextDelivery, RECEIVER_TEXT_CHARS_MAX } from "../../shared/api/agent/destinations.ts";
import type { Hl7LineState } from "../../shared/network/hl7-sender/connection.ts";
import type { Outcome } from "../../shared/network/hl7-sender/outcome-words.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import type { ResultDestination } from "../config/values/result-destination.ts";
import type { ServerClient } from "../push/server-client.ts";
import { type DeliveryEvents, DeliveryLoop, type DeliveryTiming } from "../runtime/delivery-loop.ts";
import { SendError } from "../runtime/send-error.ts";
import type { DeliveryOutcome, StoredOutcome } from "../spool/queries/result-destinations.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import type { DestinationState } from "../states/destination-state.ts";
import { type Carrier, carrierOf } from "./carrier.ts";

// Brings the results of the clinic to one destination. The server keeps the queue and its order; here is one delivery at a time: its
// outcome goes into the spool, then to the server, and only then the next one is fetched.

export interface RelayEvents extends DeliveryEvents {
  /** An attempt ended. */
  ended(outcome: Outcome): void;
  /** The server has the outcome of an attempt, so that its queue has changed. */
  reported(): void;
  /** The server does not know this destination, as after it was restored from a backup. */
  unknown(): void;
}

/** Interval between two looks at an empty queue. A result that this agent brought is looked for immediately. */
const LOOK_MS = 15_000;
/** Time that a delivery under way gets when the agent stops. */
const STOP_MS = 3_000;

const Next = compileLater(NextDelivery);

type Delivery = NonNullable<NextDelivery["delivery"]>;
type Line = Pick<DestinationState, "is" | "code" | "text">;

export class Relay {
  readonly id: string;
  readonly #kind: ResultDestination["kind"];
  readonly #spool: SpoolCalls;
  readonly #server: Pick<ServerClient, "get" | "post">;
  readonly #events: RelayEvents;
  readonly #timing: DeliveryTiming;
  readonly #carrier: Carrier;
  readonly #loop: DeliveryLoop;
  #cancelLook: () => void = () => undefined;
  /** The line between two deliveries. */
  #line: Line = IDLE;
  #state: Line = IDLE;
  #counts: Pick<DestinationState, "waiting" | "parked"> = { waiting: null, parked: null };

  constructor(
    destination: ResultDestination,
    {
      spool,
      server,
      timing,
    }: {
      readonly spool: SpoolCalls;
      readonly server: Pick<ServerClient, "get" | "post">;
      readonly timing: DeliveryTiming;
    },
    events: RelayEvents,
  ) {
    this.id = destination.id;
    this.#kind = destination.kind;
    this.#spool = spool;
    this.#server = server;
    this.#events = events;
    this.#timing = timing;
    this.#carrier = carrierOf(destination, (state) => this.#lineChanged(state));
    const failed: RelayEvents["failed"] = (kind, reason) => {
      this.serverIsAway(reason);
      events.failed(kind, reason);
    };
    this.#loop = new DeliveryLoop(() => this.#next(), { ...events, failed }, timing);
    this.#setState(IDLE);
  }

  /** Looks for a delivery now. */
  wake(): void {
    this.#loop.wake();
  }

  /** Looks for a delivery now, since the server has responded to another request. */
  serverResponded(): void {
    this.#loop.responded();
  }

  serverIsAway(reason: string): void {
    this.#setState({ is: "server away", code: null, text: reason });
  }

  /** Shows how many deliveries the server has. */
  setCounts(counts: Pick<DestinationState, "waiting" | "parked">): void {
    this.#counts = counts;
    this.#setState(this.#state);
  }

  /** Stops after the delivery under way, or after STOP_MS. */
  async stop(): Promise<void> {
    this.#cancelLook();
    const cancel = this.#timing.setTimer(STOP_MS, () => this.#carrier.close());
    await this.#loop.stop();
    cancel();
    this.#carrier.close();
  }

  /** Reports an outcome that the server lacks, and brings the next delivery to its place. @returns true if more may wait */
  async #next(): Promise<boolean> {
    const last = await this.#spool.call("lastDelivery", this.id);
    if (last?.reported === 0) await this.#report(last);
    const response = await this.#server.get(`${this.#path}/next`).catch((error: unknown) => {
      if (isNotFound(error)) this.#events.unknown();
      throw error;
    });
    if (response === null) throw new SendError("transient", OLD_SERVER);
    if (!Next.Check(response)) throw new SendError("uncertain", "invalid response: expected a delivery or none");
    this.#loop.succeeded();
    const { delivery, wait_s } = response;
    if (delivery === null) {
      this.#lookAfter(wait_s * 1000);
      return false;
    }
    await this.#report(await this.#settled(delivery, last));
    return true;
  }

  /** Brings a delivery to its place unless its receiver acknowledged it already. @returns the outcome, which is stored */
  async #settled(delivery: Delivery, last: StoredOutcome | null): Promise<DeliveryOutcome> {
    const { id, attempt, sha256 } = delivery;
    const isDone = last !== null && last.delivery === id && last.sha256 === sha256 && last.outcome !== "failed";
    const { outcome, code, text } = isDone ? last : await this.#carry(delivery);
    const at = isDone ? last.at : (this.#timing.now ?? Date.now)();
    const cut = text === null ? null : text.slice(0, RECEIVER_TEXT_CHARS_MAX);
    const settled = { ...{ delivery: id, attempt, sha256, at, outcome, code }, text: cut };
    await this.#spool.call("settleDelivery", this.id, settled);
    return settled;
  }

  async #carry({ payload, sha256, file_name }: Delivery): Promise<Outcome> {
    const bytes = Buffer.from(payload, "base64");
    if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
      throw new SendError("uncertain", "invalid response: the bytes of the delivery are not those of its sha256");
    }
    this.#setState({ is: "sending", code: null, text: null });
    const outcome = await this.#carrier.carry(bytes, file_name);
    this.#setState(
      outcome.outcome === "failed" ? { is: "failed", code: outcome.code, text: outcome.text } : this.#line,
    );
    this.#events.ended(outcome);
    return outcome;
  }

  async #report(settled: DeliveryOutcome): Promise<void> {
    const { delivery, attempt, at, outcome, code, text } = settled;
    const report = { delivery_id: delivery, attempt, at: new Date(at).toISOString(), outcome, code, text };
    try {
      await this.#server.post(`${this.#path}/outcomes`, report satisfies DeliveryReport);
    } catch (error) {
      // A server that was restored from a backup has never heard of the delivery.
      if (!isNotFound(error)) throw error;
    }
    this.#events.reported();
    await this.#spool.call("noteReportedDelivery", this.id, settled);
  }

  get #path(): string {
    return `/agent/v1/destinations/${encodeURIComponent(this.id)}`;
  }

  #lookAfter(waitMs: number): void {
    this.#cancelLook();
    if (this.#loop.stopped) return;
    if (this.#state.is === "server away") this.#setState(this.#line);
    // After a failed attempt the server's wait counts; an empty queue is looked at less often.
    const ms = this.#state.is === "failed" ? Math.min(waitMs, LOOK_MS) : LOOK_MS;
    this.#cancelLook = this.#timing.setTimer(ms, () => this.wake());
  }

  #lineChanged(state: Hl7LineState): void {
    this.#line = state.is === "connected" ? { is: "connected", code: null, text: null } : IDLE;
    // A failed attempt is shown until another one ends.
    if (this.#state.is === "connected" || this.#state.is === "idle") this.#setState(this.#line);
  }

  #setState(state: Line): void {
    this.#state = state;
    const shown = { kind: this.#kind, to: this.#carrier.to, ...state, ...this.#counts };
    this.#spool.callLater("setDestinationState", this.id, shown);
  }
}

/** The reason while a server of an earlier version responds. */
export const OLD_SERVER = "the server knows no destinations: upgrade it";

function isNotFound(error: unknown): boolean {
  return error instanceof SendError && error.envelope?.code === "RECORD.NOT_FOUND";
}

const IDLE: Line = { is: "idle", code: null, text: null };
