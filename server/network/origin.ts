import type { FastifyRequest } from "fastify";
import { ApiError } from "../http/errors.ts";
import type { Network } from "./network.ts";

/**
 * Returns the start of the server's addresses: the one that Settings, Network or the command line names, else the one that the
 * request used. @throws ApiError 400 for a Host header that is not a host
 */
export function originOf(
  { protocol, host }: Pick<FastifyRequest, "protocol" | "host">,
  network: Pick<Network, "named"> | null,
): string {
  const address = network?.named ?? `${protocol}://${host}`;
  if (!URL.canParse(address)) throw new ApiError("REQUEST.MALFORMED", "The Host header is not the name of a host.");
  return new URL(address).origin;
}
