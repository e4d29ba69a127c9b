import { createHash } from "node:crypto";
import fs from "node:fs";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { newUlid } from "../../shared/api/fp.ts";
import { type DimseOutcome, isUsableUid, STATUS } from "../protocols/dicom/dimse.ts";
import { encodeFileHead } from "../protocols/dicom/part10.ts";
import type { IncomingInstance, InstanceIdentity } from "../protocols/dicom/network/scp.ts";
import type { InstanceContent } from "../spool/queries/images/instance-file.ts";
import { requireFreeSpace } from "./free-space.ts";
import type { HeaderReader } from "./files/header-reader.ts";
import type { Spool } from "../spool/spool.ts";
import { StorageError } from "../spool/thread/storage-error.ts";
import {
  imageFile,
  imageFolder,
  isWhole,
  openFolder,
  partFile,
  READ_BYTES,
  type SyncedFolder,
} from "./files/image-folder.ts";
import { errorCode } from "../../shared/runtime/error-message.ts";

// Stores received instances as files, bit-exact after the agent's own file head. An instance is stored once its bytes, its
// name and then its row are durable.
//
// The imaging thread uses synchronous file calls, because a round trip through the thread pool costs as much as the call.
// Only syncs of long instances are asynchronous.

const WRITE_BYTES = 256 * 1024;
/**
 * Bytes of a long instance between two syncs, which run while the next bytes arrive. Other commits wait for a sync. The
 * device is paused at as many unsynced bytes again.
 */
const SYNCED_BYTES = 4 * 1024 * 1024;
/** Max pieces per write. More are joined first: some devices send two bytes per piece. */
const PIECES_MAX = 64;

/** Dependencies of all incoming files. */
interface ImageStoreDeps {
  readonly data: string;
  readonly folder: SyncedFolder;
  readonly spool: Pick<Spool, "call">;
  readonly headers: HeaderReader;
  /** Bytes of the disk that images leave free; null for the default. */
  readonly freeBytes: number | null;
  readonly now: () => number;
}

/** Requires the image folder to exist (see recoverImageFolder). */
export class ImageStore {
  readonly #deps: ImageStoreDeps;

  /** `now` is the time of receipt, in ms since 1970. */
  constructor(
    data: string,
    spool: Pick<Spool, "call">,
    headers: HeaderReader,
    freeBytes: number | null = null,
    now: () => number = Date.now,
  ) {
    this.#deps = { data, folder: openFolder(imageFolder(data)), spool, headers, freeBytes, now };
  }

  /** Call it after the last instance is stored. */
  close(): void {
    this.#deps.folder.close();
  }

  /** @throws if the image folder was removed or replaced */
  requireFolder(): void {
    this.#deps.folder.requireInPlace();
  }

  begin(device: string, quietMs: number, instance: IncomingInstance): IncomingFile {
    return new IncomingFile(this.#deps, device, quietMs, instance);
  }
}

/** File of an instance that is being received. A failure is reported by store(). */
export class IncomingFile {
  readonly #deps: ImageStoreDeps;
  readonly #device: string;
  readonly #quietMs: number;
  readonly #instance: IncomingInstance;
  readonly #id = newUlid();
  readonly #part: string;
  readonly #head: Uint8Array;
  readonly #digest = createHash("sha256");
  #file: number | null = null;
  /** Settles once the file's name is durable. The sync runs while the bytes arrive. */
  #nameSynced: Promise<void> = Promise.resolve();
  #buffered: Uint8Array[] = [];
  #bufferedBytes = 0;
  #datasetBytes = 0;
  #unsyncedBytes = 0;
  #syncing: Promise<void> | null = null;
  #failure: unknown = null;
  #onSynced: () => void = () => undefined;

