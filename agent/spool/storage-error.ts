/** The disk refused the write: nothing of it may be acknowledged. */
export class StorageError extends Error {}
