import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "./errors.ts";

/** Max size of a body, both as sent and unpacked. */
export const BODY_BYTES_MAX = 5 * 1024 * 1024;

/** Replaces the body parsers of a scope by one for JSON, plain or gzip. */
export function parseJsonBodies(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, parseJson);
}

async function parseJson(request: FastifyRequest, body: Buffer): Promise<unknown> {
  const text = (await unpack(request.headers["content-encoding"], body)).toString("utf8");
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ApiError("REQUEST.INVALID_BODY", `The body is not JSON: ${(error as Error).message}.`);
  }
}

async function unpack(encoding: string | undefined, body: Buffer): Promise<Buffer> {
  switch (encoding?.toLowerCase()) {
    case undefined:
    case "identity":
      return body;
    case "gzip":
    case "x-gzip":
      try {
        // The bound applies while it unpacks, since a small body can unpack to gigabytes.
        return await promisify(gunzip)(body, { maxOutputLength: BODY_BYTES_MAX });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
          throw new ApiError("REQUEST.TOO_LARGE", `The body unpacks to more than ${BODY_BYTES_MAX} bytes.`);
        }
        throw new ApiError("REQUEST.INVALID_BODY", "The body is not gzip, as its content-encoding says.");
      }
    default:
      throw new ApiError("REQUEST.INVALID_BODY", `content-encoding is ${encoding}, expected gzip or none.`);
  }
}