  constructor(deps: ImageStoreDeps, device: string, quietMs: number, instance: IncomingInstance) {
    this.#deps = deps;
    this.#device = device;
    this.#quietMs = quietMs;
    this.#instance = instance;
    this.#part = partFile(deps.data, this.#id);
    this.#head = encodeFileHead({ ...instance, sourceAe: instance.callingAe });
    try {
      requireFreeSpace(imageFolder(deps.data), deps.freeBytes);
      this.#file = fs.openSync(this.#part, "wx", 0o600);
      this.#nameSynced = this.#recordFailure(deps.folder.sync());
      writeAll(this.#file, [this.#head]);
    } catch (error) {
      this.#failure = error;
    }
  }

  get messageId(): number {
    return this.#instance.messageId;
  }

  /** True while the disk is slower than the device, which has to be paused. */
  get isBehind(): boolean {
    return this.#syncing !== null && this.#unsyncedBytes >= SYNCED_BYTES;
  }

  /** Sets the callback for the end of each sync. */
  set onSynced(synced: () => void) {
    this.#onSynced = synced;
  }

  write(bytes: Uint8Array): void {
    this.#datasetBytes += bytes.length;
    if (this.#failure !== null) return; // store() reports the failure
    this.#buffered.push(bytes);
    this.#bufferedBytes += bytes.length;
    if (this.#bufferedBytes >= WRITE_BYTES) this.#writeAll();
  }

  /** Makes the instance durable. Rejects only on an internal error. */
  async store(identity: InstanceIdentity): Promise<DimseOutcome> {
    const { data, spool, now } = this.#deps;
    let hasRow = false;
    try {
      this.#writeAll();
      await this.#sync();
      await this.#nameSynced;
      if (this.#failure !== null) throw this.#failure;
      const headerBytes = this.#head.length + identity.headerBytes;
      const study = identity.study ?? (await this.#readStudy(headerBytes));
      if (study === null || !isUsableUid(study)) {
        await this.discard();
        return { status: STATUS.cannotUnderstand, comment: "no Study Instance UID could be read" };
      }
      this.#close();
      const same = await spool.call("addInstance", {
        message: this.#id,
        device: this.#device,
        receivedAt: now(),
        dueAt: Date.now() + this.#quietMs,
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
      hasRow = same === null;
      if (same === null) fs.renameSync(this.#part, imageFile(data, this.#id));
      else await this.#storeDuplicate(same);
      // Looked for last: a file in a removed folder is not acknowledged.
      this.#deps.folder.requireInPlace();
      return { status: STATUS.success, comment: null };
    } catch (error) {
      if (!(error instanceof StorageError) && !isDiskFault(error)) throw error;
      // A resend or the next start names the file of a row. The next start removes the other files.
      if (!hasRow) await this.discard().catch(() => undefined);
      return { status: STATUS.outOfResources, comment: `cannot be stored: ${withoutName(error.message)}` };
    }
  }

  /** Removes the file. */
  async discard(): Promise<void> {
    this.#failure ??= new Error("discarded");
    await this.#syncing;
    this.#close();
    fs.rmSync(this.#part, { force: true });
  }

  /** Keeps the file that holds the same dataset already. Restores it first if it is damaged or missing. */
  async #storeDuplicate(same: InstanceContent): Promise<void> {
    const { data, spool, now } = this.#deps;
    if (!(await isWhole(data, same))) await this.#restore(same);
    await spool.call("noteStoredAgain", same.message, now());
    // Retention may have removed the file before that call. After it the instance is too young to be removed.
    if (!fs.existsSync(imageFile(data, same.message))) await this.#restore(same);
    await this.discard();
  }

  /** Rewrites the file of an earlier row: the head of that row, then the dataset that came now. */
  async #restore({ message, head }: InstanceContent): Promise<void> {
    const { data, folder } = this.#deps;
    const copy = partFile(data, newUlid()); // has no row, so the next start removes it
    const [part, start] = [this.#part, this.#head.length];
    const content = async function* () {
      yield head;
      yield* fs.createReadStream(part, { start, highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>;
    };
    try {
      await pipeline(content, fs.createWriteStream(copy, { flags: "wx", flush: true }));
      fs.renameSync(copy, imageFile(data, message));
      fs.rmSync(partFile(data, message), { force: true }); // left by a rename that the disk refused
    } catch (error) {
      fs.rmSync(copy, { force: true });
      throw error;
    }
    await folder.sync(); // no recovery repeats this rename
  }

  /** Reads the study of a deflated dataset, whose elements the walker cannot see. @returns null if the header is not readable */
  async #readStudy(headerBytes: number): Promise<string | null> {
    const { transferSyntax } = this.#instance;
    const result = await this.#deps.headers.read({ file: this.#part, headerBytes, transferSyntax });
    return "header" in result ? result.header.study : null;
  }

  #writeAll(): void {
    if (this.#file === null || this.#buffered.length === 0) return;
    const pieces = this.#buffered.length > PIECES_MAX ? [Buffer.concat(this.#buffered)] : this.#buffered;
    this.#unsyncedBytes += this.#bufferedBytes;
    this.#buffered = [];
    this.#bufferedBytes = 0;
    try {
      for (const piece of pieces) this.#digest.update(piece);
      writeAll(this.#file, pieces);
      this.#startSync();
    } catch (error) {
      this.#failure ??= error;
    }
  }

  /** Syncs the written part of a long instance while more arrives. */
  #startSync(): void {
    const isDue = this.#unsyncedBytes >= SYNCED_BYTES && this.#syncing === null && this.#failure === null;
    if (!isDue || this.#file === null) return;
    this.#unsyncedBytes = 0;
    this.#syncing = this.#recordFailure(promisify(fs.fdatasync)(this.#file)).then(() => {
      this.#syncing = null;
      this.#startSync();
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

  /** Remembers the first failure for store(). */
  #recordFailure(done: Promise<void>): Promise<void> {
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

/** Removes the path of a fault: each instance has its own, and the log counts equal faults. */
function withoutName(message: string): string {
  return message.replace(/ '.*'$/s, "");
}

/** @throws an ENOSPC error if the disk accepts only a part */
function writeAll(file: number, pieces: readonly Uint8Array[]): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (fs.writevSync(file, pieces) === length) return;
  throw Object.assign(new Error("no space left on the disk"), { code: "ENOSPC" });
}

/** Returns whether the operating system reported the error. Any other error is internal. */
function isDiskFault(error: unknown): error is NodeJS.ErrnoException {
  return /^E[A-Z]+$/.test(errorCode(error));
}
