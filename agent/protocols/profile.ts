import type { Modality } from "../../shared/api/study.ts";

// A profile is a table that describes one device model. Each protocol adds its own columns. `link` declares the framing: a
// guess could acknowledge half a message, which the device would then delete.

/** A pattern of a text. RegExp is one, and so is a pattern of a profile that is a file. */
export interface Pattern {
  test(text: string): boolean;
}

/** Columns of every protocol's profiles. */
export interface ProfileBase {
  readonly id: string;
  /** null if the analytes decide: one study per modality. */
  readonly modality: Modality | null;
  /** Factory serial settings that differ from LIS01's 9600 8N1 without flow control. */
  readonly serial?: {
    readonly baudRate?: number;
    readonly dataBits?: 7;
    readonly parity?: "none" | "even";
    readonly stopBits?: 1 | 2;
    readonly rtscts?: true;
  };
  /**
   * Text that only this device and its sisters write, in a message with one character a byte. Set-up recognises by it a device that
   * names nobody, or that the clinic has renamed.
   */
  readonly marks?: Pattern;
  /** As `marks`, of texts that related models of other makers write too. */
  readonly sharedMarks?: Pattern;
  /** Names of the device and its maker in a text that a maker fills: the sender, a coding system, the model of an analyzer. */
  readonly names?: Pattern;
  /** It rests on neither a capture nor a document of the maker. */
  readonly isUnproven?: true;
  /** Suffix that may follow a value and is not part of it. */
  readonly valueSuffix?: string;
}
