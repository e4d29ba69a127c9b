// MLLP as the sender of a message sees it: VT, the message, FS CR. VT and FS are part of no character in any charset of HL7 but
// UTF-16 and UTF-32.

const VT = 0x0b;
const FS = 0x1c;
const CR = 0x0d;

/** Bound of a received frame. An acknowledgement has some hundred bytes. */
export const FRAME_BYTES_MAX = 64 * 1024;
/** Bytes kept of what comes outside of frames, to recognise another protocol. */
const HEAD_BYTES = 8;

/** Wraps a message in an MLLP frame. */
export function encodeFrame(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(message.length + 3);
  frame[0] = VT;
  frame.set(message, 1);
  frame.set([FS, CR], message.length + 1);
  return frame;
}

export type Received = { readonly is: "frame"; readonly bytes: Uint8Array } | { readonly is: "too long" };

/**
 * Finds the frames in received bytes, however these are split. A frame ends with FS: some programs leave out the CR. Bytes
 * outside of frames are skipped, and a VT within a frame starts a new one, because the earlier one lost its end.
 */
export class FrameReader {
  readonly #bytesMax: number;
  /** Bytes of the current frame; null between frames. */
  #frame: number[] | null = null;
  #outside: number[] = [];

  /** `bytesMax`: bound of a frame. */
  constructor(bytesMax = FRAME_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** The first bytes outside of frames since forgetOutside(). */
  get outside(): readonly number[] {
    return this.#outside;
  }

  forgetOutside(): void {
    this.#outside = [];
  }

  receive(chunk: Uint8Array): Received[] {
    const found: Received[] = [];
    for (const byte of chunk) {
      if (byte === VT) this.#frame = [];
      else if (this.#frame === null) this.#skip(byte);
      else if (byte === FS) {
        found.push({ is: "frame", bytes: Uint8Array.from(this.#frame) });
        this.#frame = null;
      } else if (this.#frame.push(byte) > this.#bytesMax) {
        found.push({ is: "too long" });
        this.#frame = null;
      }
    }
    return found;
  }

  #skip(byte: number): void {
    const isFrameEnd = byte === CR && this.#outside.length === 0;
    if (!isFrameEnd && this.#outside.length < HEAD_BYTES) this.#outside.push(byte);
  }
}
