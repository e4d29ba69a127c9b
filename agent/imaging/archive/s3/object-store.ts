import { createHash } from "node:crypto";
import type http from "node:http";
import { childrenOf, type Element, escapeXml, textOf } from "./answer-xml.ts";
import { ObjectError } from "./object-error.ts";
import type { ObjectTarget } from "./object-target.ts";
import { exchange, type ObjectRequest, PATIENCE, type Patience, readResult, readText } from "./signed-request.ts";

// Stores objects in a bucket. An object counts as stored once its bytes were read back with the right hash: the ETag of a
// multipart or encrypted upload is not a hash of the content, and some stores respond with 200 for bytes that they do not have.

/** Bytes that are known before they are sent. */
export interface ObjectSource {
  readonly size: number;
  /** SHA-256 of all bytes, in hex. */
  readonly sha256: string;
  /** Reads the bytes from `start` to `end`, without the last. */
  read(start: number, end: number): Promise<Uint8Array>;
}

export interface StoreOptions {
  /** Reads the secret access key. */
  readonly secret: () => string;
  readonly signal?: AbortSignal;
  readonly patience?: Patience;
}

/** Bytes of a part. A larger source is sent in parts, and after an interruption goes on with the first missing one. */
export const PART_BYTES = 8 * 1024 * 1024;
/** Max parts of an upload. A source of more than 80 GB has larger parts. */
const PARTS_MAX = 10_000;
/** Max time until the store has put the parts together. It may send nothing meanwhile. */
const COMPLETE_MS = 10 * 60_000;
/** Max pages read of a list of parts or uploads; parts beyond them are sent again. */
const PAGES_MAX = 20;

interface Part {
  readonly number: number;
  readonly etag: string;
}

export class ObjectStore {
  readonly #target: ObjectTarget;
  readonly #options: StoreOptions;

  constructor(target: ObjectTarget, options: StoreOptions) {
    this.#target = target;
    this.#options = options;
  }

  /**
   * Stores an object, unless the bucket has these very bytes under its key, and reads it back.
   * @throws ObjectError if the store does not return the bytes; a later call goes on where this one stopped
   */
  async store(name: string, type: string, source: ObjectSource): Promise<void> {
    const key = this.#keyOf(name);
    if (await this.#has(key, source)) return;
    if (source.size <= PART_BYTES) await this.#put(key, type, await source.read(0, source.size));
    else await this.#putParts(key, type, source);
    const difference = await this.#difference(key, source);
    if (difference !== null) throw new ObjectError(difference);
  }

  /** Starts an upload and aborts it, which leaves no object. @throws ObjectError if the key may not write */
  async tryWriting(): Promise<void> {
    const key = this.#keyOf("vetwire-check");
    const upload = await this.#begin(key, "application/octet-stream");
    await this.#exchange({ method: "DELETE", key, query: { uploadId: upload } }, readText);
  }

  #keyOf(name: string): string {
    return this.#target.prefix === "" ? name : `${this.#target.prefix}/${name}`;
  }

  /**
   * Sends a GET, since a store writes the reason of a refusal, such as another region, into the body.
   * @returns whether the bucket has these bytes under the key; false if they are unreadable for this key
   */
  async #has(key: string, source: ObjectSource): Promise<boolean> {
    try {
      return (await this.#difference(key, source)) === null;
    } catch (error) {
      // Without the permission to list, a store responds with 403 for a missing object.
      if (error instanceof ObjectError && (error.status === 403 || error.status === 404)) return false;
      throw error;
    }
  }

