/** The disk refused a write. Nothing of the write may be acknowledged. */
export class StorageError extends Error {}
