import { createHash } from "node:crypto";
import fs from "node:fs";
import type http from "node:http";
import { AwsV4Signer } from "aws4fetch";
import { sendRequest } from "../../../../shared/network/client.ts";
import { connectionFault } from "../../../../shared/network/connection-fault.ts";
import { readRetryAfter } from "../../../../shared/network/retry-after.ts";
import { printable } from "../../../../shared/runtime/printable.ts";
import { type Element, readXml, textOf } from "./answer-xml.ts";
import { ObjectError } from "./object-error.ts";
import type { ObjectTarget } from "./object-target.ts";

// One request of the S3 protocol: signed by Signature Version 4, with bounds of time and size. A redirect is an error, because
// another host must get neither the signature nor the bytes.

export interface ObjectRequest {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Key of the object; empty for the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Bytes of the response that are expected; they lengthen its time limit. */
  readonly expectedBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Signs a request. The hash of the body is part of the signature, so that the store refuses changed bytes. */
export async function signedHeaders(
  target: Pick<ObjectTarget, "accessKeyId" | "region">,
  secret: string,
  url: URL,
  { method, headers = {}, body = new Uint8Array() }: Pick<ObjectRequest, "method" | "headers" | "body">,
  at: Date,
): Promise<Record<string, string>> {
  const signer = new AwsV4Signer({
    method,
    url: url.href,
    headers: { ...headers, "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") },
    accessKeyId: target.accessKeyId,
    secretAccessKey: secret,
    region: target.region,
    service: "s3",
    datetime: at.toISOString().replaceAll(/[:-]|\.\d{3}/g, ""),
  });
  const signed = await signer.sign();
  return Object.fromEntries(signed.headers);
}

/** Returns the URL of a key. Keys and prefixes need no encoding. */
function urlOf({ endpoint, bucket, pathStyle }: ObjectTarget, { key, query = {} }: ObjectRequest): URL {
  const url = new URL(endpoint);
  if (pathStyle) url.pathname = key === "" ? `/${bucket}` : `/${bucket}/${key}`;
  else {
    url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = `/${key}`;
  }
  url.search = new URLSearchParams(query).toString();
  return url;
}

/** Max time without any transfer. */
const IDLE_MS = 60_000;
/** Slowest transfer that is awaited, in bytes per second. A slower one is ended, so that the next image gets its turn. */
const SLOWEST = 8 * 1024;
/** Max bytes of an XML response. A page of 1000 parts has about 300 kB. */
const XML_BYTES_MAX = 4 * 1024 * 1024;

/** Max idle time and slowest transfer. Tests lower them. */
export interface Patience {
  readonly idleMs: number;
  readonly bytesPerSecond: number;
}

export const PATIENCE: Patience = { idleMs: IDLE_MS, bytesPerSecond: SLOWEST };

/**
 * Sends a request and reads its response with `read` while the limits of time hold.
 * @throws ObjectError if no response came, or one without success
 */
export async function exchange<Value>(
  target: ObjectTarget,
  secret: string,
  request: ObjectRequest,
  patience: Patience,
  read: (response: http.IncomingMessage) => Promise<Value>,
): Promise<Value> {
  const url = urlOf(target, request);
  const { method, body = new Uint8Array(), signal } = request;
  const headers = {
    ...(await signedHeaders(target, secret, url, request, new Date())),
    ...(method === "PUT" || method === "POST" ? { "content-length": String(body.length) } : {}),
  };
  const { idleMs } = patience;
  const deadline = startDeadline(patience, body.length + (request.expectedBytes ?? 0));
  let response: http.IncomingMessage | null = null;
  try {
    response = await sendRequest(url, {
      ...{ method, headers, body, idleMs },
      signal: signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]),
      ca: target.ca === null ? undefined : fs.readFileSync(target.ca),
    });
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) throw refusal(status, response.headers, await readText(response));
    return await read(response);
  } catch (error) {
    if (error instanceof ObjectError) throw error;
    throw new ObjectError(connectionFault(error as Error), { cause: error });
  } finally {
    deadline.end();
    // A response with an unread rest would keep its connection.
    response?.destroy();
  }
}

/** Ends the transfer of these bytes, of request and response, that is slower than the slowest. Call `end` after it. */
export function startDeadline({ idleMs, bytesPerSecond }: Patience, bytes: number) {
  const late = new AbortController();
  const reason = new Error(`expected at least ${bytesPerSecond} bytes a second, got less`);
  const timer = setTimeout(() => late.abort(reason), 2 * idleMs + (bytes / bytesPerSecond) * 1000);
  return { signal: late.signal, end: () => clearTimeout(timer) };
}

/** Reads the text of a response. @throws ObjectError beyond its max size */
export async function readText(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > XML_BYTES_MAX) throw new ObjectError(`expected a response of at most ${XML_BYTES_MAX} bytes, got more`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * Reads a response whose root has a name. CompleteMultipartUpload may send its error after the status 200.
 * @throws ObjectError if the root is another
 */
export async function readResult(response: http.IncomingMessage, root: string): Promise<Element> {
  const text = await readText(response);
  const result = readXml(text);
  if (result?.name === root) return result;
  const status = response.statusCode ?? 0;
  if (result?.name === "Error") throw refusal(status, response.headers, text);
  throw new ObjectError(`expected ${root}, got ${summary(text) || "no body"}`, { status });
}

function refusal(status: number, headers: http.IncomingHttpHeaders, text: string): ObjectError {
  const error = readXml(text);
  const code = error?.name === "Error" ? textOf(error, "Code") : "";
  const words = code === "" ? summary(text) : `${code}: ${textOf(error, "Message")}`;
  const place = status >= 300 && status < 400 ? ` to ${hostOf(headers.location)}, which is not followed` : "";
  const said = summary(words);
  return new ObjectError(`the store responded with ${status}${place}${said === "" ? "" : ` ${said}`}${advice(code)}`, {
    status,
    code: code.replaceAll(/[^A-Za-z0-9]/g, ""),
    retryAfterMs: readRetryAfter(headers),
  });
}

function advice(code: string): string {
  switch (code) {
    case "RequestTimeTooSkewed":
      return ": set the clock of this machine";
    case "NoSuchBucket":
      return ": create the bucket, or correct its name";
    default:
      return "";
  }
}

function hostOf(location = ""): string {
  return URL.canParse(location) ? new URL(location).host : "another address";
}

/** Returns the start of a text in one line. */
function summary(text: string): string {
  return printable(text.replaceAll(/\s+/g, " ").trim().slice(0, 200));
}
