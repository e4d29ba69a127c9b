import type { ConnectionEvents } from "../../../agent/connection/device/device-session.ts";
import type { LinkContext } from "../../../agent/protocols/link.ts";
import type { SetTimer } from "../../../agent/runtime/timer.ts";
import type { Transport, Wire, WireHandler } from "../../../agent/transport/transport.ts";

/** A link context with a fixed time and id. */
export const fixedContext: LinkContext = {
  now: () => "2026-05-04T09:00:00+02:00",
  newId: () => "01K9TEST000000000000000001",
};

/** Ignores the reports of a connection. */
export const NO_EVENTS: ConnectionEvents = {
  connected: () => undefined,
  disconnected: () => undefined,
  lineChanged: () => undefined,
  bytes: () => undefined,
  warning: () => undefined,
  refusal: () => undefined,
  refused: () => undefined,
};

/** Transport with wires that the test opens, feeds and cuts. */
export class TestTransport implements Transport {
  #accept: ((wire: Wire) => WireHandler) | null = null;

  open(accept: (wire: Wire) => WireHandler): void {
    this.#accept = accept;
  }

  async close(): Promise<void> {
    this.#accept = null;
  }

  connect(): TestWire {
    if (this.#accept === null) throw new Error("the transport is not open");
    return new TestWire(this.#accept);
  }
}

export class TestWire {
  readonly #handler: WireHandler;
  /** The bytes that the agent has written, in order. */
  readonly replies: number[] = [];
  /** Number of writes. */
  writes = 0;
  /** Called with each byte before it is added to `replies`. */
  onReply: (byte: number) => void = () => undefined;
  /** True for a device that does not read, so that replies stay in the memory of the agent. */
  set isDeaf(isDeaf: boolean) {
    this.#isDeaf = isDeaf;
    if (!isDeaf) for (const left of this.#unread.splice(0)) left();
  }
  #isDeaf = false;
  readonly #unread: (() => void)[] = [];
  paused = false;
  isClosed = false;

  constructor(accept: (wire: Wire) => WireHandler) {
    this.#handler = accept({
      peer: "test",
      write: (bytes, left) => {
        this.writes += 1;
        if (left !== undefined) this.#unread.push(left);
        for (const byte of bytes) {
          this.onReply(byte);
          this.replies.push(byte);
        }
        this.isDeaf = this.#isDeaf;
      },
      close: () => (this.isClosed = true),
      pause: () => (this.paused = true),
      resume: () => (this.paused = false),
    });
  }

  send(bytes: Uint8Array): void {
    this.#handler.chunk(bytes);
  }

  /** Half-closes the wire at the device. */
  end(): void {
    this.#handler.ended?.();
  }

  cut(): void {
    this.#handler.closed();
  }
}

/** A clock that moves only by advance(). */
export class TestClock {
  #now = 0;
  #timers: { at: number; fire: () => void }[] = [];

  readonly setTimer: SetTimer = (ms, fire) => {
    const timer = { at: this.#now + ms, fire };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  };

  get pending(): readonly number[] {
    return this.#timers.map(({ at }) => at - this.#now);
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now).toSorted((a, b) => a.at - b.at);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { fire } of due) fire();
  }
}
