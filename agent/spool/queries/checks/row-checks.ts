import { isWhole, rowChecksum } from "../../../../shared/runtime/row-checksum.ts";

// Checksums of the rows besides messages that decide what is filed, and for whom. NULL means unchecked: an older version stored
// the row.

interface EventContent {
  readonly id: number;
  readonly session: number;
  readonly kind: string;
  readonly at: number;
  readonly bytes: Uint8Array | null;
}

export interface StudyContent {
  readonly fp: string;
  readonly revision: number;
  readonly dedupeKey: string;
  readonly patientFp: string | null;
  readonly body: string;
  readonly snapshot: string;
}

interface OrderContent {
  readonly accession: string;
  readonly device: string;
  readonly patientFp: string;
  readonly tests: string;
  readonly createdAt: number;
}

/** The checksum of a row, and whether a stored row is as it was stored. */
interface RowCheck<Content> {
  readonly of: (row: Content) => number;
  readonly isWhole: (row: Content & { readonly checksum: number | null }) => boolean;
}

function rowCheck<Content extends object>(
  values: (row: Content) => readonly (string | number | null)[],
  bytes: (row: Content) => Uint8Array | null = () => null,
): RowCheck<Content> {
  return {
    of: (row) => rowChecksum(values(row), bytes(row)),
    isWhole: (row) => isWhole(row.checksum, values(row), bytes(row)),
  };
}

export const eventCheck = rowCheck<EventContent>(
  ({ id, session, kind, at }) => [id, session, kind, at],
  ({ bytes }) => bytes,
);
/** The state of a study is not part of it: it changes, and a study that is sent once more is filed once. */
export const studyCheck = rowCheck<StudyContent>(({ fp, revision, dedupeKey, patientFp, body, snapshot }) => [
  ...[fp, revision, dedupeKey, patientFp],
  ...[body, snapshot],
]);
export const patientCheck = rowCheck<{ readonly fp: string; readonly body: string }>(({ fp, body }) => [fp, body]);
export const identifierCheck = rowCheck<{ readonly identifier: string; readonly patientFp: string }>(
  ({ identifier, patientFp }) => [identifier, patientFp],
);
export const orderCheck = rowCheck<OrderContent>(({ accession, device, patientFp, tests, createdAt }) => [
  ...[accession, device, patientFp],
  ...[tests, createdAt],
]);

/** The reason of a message whose study is damaged. */
export const DAMAGED_STUDY =
  "its stored study is damaged and is not sent: process its messages again, send them again at the device, or restore a backup";
