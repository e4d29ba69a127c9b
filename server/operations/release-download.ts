import { createWriteStream, rmSync, statSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { sendRequest } from "../../shared/network/client.ts";
import { storageAdvice } from "../../shared/platform/care/storage-advice.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";

// Downloads a file of a release from a static host. A connection that breaks off is continued from the byte that it reached.

/** Why a release was not fetched. */
export type FeedCode =
  | "UNREACHABLE"
  | "MISSING"
  | "TOO_LARGE"
  | "TRUNCATED"
  | "TAMPERED"
  | "SIGNATURE"
  | "UNREADABLE"
  | "OLDER"
  | "PLATFORM"
  | "NOT_STORED";

/** A release, or a file of one, was refused. Nothing of it was stored. */
export class FeedRefusal extends Error {
  readonly code: FeedCode;
  /** The name of the file. */
  readonly file: string;
  /** The finding, for a person. */
  readonly detail: string;

  constructor(code: FeedCode, file: string, detail: string) {
    super(`${code} ${file}: ${detail}`);
    this.code = code;
    this.file = file;
    this.detail = detail;
  }
}

export interface Download {
  readonly url: URL;
  /** The name of the file, for refusals. */
  readonly name: string;
  /** Where it is written. */
  readonly file: string;
  readonly bytesMax: number;
  /** Its size in bytes; null if it is not known before. */
  readonly bytes: number | null;
}

/** Connections in a row that bring no further byte. */
const TRIES_MAX = 5;
/** Connections for one file. */
const CONNECTIONS_MAX = 200;
const REDIRECTS_MAX = 5;
/** Max time without any transfer, in ms. */
const IDLE_MS = 60_000;

/** @throws FeedRefusal if the host does not have the file, or another number of bytes than expected */
export async function download(order: Download, signal: AbortSignal): Promise<void> {
  rmSync(order.file, { force: true });
  let [fault, tries, most] = ["", 0, 0];
  for (let connections = 0; tries < TRIES_MAX && connections < CONNECTIONS_MAX; connections++) {
    try {
      await continueAt(order, bytesOf(order.file), signal);
      if (order.bytes === null || bytesOf(order.file) === order.bytes) return;
    } catch (error) {
      if (error instanceof FeedRefusal || signal.aborted) throw error;
      fault = errorMessage(error);
    }
    const have = bytesOf(order.file);
    tries = have > most ? 0 : tries + 1;
    most = Math.max(most, have);
  }
  if (most === 0 || order.bytes === null) throw new FeedRefusal("UNREACHABLE", order.name, fault);
  throw new FeedRefusal("TRUNCATED", order.name, `${most} of ${order.bytes} bytes`);
}

/** Appends what follows byte `have`. A host that does not know ranges sends the complete file again. */
async function continueAt(order: Download, have: number, signal: AbortSignal): Promise<void> {
  const { name, file, bytesMax } = order;
  const response = await request(order.url, have, signal);
  const { statusCode: status = 0, headers } = response;
  const isRest = status === 206 && (headers["content-range"] ?? "").startsWith(`bytes ${have}-`);
  if (status !== 200 && !isRest) {
    response.destroy();
    // It has no bytes after the ones that are here.
    if (status === 416) throw new FeedRefusal("TRUNCATED", name, `${have} of ${order.bytes ?? "more"} bytes`);
    if (status === 404 || status === 410) throw new FeedRefusal("MISSING", name, `the host responded ${status}`);
    throw new Error(`the host responded ${status}`);
  }
  const start = isRest ? have : 0;
  const limit = order.bytes ?? bytesMax;
  let end: unknown = null;
  const received = async function* () {
    let bytes = start;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > limit) throw new FeedRefusal("TOO_LARGE", name, `more than ${limit} bytes`);
        yield chunk;
      }
    } catch (error) {
      // The bytes that came before the connection broke off are written all the same, however slow the disk is.
      end = error;
    }
  };
  // The faults of the response are in `end`: another one is of the disk, and no further connection helps.
  await pipeline(received, createWriteStream(file, { flags: start === 0 ? "w" : "a", mode: 0o600 })).catch(
    (error: unknown) => {
      throw new FeedRefusal("NOT_STORED", name, errorMessage(storageAdvice(error, file)));
    },
  );
  if (end !== null) throw end;
}

/** Follows redirects: hosts of releases send them to their storage. What they return is checked by its signature. */
async function request(url: URL, have: number, signal: AbortSignal, redirects = 0): Promise<IncomingMessage> {
  const headers = have > 0 ? { range: `bytes=${have}-` } : {};
  const response = await sendRequest(url, { headers, signal, idleMs: IDLE_MS });
  const { location } = response.headers;
  const { statusCode: status = 0 } = response;
  if (status < 300 || status > 399 || location === undefined) return response;
  response.destroy();
  const next = URL.canParse(location, url.href) ? new URL(location, url) : null;
  if (next === null || !/^https?:$/.test(next.protocol)) throw new Error(`the host redirects to ${location}`);
  if (redirects >= REDIRECTS_MAX) throw new Error(`the host redirects more than ${REDIRECTS_MAX} times`);
  return request(next, have, signal, redirects + 1);
}

function bytesOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
