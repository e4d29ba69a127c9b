// Erasing the data of an owner, and how long a clinic keeps what has an end.

/** The kinds of what is erased, in the order of a report. */
export const ERASED_KINDS = [
  "facts",
  "softwareNames",
  "reportLinks",
  "undo",
  "files",
  "answers",
  "hints",
  "messages",
] as const;
export type ErasedKind = (typeof ERASED_KINDS)[number];

/** The response to `GET owners/<fp>/erasure`: what an admin sees before. */
export interface ErasurePlan {
  name: string | null;
  /** Identifies the facts that the admin saw. */
  version: string;
  /** Animals and studies that stay. */
  animals: number;
  studies: number;
  /** Other clinics that see an animal of the owner, or name the owner in their practice software. */
  other_clinics: number;
  /** Texts that people wrote about the animals and that have the name, a phone or the e-mail. They stay. */
  mentions: number;
  /** The oldest backup that the server knows; null if it knows of none. */
  oldest_backup: string | null;
}

/** The body of `POST owners/<fp>/erase`. */
export interface EraseBody {
  version: string;
}

/** The response to it. It has no data of the owner. */
export interface ErasureReport extends Omit<ErasurePlan, "name" | "version"> {
  owner: string;
  clinic: string;
  at: string;
  erased: Record<ErasedKind, number>;
}

/** Months for which a clinic keeps each of these; null for the usual time. */
export interface RetentionPolicy {
  /** Ended links to reports; usually for ever. */
  report_links: number | null;
  /** The device's words for the patient of a waiting or rejected result; usually for ever. */
  hints: number | null;
  /** Ended messages to practice software and webhooks; usually 13 months, and their content 30 days. */
  messages: number | null;
}

export const USUAL_RETENTION: RetentionPolicy = { report_links: null, hints: null, messages: null };

/** Months that a clinic may choose. */
export const RETENTION_MONTHS = { min: 1, max: 120 } as const;