  /** Reads an object back. @returns how it differs from its source; null if it does not */
  #difference(key: string, { size, sha256 }: ObjectSource): Promise<string | null> {
    return this.#exchange({ method: "GET", key, expectedBytes: size }, async (response) => {
      const hash = createHash("sha256");
      let bytes = 0;
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > size) break;
        hash.update(chunk);
      }
      if (bytes !== size) return `read back: expected ${size} bytes, got ${bytes > size ? "more" : bytes}`;
      const digest = hash.digest("hex");
      if (digest !== sha256) return `read back: expected SHA-256 ${sha256}, got ${digest}`;
      return this.#encryptionFault(response.headers);
    });
  }

  /** A store that does not know encryption ignores its headers. */
  #encryptionFault(headers: http.IncomingHttpHeaders): string | null {
    const expected = this.#target.encryption?.algorithm;
    if (expected === undefined) return null;
    const got = headers["x-amz-server-side-encryption"];
    if (got === expected) return null;
    return `expected the store to encrypt with ${expected}, got ${got === undefined ? "no encryption" : "another way"}`;
  }

  async #put(key: string, type: string, body: Uint8Array): Promise<void> {
    const headers = { "content-type": type, ...this.#encryptionHeaders() };
    await this.#exchange({ method: "PUT", key, headers, body }, readText);
  }

  async #putParts(key: string, type: string, source: ObjectSource): Promise<void> {
    const partBytes = Math.max(PART_BYTES, Math.ceil(source.size / PARTS_MAX));
    const begun = await this.#begunUpload(key, partBytes, source.size);
    const upload = begun?.id ?? (await this.#begin(key, type));
    const parts: Part[] = [];
    for (let start = 0, number = 1; start < source.size; start += partBytes, number += 1) {
      const etag =
        begun?.parts.get(number) ??
        (await this.#putPart(key, upload, number, await source.read(start, Math.min(start + partBytes, source.size))));
      parts.push({ number, etag });
    }
    await this.#complete(key, upload, parts);
  }

  async #begin(key: string, type: string): Promise<string> {
    const headers = { "content-type": type, ...this.#encryptionHeaders() };
    const request: ObjectRequest = { method: "POST", key, query: { uploads: "" }, headers };
    const result = await this.#exchange(request, (response) => readResult(response, "InitiateMultipartUploadResult"));
    const id = textOf(result, "UploadId");
    if (id === "") throw new ObjectError("expected an upload id, got none");
    return id;
  }

  async #putPart(key: string, upload: string, number: number, body: Uint8Array): Promise<string> {
    const query = { partNumber: String(number), uploadId: upload };
    return this.#exchange({ method: "PUT", key, query, body }, async (response) => {
      await readText(response);
      const { etag } = response.headers;
      if (etag === undefined) throw new ObjectError(`expected an ETag of part ${number}, got none`);
      return etag;
    });
  }

  async #complete(key: string, upload: string, parts: readonly Part[]): Promise<void> {
    const rows = parts.map(
      ({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    );
    const body = Buffer.from(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${rows.join("")}</CompleteMultipartUpload>`,
    );
    const patience = { ...this.#patience, idleMs: Math.max(this.#patience.idleMs, COMPLETE_MS) };
    const request: ObjectRequest = { method: "POST", key, query: { uploadId: upload }, body };
    await this.#exchange(request, (response) => readResult(response, "CompleteMultipartUploadResult"), patience);
  }

  /**
   * Finds an interrupted upload of this key in the store, and its complete parts. The key holds the hash of the bytes, so they are
   * parts of the same source. @returns null without such an upload, or without the right to list
   */
  async #begunUpload(key: string, partBytes: number, size: number) {
    try {
      const uploads = await this.#pages(key, "ListMultipartUploadsResult");
      const id = uploads
        .flatMap((page) => childrenOf(page, "Upload"))
        .filter((upload) => textOf(upload, "Key") === key)
        .map((upload) => textOf(upload, "UploadId"))
        .at(-1);
      if (id === undefined) return null;
      const pages = await this.#pages(key, "ListPartsResult", id);
      const parts = pages
        .flatMap((page) => childrenOf(page, "Part"))
        .map((part) => ({
          number: Number(textOf(part, "PartNumber")),
          bytes: Number(textOf(part, "Size")),
          etag: textOf(part, "ETag"),
        }))
        .filter(({ number, bytes }) => bytes === Math.min(partBytes, size - (number - 1) * partBytes));
      return { id, parts: new Map(parts.map(({ number, etag }) => [number, etag])) };
    } catch (error) {
      if (error instanceof ObjectError && isRefusal(error)) return null;
      throw error;
    }
  }

  /** Reads all pages that list a key's uploads, or an upload's parts. */
  async #pages(
    key: string,
    root: "ListMultipartUploadsResult" | "ListPartsResult",
    uploadId?: string,
  ): Promise<Element[]> {
    const pages: Element[] = [];
    let after: Record<string, string> = {};
    do {
      const request: ObjectRequest =
        uploadId === undefined
          ? { method: "GET", key: "", query: { uploads: "", prefix: key, ...after } }
          : { method: "GET", key, query: { uploadId, ...after } };
      const page = await this.#exchange(request, (response) => readResult(response, root));
      pages.push(page);
      if (textOf(page, "IsTruncated") !== "true") return pages;
      after =
        uploadId === undefined
          ? { "key-marker": textOf(page, "NextKeyMarker"), "upload-id-marker": textOf(page, "NextUploadIdMarker") }
          : { "part-number-marker": textOf(page, "NextPartNumberMarker") };
    } while (pages.length < PAGES_MAX);
    return pages;
  }

  #encryptionHeaders(): Record<string, string> {
    const { encryption } = this.#target;
    if (encryption === null) return {};
    const headers = { "x-amz-server-side-encryption": encryption.algorithm };
    if (encryption.algorithm === "AES256" || encryption.kmsKeyId === null) return headers;
    return { ...headers, "x-amz-server-side-encryption-aws-kms-key-id": encryption.kmsKeyId };
  }

  get #patience(): Patience {
    return this.#options.patience ?? PATIENCE;
  }

  #exchange<Value>(
    request: ObjectRequest,
    read: (response: http.IncomingMessage) => Promise<Value>,
    patience = this.#patience,
  ): Promise<Value> {
    const { secret, signal } = this.#options;
    return exchange(this.#target, secret(), { ...request, signal }, patience, read);
  }
}

/** A retry changes nothing: the store has no such upload, supports no lists, or refuses them to this key. */
function isRefusal({ status }: ObjectError): boolean {
  return status === 501 || (status !== null && status < 500 && status !== 429);
}
