import type { FastifyReply, FastifyRequest } from "fastify";

// The headers of every answer, whoever sends it. A list of names and values, in turn, is what Node writes with the least work.

export type HeaderList = readonly string[];

export function commonHeaders(request: FastifyRequest): HeaderList {
  return ["x-request-id", request.id, ...ALIKE];
}

const ALIKE = [
  ...["cache-control", "private, no-cache"],
  ...["vary", "X-API-Key, Authorization, Accept-Encoding"],
  ...["x-content-type-options", "nosniff"],
];

/** What is left of the key's budget; nothing where no valid key was given. */
export function limitHeaders(request: FastifyRequest): HeaderList {
  return request.getDecorator<HeaderList | null>("limitHeaders") ?? [];
}

/** Sets those that the reply does not have: the documents' files come with a Cache-Control of their own. */
export function setHeaders(reply: FastifyReply, headers: HeaderList): void {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    if (!reply.hasHeader(name)) reply.header(name, headers[index + 1]);
  }
}
