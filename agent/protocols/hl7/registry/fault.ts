import type { Segment } from "../message/segment.ts";

// Faults of a message of practice software that the message itself shows.

/** Table 0357. */
export type FaultStatus = 101 | 102 | 103 | 200 | 201 | 204 | 205;

export interface RegistryFault {
  readonly status: FaultStatus;
  /** ERR-2: segment, its number among those of its name, field. */
  readonly location: readonly [segment: string, sequence: string, field: string];
  readonly text: string;
}

/** Thrown by the readers of this folder, and caught by read.ts. */
export class FaultyMessage extends Error {
  readonly fault: RegistryFault;

  constructor(fault: RegistryFault) {
    super(fault.text);
    this.fault = fault;
  }
}

/** A segment with its number among those of its name. */
export interface Place {
  readonly segment: Segment;
  readonly sequence: number;
}

/** @throws FaultyMessage */
export function refuse(status: FaultStatus, { segment, sequence }: Place, field: number, text: string): never {
  const location = [segment.name, String(sequence), String(field)] as const;
  throw new FaultyMessage({ status, location, text: `${segment.name}-${field} ${text}` });
}

const SHOWN_CHARS = 60;

/** Returns a value as a sentence shows it. */
export function shownValue(text: string): string {
  return JSON.stringify(text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text);
}
