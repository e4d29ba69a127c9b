import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { jsonFault } from "../../shared/schema/json-scan.ts";
import { printable } from "../../shared/runtime/printable.ts";
import { ApiError } from "./errors.ts";
import { errorCode } from "../../shared/runtime/error-message.ts";

/** Max size of a body, both as sent and unpacked, at a route without a bound of its own. */
export const BODY_BYTES_MAX = 5 * 1024 * 1024;

/**
 * Max values of a body. An honest body has more than 10 bytes a value; millions of empty values fit into 5 MB and need seconds
 * and gigabytes to parse.
 */
const VALUES_MAX = 500_000;

/** Max size of a body from a caller without credentials, such as a sign-in: 5 kB of gzip would unpack to 5 MB. */
const STRANGER_BYTES_MAX = 64 * 1024;

/** Replaces the body parsers of a scope by one for JSON, plain or gzip. Register it before the routes, whose bounds it sets. */
export function parseJsonBodies(scope: FastifyInstance): void {
  scope.addHook("onRoute", (route) => {
    if (route.config?.access === "anyone") route.bodyLimit ??= STRANGER_BYTES_MAX;
  });
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, parseJson);
}

async function parseJson(request: FastifyRequest, body: Buffer): Promise<unknown> {
  const isAscii = isAsciiOnly(request.headers["content-type"]);
  const { bodyLimit: bytesMax } = request.routeOptions;
  const text = decode(await unpack(request.headers["content-encoding"], body, bytesMax), isAscii);
  if (text.startsWith("\uFEFF")) {
    throw new ApiError("REQUEST.INVALID_BODY", "The body begins with a byte order mark, expected JSON without one.");
  }
  const found = jsonFault(text, VALUES_MAX);
  if (found !== null) {
    throw new ApiError(found.isTooLarge ? "REQUEST.TOO_LARGE" : "REQUEST.INVALID_BODY", `The body ${found.fault}.`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    // V8 names the fault in words alone, and quotes a part of the body, which may be a password.
    const [fault = ""] = printable((error as Error).message).split(/, (?:\.\.\.)?"/);
    throw new ApiError("REQUEST.INVALID_BODY", `The body is not JSON: ${fault}.`);
  }
}

/**
 * Reads the charset of a body. JSON is UTF-8 and names no charset (RFC 8259 §8.1, §11), but some clients do.
 * @returns whether it is ASCII, a part of UTF-8
 */
function isAsciiOnly(contentType = ""): boolean {
  const charsets = [...contentType.matchAll(/;\s*charset\s*=\s*("[^"]*"|[^;]*)/gi)].map(([, given = ""]) =>
    given.replaceAll('"', "").trim().toLowerCase(),
  );
  const other = charsets.find((charset) => !/^(utf-?8|us-ascii|ascii)$/.test(charset));
  if (other !== undefined || new Set(charsets).size > 1) {
    const shown = printable((other ?? charsets.join(" and ")).slice(0, 40));
    throw new ApiError("REQUEST.INVALID_BODY", `The charset is ${shown}, expected utf-8.`);
  }
  return charsets[0]?.endsWith("ascii") === true;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes a body. A faulty byte is an error, since a replacement character in its place would be stored as the value. */
function decode(body: Buffer, isAscii: boolean): string {
  try {
    if (isAscii && body.some((byte) => byte > 0x7f)) throw new Error("not ASCII");
    return utf8.decode(body);
  } catch {
    const charset = isAscii ? "us-ascii, as its charset says: send utf-8" : "UTF-8";
    throw new ApiError("REQUEST.INVALID_BODY", `The body is not ${charset}.`);
  }
}

async function unpack(encoding: string | undefined, body: Buffer, bytesMax: number): Promise<Buffer> {
  switch (encoding?.toLowerCase()) {
    case undefined:
    case "identity":
      return body;
    case "gzip":
    case "x-gzip":
      try {
        // The bound applies while it unpacks, since a small body can unpack to gigabytes.
        return await promisify(gunzip)(body, { maxOutputLength: bytesMax });
      } catch (error) {
        if (errorCode(error) === "ERR_BUFFER_TOO_LARGE") {
          throw new ApiError("REQUEST.TOO_LARGE", `The body unpacks to more than ${bytesMax} bytes.`);
        }
        throw new ApiError("REQUEST.INVALID_BODY", "The body is not gzip, as its content-encoding says.");
      }
    default:
      throw new ApiError("REQUEST.INVALID_BODY", `content-encoding is ${encoding}, expected gzip or none.`);
  }
}
