import { createHash, createHmac, randomBytes } from "node:crypto";
import http from "node:http";
import https from "node:https";
import type net from "node:net";
import { patiently } from "../runner/patience.ts";

// A store with the S3 protocol on loopback, with faults on request. It checks each signature by a computation of its own, written
// after "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)" of the S3 API reference.

export const S3_KEY = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };

export type S3Operation =
  | "GetObject"
  | "PutObject"
  | "DeleteObject"
  | "CreateMultipartUpload"
  | "UploadPart"
  | "CompleteMultipartUpload"
  | "AbortMultipartUpload"
  | "ListMultipartUploads"
  | "ListParts";

export interface S3Call {
  readonly operation: S3Operation;
  readonly key: string;
  /** Number of the part; 0 for other operations. */
  readonly part: number;
  /** How often this operation was requested, this time included. */
  readonly nth: number;
}

export type S3Fault =
  /** Responds with an error and does nothing. */
  | { readonly do: "refuse"; readonly status: number; readonly code: string; readonly headers?: Record<string, string> }
  /** Responds with 200 and an error in the body. */
  | { readonly do: "error-body"; readonly code: string }
  /** Stores or returns half of the bytes, and reports success. */
  | { readonly do: "truncate" }
  /** Stores or returns the bytes with one changed. */
  | { readonly do: "flip" }
  /** Responds with 200 and does nothing. */
  | { readonly do: "forget" }
  /** Does the work and ends the connection in place of the response. */
  | { readonly do: "cut" }
  /** Does the work and never responds. */
  | { readonly do: "stall" }
  /** Responds with the bytes one by one. */
  | { readonly do: "trickle" };

interface StoredObject {
  readonly bytes: Buffer;
  readonly headers: Record<string, string>;
}

interface Upload {
  readonly key: string;
  readonly headers: Record<string, string>;
  readonly parts: Map<number, Buffer>;
}

export interface S3Options {
  readonly bucket?: string;
  readonly region?: string;
  /** The host of the bucket is part of the name, such as bucket.localhost. */
  readonly virtualHost?: boolean;
  /** A store that does not know server-side encryption. */
  readonly ignoresEncryption?: boolean;
  /** Parts and uploads of one page of a list. */
  readonly pageSize?: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The clock of the store. */
  readonly now?: () => number;
}

export class S3Server {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, Upload>();
  readonly calls: S3Call[] = [];
  /** Chooses the fault of a call. */
  fault: (call: S3Call) => S3Fault | null = () => null;
  readonly #options: Required<Pick<S3Options, "bucket" | "region" | "pageSize">> & S3Options;
  readonly #server: http.Server | https.Server;

  constructor(options: S3Options = {}) {
    this.#options = { bucket: "images", region: "us-east-1", pageSize: 1000, ...options };
    const handle = (request: http.IncomingMessage, response: http.ServerResponse) => {
      this.#handle(request, response).catch((error: unknown) => response.destroy(error as Error));
    };
    this.#server =
      options.tls === undefined ? http.createServer(handle) : https.createServer({ ...options.tls }, handle);
  }

