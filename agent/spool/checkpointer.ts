import type { DeviceActivity } from "./device-activity.ts";
import type { CommitReply } from "./thread/wire-format.ts";

/** Time without a durable commit until the WAL is emptied, in ms. Damage to the file of an empty WAL loses no rows. */
const IDLE_MS = 5_000;

/** Requests checkpoints of the WAL while no device waits for the worker. */
export class Checkpointer {
  readonly #activity: DeviceActivity;
  readonly #request: (request: "checkpoint" | "empty log") => void;
  readonly #idle: NodeJS.Timeout;
  #isWaiting = false;

  constructor(activity: DeviceActivity, request: (request: "checkpoint" | "empty log") => void) {
    this.#activity = activity;
    this.#request = request;
    this.#idle = setTimeout(() => this.#requestInPause("empty log"), IDLE_MS);
  }

  noteCommit({ isLogLong, durable }: Pick<CommitReply, "isLogLong" | "durable">): void {
    if (isLogLong) this.#requestInPause("checkpoint");
    if (durable) this.#idle.refresh();
  }

  stop(): void {
    clearTimeout(this.#idle);
  }

  #requestInPause(request: "checkpoint" | "empty log"): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    void this.#activity.pause().then(() => {
      this.#isWaiting = false;
      this.#request(request);
    });
  }
}
