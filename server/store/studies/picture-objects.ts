import { createHash } from "node:crypto";
import { ObjectError } from "../../../shared/objects/object-error.ts";
import type { ObjectStore } from "../../../shared/objects/object-store.ts";
import { DamagedRecord } from "../database/damaged-records.ts";
import { StoreUnavailable } from "../database/query.ts";

// Pictures in a bucket in place of the database. Their rows hold a reference with the hash of the bytes, so that a picture that
// is missing or changed is an error, and never another picture.

/** A colon is no digit of Base64, so a reference is never the text of a picture. */
const REFERENCE = /^object:([0-9a-f]{64})$/;

export class PictureObjects {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Stores a picture and reads it back. @returns its reference @throws StoreUnavailable if the bucket does not return it */
  async keep(fp: string, position: number, png: Buffer): Promise<string> {
    const sha256 = createHash("sha256").update(png).digest("hex");
    const read = async (start: number, end: number) => png.subarray(start, end);
    await available(this.#store.store(nameOf(fp, position, sha256), "image/png", { size: png.length, sha256, read }));
    return `object:${sha256}`;
  }

  /** Reads a picture. @throws DamagedRecord if it is missing or changed @throws StoreUnavailable if the bucket does not respond */
  async open(fp: string, position: number, reference: string, bytesMax: number): Promise<Buffer> {
    const [, sha256 = ""] = REFERENCE.exec(reference) ?? [];
    const bytes = await available(this.#store.read(nameOf(fp, position, sha256), bytesMax));
    const isRight = bytes !== null && createHash("sha256").update(bytes).digest("hex") === sha256;
    if (!isRight) throw new DamagedRecord("study_preview", { fp });
    return Buffer.from(bytes);
  }
}

/** Returns whether a row has a reference in place of the picture. */
export function isReference(png: string): boolean {
  return REFERENCE.test(png);
}

function nameOf(fp: string, position: number, sha256: string): string {
  return `previews/${fp}/${position}/${sha256}.png`;
}

async function available<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    throw new StoreUnavailable(`the bucket of the pictures cannot be used now: ${error.message}`, { cause: error });
  }
}
