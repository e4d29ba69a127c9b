// The calls of a program that change a folder, in the order of their ends.

export type DiskCall = {
  /** Start of the call, in ms since 1970. */
  readonly at: number;
} & (
  | { readonly is: "create"; readonly path: string; readonly file: number }
  | { readonly is: "folder"; readonly path: string }
  | { readonly is: "link"; readonly path: string; readonly to: string }
  | { readonly is: "rename"; readonly path: string; readonly to: string }
  | { readonly is: "remove"; readonly path: string }
  | { readonly is: "write"; readonly file: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly is: "truncate"; readonly file: number; readonly length: number }
  /** The first `calls` calls of the file are durable. */
  | { readonly is: "sync"; readonly file: number; readonly calls: number }
  | { readonly is: "sync folder"; readonly path: string; readonly calls: number }
  /** A sync that a broken program would not make. */
  | { readonly is: "lost sync" }
);

/** A folder before the recording: the content of each file, null for a folder. */
export type Tree = ReadonlyMap<string, Buffer | null>;
