interface Slot<Value> {
  readonly value: Value;
  readonly bytes: number;
  /** Whether the value was read since it was stored, or since eviction last spared it. */
  isUsed: boolean;
}

/** A cache bounded by bytes. Eviction is second-chance (CLOCK): a value that was read is spared once. */
export class SecondChanceCache<Value> {
  readonly #bytesMax: number;
  readonly #slots = new Map<string, Slot<Value>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(name: string): Value | undefined {
    const slot = this.#slots.get(name);
    if (slot === undefined) return undefined;
    slot.isUsed = true;
    return slot.value;
  }

  set(name: string, value: Value, bytes: number): void {
    this.#remove(name);
    this.#add(name, { value, bytes, isUsed: false });
    for (const [oldest, slot] of this.#slots) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(oldest);
      if (slot.isUsed) this.#add(oldest, { ...slot, isUsed: false });
    }
  }

  #add(name: string, slot: Slot<Value>): void {
    this.#slots.set(name, slot);
    this.#bytes += slot.bytes;
  }

  #remove(name: string): void {
    this.#bytes -= this.#slots.get(name)?.bytes ?? 0;
    this.#slots.delete(name);
  }
}
