import type { Transport, Wire, WireHandler } from "../../../agent/transport/transport.ts";
import type { Chance } from "./chance.ts";
import type { Clock, Process } from "./clock.ts";

// The lines between devices and the agent. A connection keeps the order of its bytes, delays them, cuts them into chunks of any
// size, and breaks at any moment. A serial line may lose bytes too.

/** Faults of all lines, as probabilities per chunk. */
export interface LineFaults {
  cut: number;
  /** Serial lines only. */
  loss: number;
  /** Longest delay in ms. */
  delayMs: number;
}

/** The end of a connection at the device. */
export interface DeviceEnd {
  received(bytes: Uint8Array): void;
  closed(): void;
}

interface Listener {
  readonly process: Process;
  readonly accept: (wire: Wire) => WireHandler;
}

/** The line of one device. */
export class Cable {
  readonly faults: LineFaults;
  readonly isSerial: boolean;
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #devices: Process;
  #listener: Listener | null = null;
  /** The last arrival over any connection: an earlier connection's bytes never follow a later one's. */
  lastArrival = 0;

  constructor(clock: Clock, chance: Chance, devices: Process, faults: LineFaults, isSerial: boolean) {
    this.#clock = clock;
    this.#chance = chance;
    this.#devices = devices;
    this.faults = faults;
    this.isSerial = isSerial;
  }

  /** The transport of the agent at this line. */
  transport(process: Process): Transport {
    return {
      open: (accept) => {
        this.#listener = { process, accept };
      },
      close: async () => {
        this.#listener = null;
      },
    };
  }

  /** Connects the device. @returns null if no agent listens */
  connect(end: DeviceEnd): Connection | null {
    const listener = this.#listener;
    if (listener === null || !listener.process.isAlive) return null;
    return new Connection(this, this.#clock, this.#chance, this.#devices, listener, end);
  }
}

export class Connection {
  readonly #cable: Cable;
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly #devices: Process;
  readonly #agent: Process;
  readonly #end: DeviceEnd;
  #handler: WireHandler | null = null;
  #isOpen = true;
  #isClosing = false;
  #isPaused = false;
  readonly #held: Uint8Array[] = [];
  #toDeviceAt = 0;

  constructor(cable: Cable, clock: Clock, chance: Chance, devices: Process, listener: Listener, end: DeviceEnd) {
    this.#cable = cable;
    this.#clock = clock;
    this.#chance = chance;
    this.#devices = devices;
    this.#agent = listener.process;
    this.#end = end;
    this.#toAgent(() => {
      if (this.#isOpen) this.#handler = listener.accept(this.#wire());
    });
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#agent.isAlive;
  }

  /** Sends bytes of the device. */
  send(bytes: Uint8Array): void {
    for (const chunk of this.#chunks(bytes)) {
      if (this.#isLost()) continue;
      this.#toAgent(() => this.#arrived(chunk));
    }
    this.#perhapsCut();
  }

  /** Breaks the connection for both sides. What is under way arrives before. */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#toAgent(() => this.#closedAtAgent());
    this.#clock.schedule(this.#devices, this.#chance.ms(this.#cable.faults.delayMs), () => {
      this.#isOpen = false;
      this.#end.closed();
    });
  }

  #arrived(chunk: Uint8Array): void {
    if (this.#isPaused) this.#held.push(chunk);
    else this.#handler?.chunk(chunk);
  }

  #closedAtAgent(): void {
    const handler = this.#handler;
    this.#handler = null;
    handler?.closed();
  }

  #wire(): Wire {
    return {
      peer: "device",
      write: (bytes, left) => {
        if (this.#handler !== null && !this.#isLost()) {
          const at = Math.max(this.#toDeviceAt, this.#clock.now + this.#chance.ms(this.#cable.faults.delayMs));
          this.#toDeviceAt = at;
          this.#clock.schedule(this.#devices, at - this.#clock.now, () => {
            if (this.#isOpen) this.#end.received(bytes);
          });
        }
        if (left !== undefined) this.#clock.schedule(this.#agent, this.#chance.ms(5), left);
      },
      close: () => this.close(),
      pause: () => {
        this.#isPaused = true;
      },
      resume: () => {
        this.#isPaused = false;
        for (const chunk of this.#held.splice(0)) this.#clock.schedule(this.#agent, 0, () => this.#arrived(chunk));
      },
      heardMessage: () => undefined,
    };
  }

  /** Runs at the agent after a delay, in the order of the calls. */
  #toAgent(run: () => void): void {
    const at = Math.max(this.#cable.lastArrival, this.#clock.now + this.#chance.ms(this.#cable.faults.delayMs));
    this.#cable.lastArrival = at;
    this.#clock.schedule(this.#agent, at - this.#clock.now, run);
  }

  #chunks(bytes: Uint8Array): Uint8Array[] {
    if (bytes.length < 2 || this.#chance.happens(0.6)) return [bytes];
    const at = 1 + this.#chance.dice(bytes.length - 1);
    return [bytes.subarray(0, at), bytes.subarray(at)];
  }

  #isLost(): boolean {
    return this.#cable.isSerial && this.#chance.happens(this.#cable.faults.loss);
  }

  #perhapsCut(): void {
    if (this.#chance.happens(this.#cable.faults.cut)) this.close();
  }
}
