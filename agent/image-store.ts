import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { newUlid } from "../shared/fp.ts";
import { isUid, STATUS } from "./dicom/dimse.ts";
import { encodeFileHead } from "./dicom/part10.ts";
import type { Identity, IncomingInstance } from "./dicom/scp.ts";
import { makeSureOfRoom } from "./free-space.ts";
import type { Headers } from "./headers.ts";
import { type Spool, StorageError } from "./spool.ts";

// Instances as files, bit-exact behind a head of ours. A file's name is its message's id, never a device's word. An instance
// is ours once its bytes, its name and then its row are on the disk. The name ends in .part until there is the row; should a
// power cut undo the rename, the next start does it again.

/** What a device is told. */
export interface Kept {
  readonly status: number;
  readonly comment: string | null;
}

/** What is written in one go. */
const WRITE_BYTES = 256 * 1024;
/** Of a long instance that is not on the disk yet: every other commit has to wait until it is. */
const UNSYNCED_BYTES_MAX = 4 * 1024 * 1024;
/** More pieces than this are joined before they are written: some devices send two bytes a piece. */
const PIECES_MAX = 64;

/** What a file is called between its removal and its end. */
export const GONE = ".gone";

/** The folder of the instances in an agent's data folder. */
export function imageFolder(data: string): string {
  return path.join(data, "images");
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

export class ImageStore {
  readonly #data: string;
  readonly #folder: Folder;
  readonly #spool: Spool;
  readonly #headers: Headers;
  readonly #freeBytes: number | null;

  /** Makes the folder, and finishes or removes what an earlier process left there. `freeBytes`: of the disk, stay free. */
  static async open(
    data: string,
    spool: Spool,
    headers: Headers,
    freeBytes: number | null = null,
  ): Promise<ImageStore> {
    const folder = imageFolder(data);
    fs.mkdirSync(folder, { recursive: true });
    for (const name of fs.readdirSync(folder)) {
      if (name.endsWith(GONE)) fs.unlinkSync(path.join(folder, name));
      if (!name.endsWith(".part")) continue;
      const part = path.join(folder, name);
      const message = path.basename(name, ".part");
      // With its row it is whole; without it nobody was told that we have it.
      if (await spool.call("hasInstance", message)) fs.renameSync(part, imageFile(data, message));
      else fs.unlinkSync(part);
    }
    return new ImageStore(data, await openFolder(folder), spool, headers, freeBytes);
  }

  private constructor(data: string, folder: Folder, spool: Spool, headers: Headers, freeBytes: number | null) {
    this.#data = data;
    this.#folder = folder;
    this.#spool = spool;
    this.#headers = headers;
    this.#freeBytes = freeBytes;
  }

  /** After the last instance is kept. */
  close(): Promise<void> {
    return this.#folder.close();
  }

  begin(device: string, quietMs: number, instance: IncomingInstance): IncomingFile {
    const haveRoom = () => makeSureOfRoom(imageFolder(this.#data), this.#freeBytes);
    return new IncomingFile(this.#data, this.#folder, this.#spool, this.#headers, device, quietMs, instance, haveRoom);
  }
}

/** An instance on its way to the disk. What fails is remembered, and told when it is to be kept. */
export class IncomingFile {
  readonly #data: string;
  readonly #folder: Folder;
  readonly #spool: Spool;
  readonly #headers: Headers;
  readonly #device: string;
  readonly #quietMs: number;
  readonly #instance: IncomingInstance;
  readonly #haveRoom: () => Promise<void>;
  readonly #id = newUlid();
  readonly #part: string;
  readonly #head: Uint8Array;
  readonly #digest = createHash("sha256");
  #pieces: Uint8Array[] = [];
  #waitingBytes = 0;
  #unsyncedBytes = 0;
  #datasetBytes = 0;
  #file: fs.promises.FileHandle | null = null;
  #writing: Promise<void> | null = null;
  #failure: unknown = null;
  #onWritten: () => void = () => undefined;

  constructor(
    data: string,
    folder: Folder,
    spool: Spool,
    headers: Headers,
    device: string,
    quietMs: number,
    instance: IncomingInstance,
    haveRoom: () => Promise<void>,
  ) {
    this.#data = data;
    this.#folder = folder;
    this.#spool = spool;
    this.#headers = headers;
    this.#device = device;
    this.#quietMs = quietMs;
    this.#instance = instance;
    this.#haveRoom = haveRoom;
    this.#part = partFile(data, this.#id);
    this.#head = encodeFileHead({ ...instance, sourceAe: instance.callingAe });
  }

  get messageId(): number {
    return this.#instance.messageId;
  }

  /** Bytes that the disk has not taken yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Called whenever the disk took some bytes. */
  set onWritten(written: () => void) {
    this.#onWritten = written;
  }

  write(bytes: Uint8Array): void {
    this.#datasetBytes += bytes.length;
    if (this.#failure !== null) return; // passed over: the device hears of it at the end
    this.#pieces.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= WRITE_BYTES) this.#writing ??= this.#writeAll();
  }

  /** Makes it durable. Never rejects. */
  async keep(identity: Identity): Promise<Kept> {
    try {
      await this.#writing;
      await this.#writeAll();
      if (this.#failure !== null) throw this.#failure;
      const headerBytes = this.#head.length + identity.headerBytes;
      await Promise.all([this.#file?.sync(), this.#folder.sync()]);
      const study = identity.study ?? (await this.#studyInside(headerBytes));
      if (study === null || !isUid(study)) {
        await this.discard();
        return { status: STATUS.cannotUnderstand, comment: "no Study Instance UID could be read" };
      }
      const added = this.#spool.call("addInstance", {
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
      const [message] = await Promise.all([added, this.#close()]);
      // The same bytes again take the place of those we have: they may have been lost since.
      await fs.promises.rename(this.#part, imageFile(this.#data, message));
      if (message !== this.#id) await this.#folder.sync(); // no row would bring this name back
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
    await this.#writing;
    await this.#close();
    await fs.promises.rm(this.#part, { force: true });
  }

  /** Of a deflated dataset. */
  async #studyInside(headerBytes: number): Promise<string | null> {
    const { transferSyntax } = this.#instance;
    const answer = await this.#headers.read({ file: this.#part, headerBytes, transferSyntax });
    return "header" in answer ? answer.header.study : null;
  }

  /** Writes until nothing waits any more. */
  async #writeAll(): Promise<void> {
    try {
      if (this.#file === null) {
        await this.#haveRoom();
        this.#file = await fs.promises.open(this.#part, "wx");
        await this.#file.write(this.#head);
      }
      while (this.#pieces.length > 0 && this.#failure === null) {
        const pieces = this.#pieces.length > PIECES_MAX ? [Buffer.concat(this.#pieces)] : this.#pieces;
        this.#pieces = [];
        let length = 0;
        for (const piece of pieces) {
          this.#digest.update(piece);
          length += piece.length;
        }
        const { bytesWritten } = await this.#file.writev(pieces);
        if (bytesWritten < length) throw Object.assign(new Error("no room for all of it"), { code: "ENOSPC" });
        this.#unsyncedBytes += length;
        if (this.#unsyncedBytes >= UNSYNCED_BYTES_MAX) {
          await this.#file.datasync();
          this.#unsyncedBytes = 0;
        }
        this.#waitingBytes -= length;
        this.#onWritten();
      }
    } catch (error) {
      this.#failure = error;
      this.#pieces = [];
      this.#waitingBytes = 0;
      this.#onWritten();
    }
    this.#writing = null;
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

/** Whose sync() brings the names in it to the disk. */
interface Folder {
  sync(): Promise<void>;
  close(): Promise<void>;
}

async function openFolder(folder: string): Promise<Folder> {
  // Windows opens no folder, and NTFS keeps a journal of names.
  if (process.platform === "win32") return { sync: () => Promise.resolve(), close: () => Promise.resolve() };
  return fs.promises.open(folder, "r");
}

/** Anything the system says of a file is no fault of ours. */
function isDiskFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && typeof error.code === "string" && /^E[A-Z]+$/.test(error.code);
}
