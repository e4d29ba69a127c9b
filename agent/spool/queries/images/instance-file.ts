/** The content of an instance's file: the head, then the dataset. */
export interface InstanceContent {
  readonly message: string;
  /** Preamble and File Meta Information. Its length depends on the calling AE title. */
  readonly head: Uint8Array;
  /** Digest of the dataset. */
  readonly sha256: string;
}

/** An instance whose file is present, with what the file holds. */
export interface InstanceFile extends InstanceContent {
  readonly sopClass: string;
  readonly sopInstance: string;
  readonly transferSyntax: string;
  readonly fileBytes: number;
}

/** The columns of an InstanceFile, from `instance i` and `message m`. */
export const INSTANCE_FILE_COLUMNS = `i.message, i.sop_class_uid AS sopClass, i.sop_instance_uid AS sopInstance, i.transfer_syntax_uid AS transferSyntax,
  i.sha256, i.file_bytes AS fileBytes, m.bytes AS head`;
