import type { FastifyReply, FastifyRequest } from "fastify";
import { DATA_HEADERS } from "../../shared/network/data-headers.ts";

/** Names and values in turn: the form that Node writes fastest. */
export type HeaderList = readonly string[];

/** The headers of every response. */
export function commonHeaders(request: FastifyRequest): HeaderList {
  return ["x-request-id", request.id, ...CONSTANT_HEADERS];
}

const CONSTANT_HEADERS = [
  "cache-control",
  "private, no-cache",
  "vary",
  "X-API-Key, Authorization, Accept-Encoding",
  ...Object.entries(DATA_HEADERS).flat(),
];

/** Sets the headers that the reply lacks. The files of the API document keep their own Cache-Control. */
export function setHeaders(reply: FastifyReply, headers: HeaderList): void {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    if (!reply.hasHeader(name)) reply.header(name, headers[index + 1]);
  }
}
