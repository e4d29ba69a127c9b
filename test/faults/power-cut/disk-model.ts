import path from "node:path";
import { type Dice, pick } from "../../support/runner/dice.ts";
import type { DiskCall, Tree } from "./disk-call.ts";

// A disk that keeps what was synced and, of the rest, as much or as little as a cut of the power may leave: writes are lost, torn
// at 512 bytes and reordered, and a name is kept only for certain once its folder was synced. A rename is atomic; between two
// folders the sync of one of them keeps it.

const SECTOR = 512;

type Change = Extract<DiskCall, { readonly is: "write" | "truncate" }>;
/** A call with its number in the recording. */
type Pending<Call> = { readonly call: Call; readonly number: number };

/** The names of each folder, by the folder's number. */
type Folders = Map<number, Map<string, number>>;
interface Place {
  readonly folder: number;
  readonly name: string;
}
/** A change of names. Folders have numbers, so a name in a folder is changed also if the folder's own renaming is lost. */
type Naming =
  | { readonly is: "set"; readonly place: Place; readonly node: number }
  | { readonly is: "remove"; readonly place: Place }
  | { readonly is: "rename"; readonly place: Place; readonly to: Place; readonly node: number };

const ROOT = 0;

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
  /** The names as the programs see them. */
  readonly #seen: Folders = new Map([[ROOT, new Map()]]);
  /** The names that survive for certain. */
  readonly #durable: Folders = new Map([[ROOT, new Map()]]);
  #pendingNames: Pending<Naming>[] = [];
  /** Files have positive numbers, folders other ones. */
  #nextFolder = -1;
  #done = 0;

  constructor(calls: readonly DiskCall[], initial: Tree) {
    this.#calls = calls;
    let file = 1;
    for (const [name, content] of initial) {
      const node = content === null ? this.#newFolder() : file++;
      if (content !== null) this.#files.set(node, { durable: new Content(content), pending: [] });
      const naming: Naming = { is: "set", place: this.#placeOf(name), node };
      for (const folders of [this.#seen, this.#durable]) changeNames(naming, folders);
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
    const folders: Folders = new Map([...this.#durable].map(([folder, names]) => [folder, new Map(names)]));
    for (const { call } of this.#pendingNames) if (isKept(keptNames)) changeNames(call, folders);
    const tree = new Map<string, Buffer | null>();
    const walk = (folder: number, place: string) => {
      for (const [name, node] of folders.get(folder)!) {
        const inner = path.join(place, name);
        tree.set(inner, node < ROOT ? null : this.#content(node, () => isKept(keptBytes)));
        if (node < ROOT) walk(node, inner);
      }
    };
    walk(ROOT, "");
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
        return this.#rename({ is: "set", place: this.#placeOf(call.path), node: call.file }, number);
      case "folder":
        return this.#rename({ is: "set", place: this.#placeOf(call.path), node: this.#newFolder() }, number);
      case "link":
        return this.#rename({ is: "set", place: this.#placeOf(call.to), node: this.#nodeAt(call.path) }, number);
      case "rename": {
        const [place, to] = [this.#placeOf(call.path), this.#placeOf(call.to)];
        return this.#rename({ is: "rename", place, to, node: this.#nodeAt(call.path) }, number);
      }
      case "remove":
        return this.#rename({ is: "remove", place: this.#placeOf(call.path) }, number);
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
        const folder = call.path === "" ? ROOT : this.#nodeAt(call.path);
        const isSynced = ({ call: naming, number: nth }: Pending<Naming>) =>
          nth < call.calls &&
          (naming.place.folder === folder || (naming.is === "rename" && naming.to.folder === folder));
        for (const pending of this.#pendingNames) if (isSynced(pending)) changeNames(pending.call, this.#durable);
        this.#pendingNames = this.#pendingNames.filter((pending) => !isSynced(pending));
        return;
      }
      case "lost sync":
    }
  }

  #rename(naming: Naming, number: number): void {
    changeNames(naming, this.#seen);
    this.#pendingNames.push({ call: naming, number });
  }

  #newFolder(): number {
    const folder = this.#nextFolder--;
    for (const folders of [this.#seen, this.#durable]) folders.set(folder, new Map());
    return folder;
  }

  #placeOf(name: string): Place {
    const folder = path.dirname(name);
    return { folder: folder === "." ? ROOT : this.#nodeAt(folder), name: path.basename(name) };
  }

  #nodeAt(name: string): number {
    let node: number | undefined = ROOT;
    for (const part of name.split(path.sep)) node = this.#seen.get(node)?.get(part) ?? missing(name);
    return node;
  }
}

const KEPT: readonly Kept[] = ["none", "some", "all"];

function missing(name: string): never {
  throw new Error(`the disk has no ${name}`);
}

function changeNames(naming: Naming, folders: Folders): void {
  const { place } = naming;
  if (naming.is === "set") return void folders.get(place.folder)!.set(place.name, naming.node);
  folders.get(place.folder)!.delete(place.name);
  if (naming.is === "rename") folders.get(naming.to.folder)!.set(naming.to.name, naming.node);
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
