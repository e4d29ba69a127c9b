import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { newUlid } from "../../shared/api/fp.ts";
import { makePrivateFolder } from "../../shared/runtime/private-folder.ts";
import { isUid, STATUS } from "../protocols/dicom/dimse.ts";
import { encodeFileHead } from "../protocols/dicom/part10.ts";
import type { Identity, IncomingInstance } from "../protocols/dicom/scp.ts";
import { makeSureOfRoom } from "./free-space.ts";
import type { Headers } from "./header-reader.ts";
import type { InstanceContent } from "../spool/queries/images/instance-file.ts";
import type { Spool } from "../spool/spool.ts";
import { StorageError } from "../spool/storage-error.ts";

// Instances as files, bit-exact behind a head of ours. A file's name is its message's id, never a device's word. An instance
// is ours once its bytes, its name and then its row are on the disk. The name ends in .part until there is the row; should a
// power cut undo the rename, the next start does it again.
//
// The thread that receives waits for the system at each call: it has nothing better to do, and a way through the pool of
// threads and back costs as much as the calls themselves. Only what may take long goes there.

/** Outcome of a C-STORE for the device. */
export interface Kept {
  readonly status: number;
  readonly comment: string | null;
}

const READ_BYTES = 256 * 1024;
/** Bytes of one write. */
const WRITE_BYTES = 256 * 1024;
/**
 * Bytes of a long instance that are synced while the next ones arrive. Other commits wait for that sync; beyond as many
 * unsynced bytes again, the device waits.
 */
const SYNCED_BYTES = 4 * 1024 * 1024;
/** More pieces than this are joined before they are written: some devices send two bytes a piece. */
const PIECES_MAX = 64;

/** Suffix of a file between its removal from the list and its deletion. */
export const GONE = ".gone";

/** In the data folder. */
export const IMAGES_FOLDER = "images";

/** The folder of the instances in an agent's data folder. */
export function imageFolder(data: string): string {
  return path.join(data, IMAGES_FOLDER);
}

/** The file of a message's instance. */
export function imageFile(data: string, message: string): string {
  return path.join(imageFolder(data), `${message}.dcm`);
}

function partFile(data: string, message: string): string {
  return path.join(imageFolder(data), `${message}.part`);
}

/** Whether an instance may have its row, and has not its name yet. */
export function isArriving(data: string, message: string): boolean {
  return fs.existsSync(partFile(data, message)) && !fs.existsSync(imageFile(data, message));
}

