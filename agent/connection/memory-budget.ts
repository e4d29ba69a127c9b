/** What the links of all devices may hold of unfinished messages. Beyond that long ones are refused, for their devices to send again. */
const HELD_BYTES_MAX = 128 * 1024 * 1024;

/** What the links of all devices hold of unfinished messages; shared by their connections. */
export class Held {
  bytes = 0;
  readonly bytesMax: number;

  constructor(bytesMax = HELD_BYTES_MAX) {
    this.bytesMax = bytesMax;
  }
}
