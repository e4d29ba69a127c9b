import path from "node:path";
import { type Dice, pick } from "../../support/dice.ts";
import type { DiskCall, Tree } from "./disk-call.ts";

// A disk that keeps what was synced and, of the rest, as much or as little as a cut of the power may leave: writes are lost, torn
// at 512 bytes and reordered, and a name is kept only for certain once its folder was synced. A rename is atomic.

const SECTOR = 512;

type Change = Extract<DiskCall, { readonly is: "write" | "truncate" }>;
type Naming = Extract<DiskCall, { readonly is: "create" | "folder" | "rename" | "remove" }>;
/** A call with its number in the recording. */
type Pending<Call> = { readonly call: Call; readonly number: number };

interface File {
  readonly durable: Content;
  pending: Pending<Change>[];
}

/** Bytes of a file, in a buffer with room to grow. */
class Content {
  #buffer: Buffer;
  #length: number;

  constructor(bytes: Buffer) {
    this.#buffer = Buffer.from(bytes);
    this.#length = bytes.length;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Bytes between the old end and the offset are zero. */
  write(offset: number, bytes: Buffer): void {
    this.truncate(Math.max(this.#length, offset + bytes.length));
    bytes.copy(this.#buffer, offset);
  }

  truncate(length: number): void {
    if (length > this.#buffer.length)
      this.#buffer = Buffer.concat([this.bytes, Buffer.alloc(2 * length - this.#length)]);
    this.#buffer.fill(0, Math.min(length, this.#length), Math.max(length, this.#length));
    this.#length = length;
  }
}

/** Part of the unsynced changes that a cut keeps. */
type Kept = "none" | "some" | "all";

export class Disk {
  readonly #calls: readonly DiskCall[];
  readonly #files = new Map<number, File>();
  /** The names that survive for certain: a file, or null for a folder. */
  readonly #names = new Map<string, number | null>();
  #pendingNames: Pending<Naming>[] = [];
  #done = 0;

  constructor(calls: readonly DiskCall[], initial: Tree) {
    this.#calls = calls;
    let file = 1;
    for (const [name, content] of initial) {
      this.#names.set(name, content === null ? null : file);
      if (content !== null) this.#files.set(file++, { durable: new Content(content), pending: [] });
    }
  }

  /** Carries out the first `count` calls. */
  advance(count: number): void {
    for (; this.#done < count; this.#done++) this.#carryOut(this.#calls[this.#done]!, this.#done);
  }

  /** The disk after a cut of the power at this moment. */
  afterCut(dice: Dice): Tree {
    const [keptNames, keptBytes] = [pick<Kept>(dice, KEPT), pick<Kept>(dice, KEPT)];
    const isKept = (kept: Kept) => kept === "all" || (kept === "some" && dice(2) === 0);
    const names = new Map(this.#names);
    for (const { call } of this.#pendingNames) if (isKept(keptNames)) changeNames(call, names);
    const tree = new Map<string, Buffer | null>();
    // A folder stands before its content, because its path is shorter.
    for (const [name, file] of [...names].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const folder = path.dirname(name);
      if (folder !== "." && tree.get(folder) !== null) continue;
      tree.set(name, file === null ? null : this.#content(file, () => isKept(keptBytes)));
    }
    return tree;
  }

  #content(number: number, isKept: () => boolean): Buffer {
    const { durable, pending } = this.#files.get(number)!;
    if (pending.length === 0) return durable.bytes;
    const content = new Content(durable.bytes);
    for (const { call } of pending) {
      if (call.is === "truncate") {
        if (isKept()) content.truncate(call.length);
        continue;
      }
      for (const { offset, bytes } of sectorsOf(call)) if (isKept()) content.write(offset, bytes);
    }
    return content.bytes;
  }

  #carryOut(call: DiskCall, number: number): void {
    switch (call.is) {
      case "create":
        this.#files.set(call.file, { durable: new Content(Buffer.alloc(0)), pending: [] });
        this.#pendingNames.push({ call, number });
        return;
      case "folder":
      case "rename":
      case "remove":
        this.#pendingNames.push({ call, number });
        return;
      case "write":
      case "truncate":
        this.#files.get(call.file)!.pending.push({ call, number });
        return;
      case "sync": {
        const file = this.#files.get(call.file)!;
        for (const pending of file.pending) if (pending.number < call.calls) apply(pending.call, file.durable);
        file.pending = file.pending.filter((pending) => pending.number >= call.calls);
        return;
      }
      case "sync folder": {
        const isSynced = (pending: Pending<Naming>) => pending.number < call.calls && isIn(call.path, pending.call);
        for (const pending of this.#pendingNames) if (isSynced(pending)) changeNames(pending.call, this.#names);
        this.#pendingNames = this.#pendingNames.filter((pending) => !isSynced(pending));
      }
    }
  }
}

const KEPT: readonly Kept[] = ["none", "some", "all"];

function isIn(folder: string, { path: name }: Naming): boolean {
  return path.dirname(name) === (folder === "" ? "." : folder);
}

function changeNames(call: Naming, names: Map<string, number | null>): void {
  if (call.is === "create") names.set(call.path, call.file);
  else if (call.is === "folder") names.set(call.path, null);
  else if (call.is === "remove") names.delete(call.path);
  else {
    names.delete(call.path);
    names.set(call.to, call.file);
  }
}

function apply(call: Change, content: Content): void {
  if (call.is === "truncate") content.truncate(call.length);
  else content.write(call.offset, call.bytes);
}

/** The parts of a write that lie in different sectors. */
function* sectorsOf({ offset, bytes }: Extract<Change, { is: "write" }>) {
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + SECTOR - ((offset + at) % SECTOR));
    yield { offset: offset + at, bytes: bytes.subarray(at, end) };
    at = end;
  }
}
