/** The disk did not take it: nothing of this may be acknowledged. */
export class StorageError extends Error {}
