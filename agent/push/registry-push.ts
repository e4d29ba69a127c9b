import { Type } from "typebox";
import { REGISTRY_CHANGES_MAX, type RegistryChange, RegistryOutcome } from "../../shared/api/agent/registry.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { type DeliveryEvents, DeliveryLoop, type DeliveryTiming } from "../runtime/delivery-loop.ts";
import { gathered } from "../runtime/gathered.ts";
import { SendError } from "../runtime/send-error.ts";
import {
  FILE_CHANGE,
  type FileChange,
  type QueuedChange,
  type SettledChange,
} from "../spool/queries/patients/registry-changes.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import { inOrder, isPerhapsOfOne } from "./outcomes.ts";
import type { ServerClient } from "./server-client.ts";

// Sends the changes of practice software, those of one source strictly in their order: the later one counts. A change that the
// server refuses is settled, and the next one goes. All changes stay while the server is away.

export interface RegistryPushEvents extends DeliveryEvents {
  refused(device: string, code: string | null): void;
}

/** Time for which a source is left out whose first change the server does not take. */
const STUCK_MS = 30_000;
/** Characters of the changes in one request. */
const BATCH_CHARS_MAX = 1024 * 1024;

const Response = compileLater(Type.Object({ outcomes: Type.Array(RegistryOutcome) }));

export class RegistryPush {
  readonly #spool: SpoolCalls;
  readonly #server: Pick<ServerClient, "post">;
  readonly #events: RegistryPushEvents;
  readonly #timing: DeliveryTiming;
  readonly #loop: DeliveryLoop;
  /** Schedules a request for queued changes, soon. */
  readonly scheduleSend: () => void;
  /** Sources whose first change the server did not take, why, and until when they are left out, by performance.now(). The others go on. */
  readonly #stuck = new Map<string, { readonly error: SendError; readonly until: number }>();
  /** Sources whose changes go one by one, so that the one at fault stops only itself, and how many of the failed request are left. */
  readonly #oneByOne = new Map<string, number>();

  constructor(
    spool: SpoolCalls,
    server: Pick<ServerClient, "post">,
    events: RegistryPushEvents,
    timing: DeliveryTiming,
  ) {
    this.#spool = spool;
    this.#server = server;
    this.#events = events;
    this.#timing = timing;
    this.#loop = new DeliveryLoop(() => this.#sendNext(), events, timing);
    this.scheduleSend = gathered(timing.setTimer, () => this.wake());
  }

  /** Sends the queued changes now. */
  wake(): void {
    // The server takes the changes of other sources, so that new ones wait for no backoff.
    if (this.#stuck.size > 0) this.#loop.responded();
    else this.#loop.wake();
  }

  /** Sends the queued changes now, since the server has responded to another request. */
  serverResponded(): void {
    this.#loop.responded();
  }

  /** Stops after the request under way. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Sends the first changes of a source. @returns true if more may wait */
  async #sendNext(): Promise<boolean> {
    const sources = await this.#spool.call("registrySources");
    for (const kept of [this.#stuck, this.#oneByOne]) {
      for (const each of kept.keys()) if (!sources.includes(each)) kept.delete(each);
    }
    const now = performance.now();
    const source = sources.find((each) => (this.#stuck.get(each)?.until ?? now) <= now);
    if (source === undefined) {
      const [stuck] = this.#stuck.values();
      if (stuck !== undefined) throw stuck.error;
      return false;
    }
    const left = this.#oneByOne.get(source) ?? 0;
    const limit = left > 0 ? 1 : REGISTRY_CHANGES_MAX;
    const { batch, more } = await this.#spool.call("queuedChanges", source, limit, BATCH_CHARS_MAX);
    try {
      await this.#settle(batch, await this.#post(batch));
    } catch (error) {
      if (!(error instanceof SendError) || !isPerhapsOfOne(error)) throw error;
      if (batch.length === 1) this.#stuck.set(source, { error, until: now + STUCK_MS });
      else this.#oneByOne.set(source, batch.length);
      return true;
    }
    if (left > 1) this.#oneByOne.set(source, left - 1);
    else this.#oneByOne.delete(source);
    this.#stuck.delete(source);
    if (this.#stuck.size === 0) this.#loop.succeeded();
    return more || sources.length > 1;
  }

  async #settle(batch: readonly QueuedChange[], outcomes: readonly RegistryOutcome[]): Promise<void> {
    const settled = batch.map(({ id }, index): SettledChange => {
      const { outcome, code, reason } = outcomes[index]!;
      return { id, state: outcome === "rejected" ? "refused" : "done", code, reason };
    });
    await this.#spool.call("settleChanges", settled, (this.#timing.now ?? Date.now)());
    for (const [index, { outcome, code }] of outcomes.entries()) {
      if (outcome === "rejected") this.#events.refused(batch[index]!.device, code);
    }
  }

  async #postChanges(batch: readonly QueuedChange[]): Promise<unknown> {
    const source = batch[0]?.source;
    const changes = batch.map((change) => {
      const { id, message, kind } = change;
      // By its key the server knows a change whose response was lost.
      return { id, key: `${message}/${id}`, kind, ...contentOf(change) };
    });
    return this.#server.post("/agent/v1/registry", { source, changes });
  }

  async #postFile({ id, body }: QueuedChange): Promise<unknown> {
    const { name, bytes } = JSON.parse(body) as FileChange;
    // The file is the end of its message.
    const file = (await this.#spool.call("messageOfChange", id)).subarray(-bytes);
    return this.#server.post(`/agent/v1/registry/file?${new URLSearchParams({ name }).toString()}`, file);
  }

  async #post(batch: readonly QueuedChange[]): Promise<readonly RegistryOutcome[]> {
    const [first] = batch;
    const response = first?.kind === FILE_CHANGE ? await this.#postFile(first) : await this.#postChanges(batch);
    const listed = Response.Check(response) ? response.outcomes : null;
    // The server numbers a file 0.
    const outcomes = first?.kind === FILE_CHANGE ? listed?.map((one) => ({ ...one, id: first.id })) : listed;
    return inOrder(outcomes ?? null, batch, (outcome, change) => outcome.id === change.id, "changes");
  }
}

/**
 * Returns what a change says. That of an animal has the time of its message, so that one which was refused and is sent again lets the
 * newer facts stay.
 */
function contentOf({ kind, body, receivedAt }: QueuedChange): object {
  const content = JSON.parse(body) as { readonly item?: object };
  if (kind !== ("patient" satisfies RegistryChange["kind"])) return content;
  return { ...content, item: { ...content.item, updated_at: new Date(receivedAt).toISOString() } };
}