/** Whether the file of an instance is in place and has every byte of its content. */
export async function isWhole(data: string, { message, head, sha256 }: InstanceContent): Promise<boolean> {
  const digest = createHash("sha256");
  try {
    const file = await fs.promises.open(imageFile(data, message));
    try {
      const start = Buffer.alloc(head.length);
      await file.read(start);
      if (!start.equals(head)) return false;
      const dataset = file.createReadStream({ start: head.length, autoClose: false, highWaterMark: READ_BYTES });
      for await (const chunk of dataset) digest.update(chunk as Buffer);
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
  return digest.digest("hex") === sha256;
}

/** Makes the folder, and finishes or removes what an earlier process left there. */
export async function tidyImages(data: string, spool: Pick<Spool, "call">): Promise<void> {
  const folder = imageFolder(data);
  makePrivateFolder(folder);
  for (const name of fs.readdirSync(folder)) {
    if (name.endsWith(GONE)) fs.unlinkSync(path.join(folder, name));
    if (!name.endsWith(".part")) continue;
    const part = path.join(folder, name);
    const message = path.basename(name, ".part");
    // With its row it is whole; without it nobody was told that we have it.
    if (await spool.call("hasInstance", message)) fs.renameSync(part, imageFile(data, message));
    else fs.unlinkSync(part);
  }
}

/** Dependencies shared by all instances. */
interface Surroundings {
  readonly data: string;
  readonly folder: Folder;
  readonly spool: Pick<Spool, "call">;
  readonly headers: Headers;
  /** Bytes that stay free on the disk; null for the default. */
  readonly freeBytes: number | null;
}

/** Requires the image folder to exist (see tidyImages). */
export class ImageStore {
  readonly #around: Surroundings;

  constructor(data: string, spool: Pick<Spool, "call">, headers: Headers, freeBytes: number | null = null) {
    this.#around = { data, folder: openFolder(imageFolder(data)), spool, headers, freeBytes };
  }

  /** After the last instance is kept. */
  close(): void {
    this.#around.folder.close();
  }

  begin(device: string, quietMs: number, instance: IncomingInstance): IncomingFile {
    return new IncomingFile(this.#around, device, quietMs, instance);
  }
}

/** An instance on its way to the disk. What fails is remembered, and told when it is to be kept. */
export class IncomingFile {
  readonly #around: Surroundings;
  readonly #device: string;
  readonly #quietMs: number;
  readonly #instance: IncomingInstance;
  readonly #id = newUlid();
  readonly #part: string;
  readonly #head: Uint8Array;
  readonly #digest = createHash("sha256");
  #file: number | null = null;
  /** Its name goes to the disk while its bytes come. */
  #named: Promise<void> = Promise.resolve();
  #pieces: Uint8Array[] = [];
  #waitingBytes = 0;
  #datasetBytes = 0;
  #unsyncedBytes = 0;
  #syncing: Promise<void> | null = null;
  #failure: unknown = null;
  #onSynced: () => void = () => undefined;

  constructor(around: Surroundings, device: string, quietMs: number, instance: IncomingInstance) {
    this.#around = around;
    this.#device = device;
    this.#quietMs = quietMs;
    this.#instance = instance;
    this.#part = partFile(around.data, this.#id);
    this.#head = encodeFileHead({ ...instance, sourceAe: instance.callingAe });
    try {
      makeSureOfRoom(imageFolder(around.data), around.freeBytes);
      this.#file = fs.openSync(this.#part, "wx", 0o600);
      this.#named = this.#remember(around.folder.sync());
      writeAll(this.#file, [this.#head]);
    } catch (error) {
      this.#failure = error;
    }
  }

  get messageId(): number {
    return this.#instance.messageId;
  }

  /** The disk is slower than the device, which has to wait. */
  get isBehind(): boolean {
    return this.#syncing !== null && this.#unsyncedBytes >= SYNCED_BYTES;
  }

  /** Called when the disk has caught up. */
  set onSynced(synced: () => void) {
    this.#onSynced = synced;
  }

  write(bytes: Uint8Array): void {
    this.#datasetBytes += bytes.length;
    if (this.#failure !== null) return; // passed over: the device hears of it at the end
    this.#pieces.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= WRITE_BYTES) this.#writeAll();
  }

  /** Makes it durable. Never rejects. */
  async keep(identity: Identity): Promise<Kept> {
    const { data, spool } = this.#around;
    try {
      this.#writeAll();
      await this.#sync();
      await this.#named;
      if (this.#failure !== null) throw this.#failure;
      const headerBytes = this.#head.length + identity.headerBytes;
      const study = identity.study ?? (await this.#studyInside(headerBytes));
      if (study === null || !isUid(study)) {
        await this.discard();
        return { status: STATUS.cannotUnderstand, comment: "no Study Instance UID could be read" };
      }
      this.#close();
      const same = await spool.call("addInstance", {
        message: this.#id,
        device: this.#device,
        receivedAt: Date.now(),
        quietMs: this.#quietMs,
        head: this.#head,
        study,
        sopClass: this.#instance.sopClass,
        sopInstance: this.#instance.sopInstance,
        transferSyntax: this.#instance.transferSyntax,
        callingAe: this.#instance.callingAe,
        sha256: this.#digest.digest("hex"),
        fileBytes: this.#head.length + this.#datasetBytes,
        headerBytes,
      });
      if (same === null) fs.renameSync(this.#part, imageFile(data, this.#id));
      else await this.#keepAgain(same);
      return { status: STATUS.success, comment: null };
    } catch (error) {
      if (!(error instanceof StorageError) && !isDiskFault(error)) throw error;
      await this.discard().catch(() => undefined); // what stays is removed at the next start
      return { status: STATUS.outOfResources, comment: `cannot be stored: ${error.message}` };
    }
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    this.#failure ??= new Error("discarded");
    await this.#syncing;
    this.#close();
    fs.rmSync(this.#part, { force: true });
  }

  /** Keeps the file that holds the same dataset already. Restores it first if it is damaged or missing. */
  async #keepAgain(same: InstanceContent): Promise<void> {
    const { data, spool } = this.#around;
    if (!(await isWhole(data, same))) await this.#restore(same);
    await spool.call("noteStoredAgain", same.message, Date.now());
    // Retention may have removed the file before that call. After it the instance is too young to be removed.
    if (!fs.existsSync(imageFile(data, same.message))) await this.#restore(same);
    await this.discard();
  }

  /** Writes the file of an earlier row anew: the head of that row, then the dataset that came now. */
  async #restore({ message, head }: InstanceContent): Promise<void> {
    const { data, folder } = this.#around;
    const copy = partFile(data, newUlid()); // without a row of its own: the next start removes it
    const [part, start] = [this.#part, this.#head.length];
    const content = async function* () {
      yield head;
      yield* fs.createReadStream(part, { start, highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>;
    };
    try {
      await pipeline(content, fs.createWriteStream(copy, { flags: "wx", flush: true }));
      fs.renameSync(copy, imageFile(data, message));
    } catch (error) {
      fs.rmSync(copy, { force: true });
      throw error;
    }
    await folder.sync(); // no row would bring this name back
  }

  /** Reads the study of a deflated dataset, whose elements the walker cannot see. @returns null if the header is not readable */
  async #studyInside(headerBytes: number): Promise<string | null> {
    const { transferSyntax } = this.#instance;
    const answer = await this.#around.headers.read({ file: this.#part, headerBytes, transferSyntax });
    return "header" in answer ? answer.header.study : null;
  }

  #writeAll(): void {
    if (this.#file === null || this.#pieces.length === 0) return;
    const pieces = this.#pieces.length > PIECES_MAX ? [Buffer.concat(this.#pieces)] : this.#pieces;
    this.#unsyncedBytes += this.#waitingBytes;
    this.#pieces = [];
    this.#waitingBytes = 0;
    try {
      for (const piece of pieces) this.#digest.update(piece);
      writeAll(this.#file, pieces);
      this.#syncSome();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  /** Syncs the written part of a long instance while more arrives. */
  #syncSome(): void {
    const isDue = this.#unsyncedBytes >= SYNCED_BYTES && this.#syncing === null && this.#failure === null;
    if (!isDue || this.#file === null) return;
    this.#unsyncedBytes = 0;
    this.#syncing = this.#remember(promisify(fs.fdatasync)(this.#file)).then(() => {
      this.#syncing = null;
      this.#syncSome();
      this.#onSynced();
    });
  }

  async #sync(): Promise<void> {
    while (this.#syncing !== null) await this.#syncing;
    if (this.#file === null) return;
    // A long instance may leave megabytes for its end. No other device should wait for them.
    if (this.#datasetBytes >= SYNCED_BYTES) await promisify(fs.fsync)(this.#file);
    else fs.fsyncSync(this.#file);
  }

  /** A failure is told at the end. */
  #remember(done: Promise<void>): Promise<void> {
    return done.catch((error: unknown) => {
      this.#failure ??= error;
    });
  }

  #close(): void {
    const file = this.#file;
    this.#file = null;
    if (file !== null) fs.closeSync(file);
  }
}

/** @throws also where the disk took only the beginning */
function writeAll(file: number, pieces: readonly Uint8Array[]): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (fs.writevSync(file, pieces) === length) return;
  throw Object.assign(new Error("no room for all of it"), { code: "ENOSPC" });
}

/** The image folder. sync() makes the names in it durable. */
interface Folder {
  sync(): Promise<void>;
  close(): void;
}

function openFolder(folder: string): Folder {
  // Windows opens no folder, and NTFS keeps a journal of names.
  if (process.platform === "win32") return { sync: () => Promise.resolve(), close: () => undefined };
  const handle = fs.openSync(folder, "r");
  return { sync: () => promisify(fs.fsync)(handle), close: () => fs.closeSync(handle) };
}

/** Anything the system says of a file is no fault of ours. */
function isDiskFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && typeof error.code === "string" && /^E[A-Z]+$/.test(error.code);
}