  async start(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
    return (this.#server.address() as net.AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The requested operations, with the numbers of parts. */
  get log(): string[] {
    return this.calls.map(({ operation, part }) => (part === 0 ? operation : `${operation} ${part}`));
  }

  async #handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { bucket, virtualHost = false, now = Date.now } = this.#options;
    const [path = "", search = ""] = (request.url ?? "").split("?");
    const query = new URLSearchParams(search);
    const reply = (status: number, text = "", headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-length": Buffer.byteLength(text), ...headers }).end(text);
    };
    const refuse = (status: number, code: string, headers: Record<string, string> = {}) =>
      reply(status, errorXml(code), headers);

    const refusal = signatureFault(request, path, search, body, this.#options.region, now());
    if (refusal !== null) return refuse(refusal === "AuthorizationHeaderMalformed" ? 400 : 403, refusal);
    const named = virtualHost ? (request.headers.host ?? "").split(".")[0] : path.split("/")[1];
    if (named !== bucket) return refuse(404, "NoSuchBucket");
    const key = decodeURIComponent(virtualHost ? path.slice(1) : path.split("/").slice(2).join("/"));

    const operation = operationOf(request.method ?? "", key, query);
    const nth = this.calls.filter((call) => call.operation === operation).length + 1;
    const part = operation === "UploadPart" ? Number(query.get("partNumber")) : 0;
    const call = { operation, key, part, nth };
    this.calls.push(call);
    const fault = this.fault(call);
    if (fault?.do === "refuse") return refuse(fault.status, fault.code, fault.headers);
    if (fault?.do === "error-body") return reply(200, `\n \n${errorXml(fault.code)}`);
    if (fault?.do === "forget") return reply(200, "", { etag: '"forgotten"' });
    const { status, text, headers, bytes } = this.#carryOut(call, query, request.headers, damage(body, fault));
    if (fault?.do === "stall") return;
    if (fault?.do === "cut") return void response.destroy();
    if (bytes === undefined) return reply(status, text, headers);
    // Another bit than in a stored object: two changes must not make the bytes right.
    const sent = damage(bytes, fault, 2);
    if (fault?.do === "truncate") {
      response.writeHead(status, { ...headers, "content-length": bytes.length }).write(sent, () => response.destroy());
    } else if (fault?.do === "trickle") {
      response.writeHead(status, { ...headers, "content-length": bytes.length });
      let at = 0;
      const timer = setInterval(() => response.write(bytes.subarray(at, (at += 1))), patiently(400));
      response.once("close", () => clearInterval(timer));
    } else {
      response.writeHead(status, { ...headers, "content-length": sent.length }).end(sent);
    }
  }

  #carryOut({ operation, key, part }: S3Call, query: URLSearchParams, headers: http.IncomingHttpHeaders, body: Buffer) {
    const answer = (status: number, text = "", more: Record<string, string> = {}, bytes?: Buffer) => ({
      status,
      text,
      headers: more,
      bytes,
    });
    const id = query.get("uploadId") ?? "";
    const upload = this.uploads.get(id);
    const object = this.objects.get(key);
    const noUpload = answer(404, errorXml("NoSuchUpload"));
    switch (operation) {
      case "GetObject":
        return object === undefined
          ? answer(404, errorXml("NoSuchKey"))
          : answer(200, "", object.headers, object.bytes);
      case "PutObject":
        this.objects.set(key, { bytes: body, headers: this.#keptHeaders(headers) });
        return answer(200, "", { etag: md5(body) });
      case "DeleteObject":
        this.objects.delete(key);
        return answer(204);
      case "CreateMultipartUpload": {
        const created = randomBytes(9).toString("base64");
        this.uploads.set(created, { key, headers: this.#keptHeaders(headers), parts: new Map() });
        const xml = `<Bucket/><Key>${key}</Key><UploadId>${created}</UploadId>`;
        return answer(200, resultXml("InitiateMultipartUploadResult", xml));
      }
      case "UploadPart":
        if (upload === undefined) return noUpload;
        upload.parts.set(part, body);
        return answer(200, "", { etag: md5(body) });
      case "CompleteMultipartUpload": {
        if (upload === undefined) return noUpload;
        const named = Array.from(
          body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g),
          ([, number = "", etag = ""]) => ({ bytes: upload.parts.get(Number(number)), etag }),
        );
        if (named.length === 0 || named.some(({ bytes, etag }) => bytes === undefined || md5(bytes) !== etag)) {
          return answer(400, errorXml("InvalidPart"));
        }
        this.objects.set(key, { bytes: Buffer.concat(named.map(({ bytes }) => bytes!)), headers: upload.headers });
        this.uploads.delete(id);
        return answer(200, ` \n${resultXml("CompleteMultipartUploadResult", `<Key>${key}</Key>`)}`);
      }
      case "AbortMultipartUpload":
        return this.uploads.delete(id) ? answer(204) : noUpload;
      case "ListMultipartUploads": {
        const rows = [...this.uploads].filter(([, { key: of }]) => of.startsWith(query.get("prefix") ?? ""));
        const after = rows.findIndex(([one]) => one === query.get("upload-id-marker")) + 1;
        const page = rows.slice(after, after + this.#options.pageSize);
        const next = `<NextKeyMarker>${page.at(-1)?.[1].key ?? ""}</NextKeyMarker><NextUploadIdMarker>${page.at(-1)?.[0] ?? ""}</NextUploadIdMarker>`;
        const xml = page.map(([one, { key: of }]) => `<Upload><Key>${of}</Key><UploadId>${one}</UploadId></Upload>`);
        const isMore = after + page.length < rows.length;
        return answer(
          200,
          resultXml(
            "ListMultipartUploadsResult",
            `<IsTruncated>${isMore}</IsTruncated>${isMore ? next : ""}${xml.join("")}`,
          ),
        );
      }
      case "ListParts": {
        if (upload === undefined) return noUpload;
        const rows = [...upload.parts].filter(([number]) => number > Number(query.get("part-number-marker") ?? 0));
        const page = rows.slice(0, this.#options.pageSize);
        const xml = page.map(
          ([number, bytes]) =>
            `<Part><PartNumber>${number}</PartNumber><ETag>${md5(bytes).replaceAll('"', "&quot;")}</ETag><Size>${bytes.length}</Size></Part>`,
        );
        const isMore = page.length < rows.length;
        const next = isMore ? `<NextPartNumberMarker>${page.at(-1)?.[0]}</NextPartNumberMarker>` : "";
        return answer(200, resultXml("ListPartsResult", `<IsTruncated>${isMore}</IsTruncated>${next}${xml.join("")}`));
      }
    }
  }

  #keptHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
    const kept = this.#options.ignoresEncryption === true ? ["content-type"] : ["content-type", ...ENCRYPTION];
    return Object.fromEntries(
      kept.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
    );
  }
}

const ENCRYPTION = ["x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id"];

function operationOf(method: string, key: string, query: URLSearchParams): S3Operation {
  if (query.has("uploads")) return method === "POST" ? "CreateMultipartUpload" : "ListMultipartUploads";
  if (query.has("uploadId")) {
    const byMethod: Record<string, S3Operation> = {
      PUT: "UploadPart",
      POST: "CompleteMultipartUpload",
      DELETE: "AbortMultipartUpload",
      GET: "ListParts",
    };
    return byMethod[method]!;
  }
  const byMethod: Record<string, S3Operation> = {
    PUT: "PutObject",
    DELETE: "DeleteObject",
    GET: "GetObject",
  };
  if (key === "") throw new Error(`expected a key, got ${method} of the bucket`);
  return byMethod[method]!;
}

function damage(bytes: Buffer, fault: S3Fault | null, bit = 1): Buffer {
  if (fault?.do === "truncate") return bytes.subarray(0, Math.floor(bytes.length / 2));
  if (fault?.do !== "flip" || bytes.length === 0) return bytes;
  const changed = Buffer.from(bytes);
  const at = Math.floor(changed.length / 2);
  changed[at] = changed[at]! ^ bit;
  return changed;
}

function md5(bytes: Buffer): string {
  return `"${createHash("md5").update(bytes).digest("hex")}"`;
}

function resultXml(root: string, content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`;
}

function errorXml(code: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>said by the test</Message></Error>`;
}

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
const hmac = (key: Uint8Array | string, text: string) => createHmac("sha256", key).update(text).digest();
const SKEW_MS = 15 * 60_000;

/** @returns the code with which a store refuses a request that is signed wrongly; null for a right one */
function signatureFault(
  { method = "", headers }: http.IncomingMessage,
  path: string,
  search: string,
  body: Buffer,
  region: string,
  now: number,
): string | null {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  if (parts === null) return "AccessDenied";
  const [, accessKeyId = "", day = "", inRegion = "", signed = "", signature = ""] = parts;
  if (accessKeyId !== S3_KEY.accessKeyId) return "InvalidAccessKeyId";
  if (inRegion !== region) return "AuthorizationHeaderMalformed";
  const date = String(headers["x-amz-date"]);
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(at - now) <= SKEW_MS)) return "RequestTimeTooSkewed";
  const names = signed.split(";");
  const unsigned = Object.keys(headers).filter((name) => name.startsWith("x-amz-") && !names.includes(name));
  if (!names.includes("host") || unsigned.length > 0) return "AccessDenied";
  const query = search === "" ? [] : search.split("&").map((pair) => (pair.includes("=") ? pair : `${pair}=`));
  const canonical = [
    method,
    path,
    query.toSorted().join("&"),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    "",
    signed,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", date, scope, sha256(canonical)].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<Uint8Array | string>(hmac, `AWS4${S3_KEY.secret}`);
  if (hmac(key, text).toString("hex") !== signature) return "SignatureDoesNotMatch";
  return headers["x-amz-content-sha256"] === sha256(body) ? null : "XAmzContentSHA256Mismatch";
}
