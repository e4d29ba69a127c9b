// Measures how busy the lines of the devices are, from the times of their events.

/** A device is active if it sent data in the last `withinMs`; its line is idle after `silenceMs` without data. */
const IDLE_LINE = { withinMs: 25, silenceMs: 2 };
/** Period over which active devices are counted, in ms. */
const PERIOD_MS = 100;

export class DeviceActivity {
  #lastEventAt = Number.NEGATIVE_INFINITY;
  #periodFrom = 0;
  /** The devices with an event in the current period. */
  readonly #devices = new Set<string>();
  #busyDevices = 0;

  /** The number of devices that had an event in the last full period. */
  get busyDevices(): number {
    return this.#busyDevices;
  }

  /** Records an event of a device. */
  note(device: string): void {
    const now = performance.now();
    this.#lastEventAt = now;
    const age = now - this.#periodFrom;
    if (age >= PERIOD_MS) {
      this.#busyDevices = age < 2 * PERIOD_MS ? this.#devices.size : 0;
      this.#devices.clear();
      this.#periodFrom = now;
    }
    this.#devices.add(device);
  }

  /**
   * Resolves when the line is idle: immediately if no device is active, else shortly after the next event. It resolves after
   * `withinMs` at the latest.
   */
  async pause(): Promise<void> {
    const since = this.#lastEventAt;
    const until = performance.now() + IDLE_LINE.withinMs;
    if (since < performance.now() - IDLE_LINE.withinMs) return;
    for (let now = performance.now(); now < until; now = performance.now()) {
      if (this.#lastEventAt !== since && now - this.#lastEventAt >= IDLE_LINE.silenceMs) return;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}
